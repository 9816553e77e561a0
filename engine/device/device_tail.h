// `TakeTails` takes steps at the end of a pipeline that a device can do after the copy out of the graph: those that
// give each byte of an image another value, those that only move channels to planes, among them flips and one that
// erases a rectangle; before them one that resizes, with weights, images of one size; and after them one that mixes the
// images of a batch. Bytes then travel instead of the floats that they become, and the device looks their values up in
// a table, which the same steps made on the host: the results are the same in every bit.
//
// Draws are made on the host, with the random stream of the step, and travel in a column of their own: a flip flips an
// image of four marks, one for each corner; of the others a companion of theirs (kernels/companion.h) gives
// what they draw.
//
// Steps stay where something else could see the difference: below anything but batches and operators that pass rows by
// position, where another operator reads the column, and where shapes of images are not known before the run.
// Threads: values, pure functions.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_TAIL_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_TAIL_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "engine/device/byte_mapping.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace {

// What is drawn for each image, in the order in which it is done.
enum class Drawn : size_t { kTaps, kMarks, kErased, kMixed };
inline constexpr size_t kDrawnKinds = 4;

struct DeviceTail {
  std::string column;
  std::string steps;    // "Normalize, HWC2CHW"
  Tensor table;         // (channels, 257): the value of each byte, and of what is erased
  bool planes = false;  // images become (channels, height, width)
  uint32_t height = 0;  // to which images are resized; 0: they are not
  uint32_t width = 0;
  Mixing mixing = Mixing::kNone;
  // By Drawn, columns that are not part of the result; empty: nothing of the kind is drawn.
  std::array<std::string, kDrawnKinds> drawn;
  ir::ColumnType type;  // of the column with its steps

  bool resizes() const { return height > 0; }
  std::string& drawn_of(Drawn kind) { return drawn[static_cast<size_t>(kind)]; }
  // Of the values of images of that shape (…, height, width, channels).
  Shape ShapeOf(const Shape& images) const;
};

struct DeviceTails {
  ir::proto::Graph graph;  // without the steps
  std::vector<DeviceTail> tails;
};

// From a valid canonical graph, which is returned as it is if no step can be taken.
absl::StatusOr<DeviceTails> TakeTails(const ir::proto::Graph& graph);

// "image: Normalize, HWC2CHW"; empty without tails.
std::string TailsText(const std::vector<DeviceTail>& tails);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_TAIL_H_
