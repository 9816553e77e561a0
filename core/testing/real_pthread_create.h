// `RealPthreadCreate` starts a thread as the `pthread_create` does that a test replaces: the sanitizer's, where its
// runtime is linked into the program, else the next one that the loader knows. Use it in a test that lets threads fail
// to start. Threads: any.
#ifndef HEADRACE_CORE_TESTING_REAL_PTHREAD_CREATE_H_
#define HEADRACE_CORE_TESTING_REAL_PTHREAD_CREATE_H_

#include <dlfcn.h>
#include <pthread.h>

// Clang links the runtime statically, so that dlsym passes it over, and it then meets joins of threads it never saw.
extern "C" __attribute__((weak)) int __interceptor_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                                  void* (*run)(void*), void* given);

namespace headrace {

inline int RealPthreadCreate(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* given) {
  if (&__interceptor_pthread_create != nullptr) return __interceptor_pthread_create(thread, attributes, run, given);
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, run, given);
}

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_REAL_PTHREAD_CREATE_H_
