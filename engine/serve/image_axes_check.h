// `ImageAxesCheck` finds images whose axes are in another order than the kernels of a chain take them, where no graph
// says which order they have: between two kernels, and in the values that a call gives.
// Threads: one thread follows steps; Check from any thread afterwards.
#ifndef HEADRACE_ENGINE_SERVE_IMAGE_AXES_CHECK_H_
#define HEADRACE_ENGINE_SERVE_IMAGE_AXES_CHECK_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/column_history.h"
#include "ir/declaration.h"
#include "ir/messages.h"

namespace headrace {

class ImageAxesCheck {
 public:
  // Follows the next step, and those of its branches as if every call went through them. kGraph, with the kernel's
  // name, if it does not take images as the steps before it leave them.
  absl::Status Follow(const ir::proto::Step& step);

  // kGraph, with the name of a kernel, for images whose channels seem to be elsewhere than that kernel needs them. A
  // value of four axes is a clip, unless a kernel works on whole batches.
  absl::Status Check(absl::Span<const Tensor> values) const;

  // Whether images have their channels first as the kernels take them, and as they give them.
  bool takes_channels_first() const { return given_.has_value() && given_->channels_first; }
  bool gives_channels_first() const { return gives_channels_first_; }

 private:
  // Of an image between two steps.
  struct Axes {
    ir::ImageAxes order = ir::ImageAxes::kUnknown;
    std::string by = {};  // the step that says so
  };

  // What a step says of the images that the first step gets.
  struct Given {
    std::string by;
    bool channels_first = false;  // it takes no others
    bool channels_last = false;   // it takes images, and no others
    bool one_column = true;
  };

  absl::Status FollowKernel(const ir::Declaration& declaration, const ir::Attributes& attributes);
  absl::Status CheckGiven(absl::Span<const Tensor> values) const;
  // kGraph for a mask of a clip's frames that would be taken for one image.
  absl::Status CheckBesideClips(absl::Span<const Tensor> values) const;

  std::optional<Given> given_;         // by the first step that takes one order alone
  bool gives_channels_first_ = false;  // by the steps of all branches together
  bool of_batches_ = false;            // a step works on whole batches, so that no value is a clip
  Axes axes_;                          // in the branch whose steps are followed
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_SERVE_IMAGE_AXES_CHECK_H_
