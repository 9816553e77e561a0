// `PngExif` finds the EXIF block of a PNG, wherever in the file it is. libpng gives only one before the pixels.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_EXIF_H_
#define HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_EXIF_H_

#include <string>
#include <string_view>

namespace headrace {

// That of the first eXIf chunk that is whole, or else of the text "Raw profile type exif", in which it stood before
// there was such a chunk; empty if there is neither. Of a text the first 128 KiB are read.
std::string PngExif(std::string_view png);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_EXIF_H_
