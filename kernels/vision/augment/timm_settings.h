// `TimmSettings` is what a text such as "rand-m9-mstd0.5-inc1" asks timm's RandAugment for.
// Threads: a value; Of is a pure function.
#ifndef HEADRACE_KERNELS_VISION_AUGMENT_TIMM_SETTINGS_H_
#define HEADRACE_KERNELS_VISION_AUGMENT_TIMM_SETTINGS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace {

struct TimmSettings {
  // kGraph, naming the part, for a text that timm refuses, or reads otherwise than it seems to say.
  static absl::StatusOr<TimmSettings> Of(std::string_view text);

  int64_t magnitude = 10;    // m
  int64_t operations = 2;    // n
  double probability = 0.5;  // p
  double deviation = 0;      // mstd; above kUniformAbove the magnitude is uniform in 0 … m
  int64_t most = 10;         // mmax
  bool increasing = false;   // inc
  bool weighted = false;     // tweights

  static constexpr double kUniformAbove = 100;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_AUGMENT_TIMM_SETTINGS_H_
