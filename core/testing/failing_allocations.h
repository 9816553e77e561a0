// `FailingAllocation` makes one allocation of the process fail. A test that links this has its allocation functions
// replaced: operator new under a sanitizer, which has a malloc of its own; otherwise malloc and its kin, which operator
// new, the buffer pool and the libraries of C (libjpeg, libpng, glibc itself) call.
// Threads: one object at a time; allocations of all threads count.
#ifndef HEADRACE_CORE_TESTING_FAILING_ALLOCATIONS_H_
#define HEADRACE_CORE_TESTING_FAILING_ALLOCATIONS_H_

#include <cstdint>

namespace headrace {

// While it lives, the allocation number `point`, from 0, of those that begin now fails; those before and after do not.
class FailingAllocation {
 public:
  explicit FailingAllocation(int64_t point);
  FailingAllocation(const FailingAllocation&) = delete;
  ~FailingAllocation() { End(); }

  // Ends it earlier. Whether there were enough allocations for one to fail.
  bool End();
};

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_FAILING_ALLOCATIONS_H_
