// `WorkCounts` counts by name what kernels do that a report tells apart, such as which decoder made a picture. The
// operator that runs kernels makes its counts those of its thread for a while; a kernel counts at any depth of its
// calls.
// Threads: any thread; a Scope belongs to one thread.
#ifndef HEADRACE_CORE_WORK_COUNTS_H_
#define HEADRACE_CORE_WORK_COUNTS_H_

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace headrace {

class WorkCounts {
 public:
  struct Count {
    std::string_view name;  // a literal
    uint64_t number = 0;
  };
  // While it lasts, this thread counts in `counts`; null: it counts nothing.
  class Scope {
   public:
    explicit Scope(WorkCounts* counts);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    WorkCounts* const outer_;
  };

  // Counts one more of `name`, a literal. Ignored outside of a Scope.
  static void Add(std::string_view name);

  // By name.
  std::vector<Count> counts() const;

 private:
  void AddOne(std::string_view name);

  mutable std::mutex mutex_;
  std::vector<Count> counts_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_WORK_COUNTS_H_
