// `RunLoop` is the hand-written loop that the engine is compared with: libjpeg-turbo and OpenCV with a plain loop over
// the files, without an engine. Each thread takes the next file, reads, decodes, crops, resizes, flips and normalises
// it and writes it to the next slot of a batch, in order of completion.
// Threads: RunLoop starts its threads and joins them; calls share nothing.
#ifndef HEADRACE_BENCHMARKS_LOOP_H_
#define HEADRACE_BENCHMARKS_LOOP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace headrace {

enum class LoopWork {
  kFullDecode,          // decode the whole image, then random-resized-crop 224, flip, normalise
  kCropWhileDecoding,   // the same result, decoding only the crop's part of the file
  kResize256Center224,  // decode, shorter side to 256 by OpenCV, centre 224, normalise
  kValidation,          // the same with Pillow's filter, decoding no more than the centre needs
};

struct LoopOptions {
  std::string folder;  // JPEG files, in folders or not
  int threads = 2;
  int64_t images = 2000;
  double seconds = 0;  // > 0: until the time is over, and `images` does not count
  int64_t warm_up_images = 200;
  LoopWork work = LoopWork::kFullDecode;
  uint64_t seed = 0;
};

struct LoopResult {
  int64_t images = 0;
  int64_t unreadable = 0;  // not JPEG after all
  double seconds = 0;
  // A checksum of the results, independent of the threads: equal work gives an equal sum.
  uint64_t checksum = 0;
};

// `checksum` costs time: for tests.
absl::StatusOr<LoopResult> RunLoop(const LoopOptions& options, bool checksum = false);

}  // namespace headrace

#endif  // HEADRACE_BENCHMARKS_LOOP_H_
