// Gives the process that links this a stack of 1 MiB, also to the threads that it starts. Fuzz tests link it: what
// recurses by the length of its input ends them.
#include <pthread.h>
#include <sys/resource.h>

namespace {

constexpr rlim_t kStackBytes = rlim_t{1} << 20;

// The system asks for the limit whenever the stack grows.
__attribute__((constructor)) void LimitStack() {
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  limit.rlim_cur = kStackBytes;
  setrlimit(RLIMIT_STACK, &limit);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace
