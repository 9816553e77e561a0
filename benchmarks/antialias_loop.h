// `AntialiasLoop` is validation by hand: the image's shorter side becomes 256 by Pillow's bilinear filter, and the
// central 224 × 224 are normalised into planes. A row of the result is summed from the rows of the image in float, then
// along itself, so that everything but the image stays in the L1 cache; nothing is rounded in between. Memory is reused
// for every image.
// Threads: belongs to one thread.
#ifndef HEADRACE_BENCHMARKS_ANTIALIAS_LOOP_H_
#define HEADRACE_BENCHMARKS_ANTIALIAS_LOOP_H_

#include <vector>

#include "benchmarks/jpeg_loop_decoder.h"

namespace headrace {

class AntialiasLoop {
 public:
  static constexpr int kShorterSide = 256;
  static constexpr int kSide = 224;

  // Makes the weights for an image of this size; returns the part of it that is read.
  Box Plan(int width, int height);
  // `pixels` is that part. Channel c becomes level · scale[c] + shift[c], at planes + c · kSide · kSide.
  void Run(const Pixels& pixels, const float* scale, const float* shift, float* planes);

 private:
  // For each position of the result along an axis.
  struct Axis {
    int begin = 0;  // start of the part that is read
    int size = 0;
    int taps = 0;            // weights per position, padded with zeros
    std::vector<int> first;  // counted from `begin`
    std::vector<int> count;
    std::vector<float> weights;
  };
  static void MakeAxis(int in_size, int out_size, Axis& axis);

  Axis rows_;
  Axis columns_;
  std::vector<float> row_;
};

}  // namespace headrace

#endif  // HEADRACE_BENCHMARKS_ANTIALIAS_LOOP_H_
