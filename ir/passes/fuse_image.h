// `FuseImage` is a pass that marks consecutive steps of a map on one column that can run as one pass over an image's
// pixels: a decode kernel, geometric kernels after it, and pixel kernels at the end. The steps themselves do not
// change, so salts, errors and inference are the same; a map that runs them fused decodes only the part of an image
// that its crops keep. Rows are the same. Damage in an unused part of an image may go unnoticed, and of several faults
// of one row a different one may be named.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_FUSE_IMAGE_H_
#define HEADRACE_IR_PASSES_FUSE_IMAGE_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> FuseImage(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_FUSE_IMAGE_H_
