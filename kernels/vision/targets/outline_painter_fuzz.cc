// Fuzzes outlines: what can be read can be painted, within the image, and is written again as it was.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/outline_bytes.h"
#include "core/testing/require.h"
#include "kernels/vision/targets/outline_painter.h"

namespace {

constexpr int64_t kMostPixels = 1 << 20;

void Paint(headrace::OutlineReader& reader) {
  using headrace::Require;
  std::vector<uint8_t> image(static_cast<size_t>(reader.height() * reader.width()), 0);
  auto painter = headrace::OutlinePainter::Make(reader.height(), reader.width(), kMostPixels);
  Require(painter.ok(), "there is memory");
  headrace::Outline outline;
  for (int64_t object = 0; object < reader.objects(); ++object) {
    const absl::Status read = reader.ReadOutline(outline);
    if (!read.ok()) {
      Require(headrace::KindOf(read) == headrace::ErrorKind::kData, "damage is the row's");
      return;
    }
    std::string bytes;
    headrace::AppendOutlinesHead(reader.height(), reader.width(), 1, bytes);
    headrace::AppendOutline(outline, bytes);
    headrace::OutlineReader again(bytes);
    headrace::Outline same;
    Require(again.ReadHead().ok() && again.ReadOutline(same).ok(), "what is written can be read");
    Require(same.points == outline.points && same.runs == outline.runs, "it is the same");
    const absl::Status painted = painter->Paint(outline, uint8_t{1}, image.data());
    if (!painted.ok()) return Require(headrace::KindOf(painted) == headrace::ErrorKind::kData, "work is bounded");
  }
  for (const uint8_t pixel : image) Require(pixel <= 1, "a pixel is painted or not");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::OutlineReader reader({reinterpret_cast<const char*>(data), size});
  if (!reader.ReadHead().ok() || reader.height() > kMostPixels / reader.width()) return 0;
  Paint(reader);
  return 0;
}
