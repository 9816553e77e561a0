// `Mistake` is a mistake in a pipeline as written. Use `CombineMistakes` for one message that lists them all.
// Threads: plain values.
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
  std::string location;  // "train.py:12"; "" if not known
  std::string op;        // "batch", "map Resize"; "" for the graph as a whole
  std::string message;   // "size is 0; it must be at least 1"
  ErrorKind kind = ErrorKind::kGraph;
  int node = -1;  // node id in the graph; -1: the graph as a whole
  int step = -1;  // index in the node; -1: the node itself
};

// OK if there are none. Otherwise one error of the first mistake's kind:
//   2 mistakes in the pipeline:
//     train.py:12  batch: size is 0; it must be at least 1
//     train.py:9   map Resize: no column "imge"; did you mean "image"? (columns: image, label)
absl::Status CombineMistakes(absl::Span<const Mistake> mistakes);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_MISTAKE_H_
