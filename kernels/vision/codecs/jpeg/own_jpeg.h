// `DecodeOwnJpeg` decodes the JPEGs of common kinds (own/sequential_jpeg.h) that are not damaged, with libjpeg-turbo's
// pixels.
// Threads: any thread; each keeps a decoder's tables for its next image.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_JPEG_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_JPEG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

// Of the decoder: another number where its pixels may differ.
inline constexpr const char* kOwnJpegVersion = "1.0";

// Nullopt: libjpeg must decode it, or say why it cannot; `choose` may have been called. Errors are those of `choose`,
// kClosed if StopSignal is raised, kResource if memory is lacking.
absl::StatusOr<std::optional<DecodedPart>> DecodeOwnJpeg(std::string_view bytes, const DecodeOptions& options,
                                                         const ChoosePart& choose);

// The entry points of a whole file, as a note that comes with files (core/row_notes.h).
struct EntryPointNote {
  uint64_t key = 0;
  std::string bytes;
};
// Nullopt: it is not a JPEG that this decoder decodes, is damaged, or is so small that entry points save nothing.
std::optional<EntryPointNote> NoteEntryPoints(std::string_view file);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_JPEG_H_
