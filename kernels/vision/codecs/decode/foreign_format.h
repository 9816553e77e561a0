// `ForeignFormatOf` names formats that Decode does not read, for its error.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_DECODE_FOREIGN_FORMAT_H_
#define HEADRACE_KERNELS_VISION_CODECS_DECODE_FOREIGN_FORMAT_H_

#include <optional>
#include <string_view>

namespace headrace {

struct ForeignFormat {
  std::string_view name;    // "AVIF"
  std::string_view advice;  // what to do with such a file: "convert it to one of these formats"
};

// By the first bytes; nullopt: they are not of a format that it knows.
std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_DECODE_FOREIGN_FORMAT_H_
