// `FindMisplacedKernels` checks, before a run, that each kernel fits what earlier steps did to its columns (axis order,
// batching) where types alone do not tell.
// Threads: pure functions over canonical graphs.
#ifndef HEADRACE_IR_KERNEL_PLACEMENT_H_
#define HEADRACE_IR_KERNEL_PLACEMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/column_history.h"
#include "ir/declaration.h"
#include "ir/infer.h"
#include "ir/messages.h"
#include "ir/mistake.h"

namespace headrace::ir {

// Why a kernel does not take an image of these axes, and what to do; "": it does, or they are unknown. `made`: how the
// image got them, "HWC2CHW made column \"image\""; `maker`: what did it.
std::string AxesMistake(const Declaration& kernel, const Attributes& attributes, ImageAxes axes, std::string_view made,
                        std::string_view maker);

// Image kernels on axes of another order than they take, or on batches of images, and kernels of whole batches where
// rows are not joined. Steps named in `broken` are left out, because their attributes cannot be trusted; so are nodes
// without a schema.
std::vector<Mistake> FindMisplacedKernels(const proto::Graph& graph, const Inference& inference,
                                          absl::Span<const Mistake> broken);

// Probable mistakes that still run, each with its location and a suggestion. For a valid graph.
std::vector<Mistake> FindDoubts(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_KERNEL_PLACEMENT_H_
