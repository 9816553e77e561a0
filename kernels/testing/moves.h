// `Moves` gives every kernel that moves pixels by whole pixels or with the nearest one, for tests of what follows them.
#ifndef HEADRACE_KERNELS_TESTING_MOVES_H_
#define HEADRACE_KERNELS_TESTING_MOVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/testing/run_kernel.h"

namespace headrace::fixture {

// Of the images that they are for.
inline constexpr int64_t kMovedHeight = 24;
inline constexpr int64_t kMovedWidth = 32;

struct Move {
  std::string kernel;
  Given given;
  double within;  // pixels between the edge of a box and that of the moved pixels

  // Whether edges may turn.
  bool turns() const;
};

std::vector<Move> Moves();

}  // namespace headrace::fixture

#endif  // HEADRACE_KERNELS_TESTING_MOVES_H_
