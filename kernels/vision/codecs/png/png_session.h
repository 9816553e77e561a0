// `PngSession` is what reading and writing a PNG with libpng share: its state, and the functions that libpng calls on
// errors and for memory. libpng reports errors by longjmp. So no C++ object with a destructor lives in a function that
// calls setjmp, or that calls longjmp, and a session holds plain data only.
// Threads: a session belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_SESSION_H_
#define HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_SESSION_H_

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

namespace headrace {

// libpng's error and memory pointers point to it.
struct PngSession {
  png_structp libpng;
  png_infop info;
  bool stopped;    // by a StopSignal
  bool no_memory;  // an allocation of libpng failed
  std::jmp_buf jump;
  char message[160];  // of the error

  static void Fail(png_structp libpng, png_const_charp message) {
    PngSession& session = *static_cast<PngSession*>(png_get_error_ptr(libpng));
    std::snprintf(session.message, sizeof(session.message), "%s", message);
    std::longjmp(session.jump, 1);
  }
  static void IgnoreWarning(png_structp, png_const_charp) {}
  static void* TakeMemory(png_structp libpng, png_alloc_size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) static_cast<PngSession*>(png_get_mem_ptr(libpng))->no_memory = true;
    return memory;
  }
  static void GiveMemory(png_structp, void* memory) { std::free(memory); }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_SESSION_H_
