// The steps at the end of a pipeline that a device can do after the copy: those that give each byte of a picture
// another value, those that only move channels to planes, and flips among them. They are taken out of the graph, so
// that bytes travel instead of the floats that they become, and the device looks their values up in a table, which the
// same steps made here: the results are the same in every bit.
//
// What is drawn is drawn here, by the same step with the same random stream: a flip flips a picture of four marks, one
// for each corner, which travels in a column of its own.
//
// Steps stay where something else could see the difference: below anything but batches and operators that pass rows by
// position, where another operator reads the column, and where shapes of pictures are not known before the run.
// Thread contract: values, pure functions.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_TAIL_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_TAIL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace {

struct DeviceTail {
  std::string column;
  std::string steps;    // "Normalize, HWC2CHW"
  Tensor table;         // (channels, 256): the value of each byte
  bool planes = false;  // pictures become (channels, height, width)
  std::string marks;    // the column of corner marks, which is not part of the result; empty: there are no flips
  ir::ColumnType type;  // of the column with its steps

  // Of the values of pictures of that shape (…, height, width, channels).
  Shape ShapeOf(const Shape& pictures) const;
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
