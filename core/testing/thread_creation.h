// For tests that replace pthread_create: the function that it stands in for. Safe from any thread.
#ifndef HEADRACE_CORE_TESTING_THREAD_CREATION_H_
#define HEADRACE_CORE_TESTING_THREAD_CREATION_H_

#include <dlfcn.h>
#include <pthread.h>

// AddressSanitizer's, where its runtime is part of the program: it must know every thread.
extern "C" __attribute__((weak)) int ___interceptor_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                                                   void*);

namespace headrace {

inline int CreateThread(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* given) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create real = ___interceptor_pthread_create != nullptr
                                 ? ___interceptor_pthread_create
                                 : reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, run, given);
}

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_THREAD_CREATION_H_
