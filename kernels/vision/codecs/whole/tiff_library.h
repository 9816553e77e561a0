// `TiffLibrary` is libtiff, loaded when the first TIFF is decoded: it and the libraries that it needs take longer to
// load than many programs take for all their pictures, and most programs have no TIFF.
// Threads: any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_LIBRARY_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_LIBRARY_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/vision/codecs/whole/tiff_functions.h"

namespace headrace {

struct TiffLibrary {
#define HEADRACE_USE(name) decltype(&::TIFF##name) name = nullptr;
  HEADRACE_TIFF_FUNCTIONS(HEADRACE_USE)
#undef HEADRACE_USE

  // The process's own, which stays loaded. kUnsupported, with what is missing and what to install.
  static absl::StatusOr<const TiffLibrary*> Load();

  // The first library of these names that is there; it is never closed.
  static absl::StatusOr<TiffLibrary> Open(absl::Span<const char* const> names);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_LIBRARY_H_
