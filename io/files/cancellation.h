// `Cancellation` ends calls early that complete later. Whoever begins reads makes one the thread's own for that moment;
// stores whose reads take long add to it how they are ended. Reads that many wait for, as those of an object cache, are
// not added.
// Threads: any thread; a Scope is made and destroyed by one.
#ifndef HEADRACE_IO_FILES_CANCELLATION_H_
#define HEADRACE_IO_FILES_CANCELLATION_H_

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace {

class Cancellation {
 public:
  // Reads that this thread begins meanwhile belong to `cancellation`.
  class Scope {
   public:
    explicit Scope(std::shared_ptr<Cancellation> cancellation);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    const std::shared_ptr<Cancellation> cancellation_;
    Scope* const outer_;
    friend class Cancellation;
  };

  // That of this thread; null: there is none.
  static std::shared_ptr<Cancellation> Current();

  // `end` ends a call, unless it has ended; called at once if all are cancelled already.
  void Add(std::function<void()> end);
  // The calls complete with kClosed, perhaps later; those that are not ended for want of memory as if nothing were.
  void Cancel() noexcept;
  bool cancelled() const;

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  std::vector<std::function<void()>> ends_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_CANCELLATION_H_
