// `NameOfForeign` names formats that Decode does not read, for its error.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_DECODE_FOREIGN_FORMAT_H_
#define HEADRACE_KERNELS_VISION_CODECS_DECODE_FOREIGN_FORMAT_H_

#include <string_view>

namespace headrace {

// By the first bytes: "AVIF"; empty where they are of no format that it knows.
std::string_view NameOfForeign(std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_DECODE_FOREIGN_FORMAT_H_
