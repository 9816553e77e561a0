// Decode gives no byte that it did not write: whatever the file, over memory that held something else it gives the
// same.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/poisoned_memory.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

// The pixels and their type, or the error.
std::string ResultOver(uint8_t byte, std::string_view file, std::string_view mode) {
  const fixture::PoisonedMemory memory(byte);
  const absl::StatusOr<Tensor> image =
      fixture::RunKernel("Decode", {{"mode", ir::StringValue(mode)}, {"max_pixels", ir::IntValue(1 << 18)}},
                         *Tensor::CopyBytes(DType::kBytes, file));
  if (!image.ok()) return std::string(image.status().message());
  return image->TypeName() + std::string(reinterpret_cast<const char*>(image->raw()), image->bytes());
}

const std::vector<const char*>& PoisonedFiles() {
  static const std::vector<const char*> names = {
      "baseline_420.jpg", "progressive.jpg", "restarts.jpg",   "cmyk.jpg",         "grey.jpg",     "damaged.jpg",
      "rgb.png",          "interlaced.png",  "palette.png",    "grey_16_bits.png", "lossy.webp",   "lossless.webp",
      "lossy_alpha.webp", "animated.webp",   "palette.gif",    "interlaced.gif",   "animated.gif", "part_of_screen.gif",
      "rgb.bmp",          "bits_4.bmp",      "runs_4.bmp",     "runs_8.bmp",       "alpha.bmp",    "runs_with_step.bmp",
      "rgb.tiff",         "lzw.tiff",        "deflate.tiff",   "packbits.tiff",    "fax.tiff",     "cmyk.tiff",
      "tiles.tiff",       "planes.tiff",     "jpeg.tiff",      "deep_rgb.tiff",    "palette.tiff", "rgba.tiff",
      "strips.tiff",      "float.tiff",      "white_is_0.tiff"};
  return names;
}

TEST(DecodeMemory, WholeFilesGiveWhatTheyHold) {
  for (const char* name : PoisonedFiles()) {
    const std::string file = fixture::ReadTestFile(name);
    for (const char* mode : {"RGB", "L", "unchanged", "anydepth"}) {
      EXPECT_EQ(ResultOver(0x55, file, mode), ResultOver(0xaa, file, mode)) << name << " " << mode;
    }
  }
}

TEST(DecodeMemory, DamagedFilesGiveTheSameOverAnyMemory) {
  const int rounds = Rounds(300, {.quick = 60, .sanitized = 60});
  int decoded = 0;
  for (const char* name : PoisonedFiles()) {
    const std::string whole = fixture::ReadTestFile(name);
    for (int round = 0; round < rounds; ++round) {
      RowRandom random(23, 0, {.key = static_cast<uint64_t>(round)});
      std::string file = whole;
      for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
        file[random.Below(file.size())] = static_cast<char>(random.Below(256));
      }
      // Headers of TIFF are at their ends.
      if (random.Below(4) == 0) file.resize(1 + random.Below(file.size()));
      const char* const mode = random.Below(2) == 0 ? "RGB" : "unchanged";
      const std::string first = ResultOver(0x55, file, mode);
      ASSERT_EQ(first, ResultOver(0xaa, file, mode)) << name << " " << round << " " << mode;
      decoded += first.starts_with("uint8");
    }
  }
  EXPECT_GT(decoded, 0);
  std::printf("HEADRACE-COUNT fuzz=%d\n", rounds * static_cast<int>(PoisonedFiles().size()));
}

}  // namespace
}  // namespace headrace
