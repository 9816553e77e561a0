#include "kernels/vision/targets/placing_kernel.h"

#include <utility>

#include "core/error.h"
#include "kernels/vision/geometry/canvas_numbers.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {

PlacingKernel::PlacingKernel(const ir::Attributes& attributes, const PlacedKind& kind)
    : kind_(kind), options_(SizeOfImageOptions(attributes)), columns_(attributes.Strings("columns")) {}

absl::StatusOr<Tensors> PlacingKernel::Apply(absl::Span<const Tensor> inputs, KernelContext& context) const {
  if (inputs.size() < 2) {
    return GraphError("needs an image and its ", kind_.name, "; got ", inputs.size(), " columns");
  }
  HEADRACE_RETURN_IF_ERROR(CheckAxesOfNone(inputs[1], kind_.of_none));
  HEADRACE_ASSIGN_OR_RETURN(Tensor placed, Place(Given(*this, inputs), context.output()));
  return Tensors{std::move(placed)};
}

absl::StatusOr<ImageSize> PlacingKernel::Given::Size() const { return SizeOfImage(inputs_[0], kernel_.options_); }

absl::Status PlacingKernel::Given::CheckLabelsOf(size_t count) const {
  return CheckGivenLabels(inputs_.subspan(2), count, kernel_.kind_.owner, kernel_.columns_);
}

ir::Declaration PlacingDeclaration(ir::Declaration own) {
  own.min_inputs = 2;
  own.max_inputs = -1;
  for (ir::Attribute& attribute : SizeOfImageAttributes()) own.attributes.push_back(std::move(attribute));
  own.attributes.push_back(LabelColumnsAttribute());
  own.python_module = "internal";
  own.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  own.clips = ir::Clips::kWhole;
  return own;
}

}  // namespace headrace
