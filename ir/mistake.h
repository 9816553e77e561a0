// What is wrong with a pipeline as written, for one message that shows every mistake at once. Plain values.
#ifndef HEADRACE_IR_MISTAKE_H_
#define HEADRACE_IR_MISTAKE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/error.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

struct Mistake {
  std::string location;  // "train.py:12"; "" where not known
  std::string op;        // "batch", "map Resize"; "" of the graph as a whole
  std::string message;   // "size is 0; it must be at least 1"
  ErrorKind kind = ErrorKind::kGraph;
  int node = -1;  // position in the graph; -1: the graph as a whole
  int step = -1;  // position in the node; -1: the node itself
};

// OK for none. Else one error of the first mistake's kind:
//   2 mistakes in the pipeline:
//     train.py:12  batch: size is 0; it must be at least 1
//     train.py:9   map Resize: no column "imge"; did you mean "image"? (columns: image, label)
absl::Status CombineMistakes(absl::Span<const Mistake> mistakes);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_MISTAKE_H_
