// Marks the steps of a map that are done in one pass over an image's pixels: a decoder, what moves pixels after it, and
// what is computed of each value at the end, where they follow each other on one column. The steps stay as they are, so
// salts, errors and inference do; a map that runs them reads of a picture only what its crops leave.
// Rows are the same. Damage in a part of a picture that nobody looks at may go unnoticed, and of several faults of one
// row another may be named.
#ifndef HEADRACE_IR_PASSES_FUSE_IMAGE_H_
#define HEADRACE_IR_PASSES_FUSE_IMAGE_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> FuseImage(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_FUSE_IMAGE_H_
