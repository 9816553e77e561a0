#include "engine/serve/image_axes_check.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "ir/front_module.h"
#include "ir/graph.pb.h"
#include "ir/kernel_placement.h"
#include "kernels/by_frame.h"

namespace headrace {
namespace {

absl::Status NamedAs(absl::Status status, const std::string& kernel) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(kernel);
  AddErrorField(status, ErrorField::kOperator, declaration == nullptr ? kernel : declaration->written());
  return status;
}

// Whether the value has the frames and the size of the clip, and no channels.
bool IsPlaneOfEachFrame(const Tensor& value, const Tensor& clip) {
  return value.rank() == 3 && std::equal(value.shape().begin(), value.shape().end(), clip.shape().begin());
}

}  // namespace

absl::Status ImageAxesCheck::Follow(const ir::proto::Step& step) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(step.kernel());
  if (declaration == nullptr) return absl::OkStatus();
  of_batches_ |= declaration->traits.by_batch;
  if (declaration->branching == nullptr) {
    return NamedAs(FollowKernel(*declaration, ir::Attributes::Of(step)), step.kernel());
  }
  const Axes before = axes_;
  for (const ir::proto::Branch& branch : step.branches()) {
    axes_ = before;
    for (const ir::proto::Step& nested : branch.steps()) HEADRACE_RETURN_IF_ERROR(Follow(nested));
  }
  return absl::OkStatus();
}

absl::Status ImageAxesCheck::FollowKernel(const ir::Declaration& declaration, const ir::Attributes& attributes) {
  const ir::Traits& traits = declaration.traits;
  const bool takes_first = declaration.TakesImage(attributes, true) && !traits.decodes;
  const bool says = traits.decodes || takes_first != declaration.TakesImage(attributes, false);
  const bool gives_first = traits.layout || takes_first;
  const bool says_first = says && !given_.has_value();
  if (says_first) {
    const bool of_images =
        (ir::IsOfImages(declaration.python_module) || declaration.takes_layout != nullptr) && !traits.by_batch;
    given_ = Given{.by = declaration.name,
                   .channels_first = takes_first,
                   .channels_last = of_images && !takes_first && !traits.decodes,
                   .one_column = declaration.max_inputs == 1};
  }
  if (says_first || traits.decodes || traits.layout) gives_channels_first_ = gives_first;
  if (!traits.decodes) {
    const std::string mistake =
        ir::AxesMistake(declaration, attributes, axes_.order, Cat(axes_.by, " leaves it"), "that one");
    if (!mistake.empty()) return GraphError(mistake);
  }
  if (says || traits.layout) {
    axes_ = {gives_first ? ir::ImageAxes::kChannelsFirst : ir::ImageAxes::kChannelsLast, declaration.name};
  }
  return absl::OkStatus();
}

absl::Status ImageAxesCheck::Check(absl::Span<const Tensor> values) const {
  if (!given_.has_value()) return absl::OkStatus();
  return NamedAs(CheckGiven(values), given_->by);
}

absl::Status ImageAxesCheck::CheckBesideClips(absl::Span<const Tensor> values) const {
  if (of_batches_) return absl::OkStatus();
  for (const Tensor& clip : values) {
    if (!IsClip(clip)) continue;
    for (const Tensor& value : values) {
      if (!IsPlaneOfEachFrame(value, clip)) continue;
      return GraphError("takes an array of three axes for one image, and ", value.TypeName(),
                        " seems to be a mask of the frames of ", clip.TypeName(),
                        "; say so: hr.compose(kernels, columns=[\"clip\", hr.mask(\"mask\")])");
    }
  }
  return absl::OkStatus();
}

absl::Status ImageAxesCheck::CheckGiven(absl::Span<const Tensor> values) const {
  // What follows the image of a kernel of several columns has axes of its own.
  if (!given_->one_column) values = values.subspan(0, 1);
  HEADRACE_RETURN_IF_ERROR(CheckBesideClips(values));
  for (const Tensor& value : values) {
    const int frames = IsClip(value) && !of_batches_ ? 1 : 0;
    if (value.rank() != 3 + frames) continue;
    const int64_t first = value.dim(frames);
    const int64_t last = value.dim(frames + 2);
    const auto channels = [](int64_t size) { return size == 1 || size == 3 || size == 4; };
    const auto few = [](int64_t size) { return size >= 1 && size <= 4; };
    if (given_->channels_last && channels(first) && !few(last)) {
      return GraphError(
          "takes images of shape (height, width, channels), and this one seems to have its channels first: ",
          value.TypeName(), "; if so, say layout=\"CHW\"");
    }
    if (given_->channels_first && channels(last) && !few(first)) {
      return GraphError(
          "takes images of shape (channels, height, width), as one of its kernels says, and this one "
          "seems to have its channels last: ",
          value.TypeName(), "; if so, write layout='HWC' in the kernel");
    }
  }
  return absl::OkStatus();
}

}  // namespace headrace
