// `EagerChain` calls kernels on one image, without a graph: a list of them, fused as in a map.
// Threads: made with the GIL held; calls from any thread with the GIL held, which is released meanwhile.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_EAGER_CHAIN_H_
#define HEADRACE_PYTHON_BINDING_MODULE_EAGER_CHAIN_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/philox.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/column_history.h"
#include "ir/declaration.h"
#include "kernels/chooser.h"
#include "kernels/fused_run.h"
#include "kernels/kernel.h"

namespace headrace::python {

class __attribute__((visibility("hidden"))) EagerChain {
 public:
  // `steps`: (name, attributes, branches) of each kernel, as given; branches are lists of such steps, which choosers
  // have. A number is a mark: a step that does nothing, with a salt as any other. Raises GraphError for what does not
  // fit.
  explicit EagerChain(const pybind11::list& steps);
  // Step i draws from the row (epoch 0, `key`) with salt i, and the seed of its own or else `seed`; a chooser counts
  // before the steps of its branches. A tuple of values,
  // as many as the last kernel gives; no two of them, and no value and result, share memory. Images whose channels seem
  // to be elsewhere than the kernels need them are refused, unless the layout was given. A value of four axes is a
  // clip, unless a kernel works on whole batches.
  pybind11::tuple Call(const pybind11::tuple& values, uint64_t seed, uint64_t key, bool layout_given) const;
  // The marks among the steps that such a call goes through, in its order.
  std::vector<int64_t> MarksOf(uint64_t seed, uint64_t key) const;
  // Refuses images as such a call does.
  void CheckGiven(const pybind11::tuple& values) const;
  // Whether images have their channels first as the kernels take them, and as they give them.
  bool takes_channels_first() const { return given_.has_value() && given_->channels_first; }
  bool gives_channels_first() const { return gives_channels_first_; }

 private:
  struct Step {
    std::string name;
    std::unique_ptr<Kernel> kernel;
    const Chooser* chooser = nullptr;  // the kernel, if it is one
    std::vector<std::vector<Step>> branches;
    std::optional<uint64_t> seed;
    uint64_t salt = 0;
    bool unary = true;
    bool by_frame = false;  // takes a clip frame by frame
    int64_t mark = 0;       // of a step without a kernel
  };
  using Steps = std::vector<const Step*>;
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

  std::vector<Step> MakeSteps(const pybind11::list& given, int depth);
  Step MakeMark(int64_t mark);
  Step MakeStep(const std::string& name, const pybind11::dict& given, const pybind11::list& branches, int depth);
  // kGraph if the kernel does not take images as the steps before it leave them.
  absl::Status FollowAxes(const ir::Declaration& declaration, const ir::Attributes& attributes);
  void RequireAxes(absl::Span<const Tensor> values) const;
  absl::Status CheckAxes(absl::Span<const Tensor> values) const;
  // kGraph for a mask of a clip's frames that would be taken for one image.
  absl::Status CheckBesideClips(absl::Span<const Tensor> values) const;
  // Gives the row's numbers for a step.
  static std::function<RowRandom(const Step&)> RandomOf(uint64_t seed, uint64_t key);
  // Returns the steps that a call goes through.
  Steps StepsOf(uint64_t seed, uint64_t key) const;
  absl::Status Run(uint64_t seed, uint64_t key, std::vector<Tensor>& values) const;
  absl::Status RunStep(const Step& step, uint64_t seed, uint64_t key, std::vector<Tensor>& values) const;
  // Runs as many steps as one pass over the pixels can be made of; 0, with nothing changed: they run one by one.
  size_t RunFused(absl::Span<const Step* const> steps, uint64_t seed, uint64_t key, std::vector<Tensor>& values) const;

  std::vector<Step> steps_;
  uint64_t salts_ = 0;                 // given so far
  std::optional<Given> given_;         // by the first step that takes one order alone
  bool gives_channels_first_ = false;  // by the steps of all branches together
  bool of_batches_ = false;            // a step works on whole batches, so that no value is a clip
  Axes axes_;                          // in the branch that steps are added to
};

void BindEagerChain(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_EAGER_CHAIN_H_
