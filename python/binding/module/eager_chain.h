// `EagerChain` calls kernels on one image, without a graph: a list of them as Python gives it, made into the steps of a
// KernelChain.
// Threads: made with the GIL held; calls from any thread with the GIL held, which is released meanwhile.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_EAGER_CHAIN_H_
#define HEADRACE_PYTHON_BINDING_MODULE_EAGER_CHAIN_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/serve/image_axes_check.h"
#include "engine/serve/kernel_chain.h"
#include "ir/messages.h"

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
  bool takes_channels_first() const { return axes_.takes_channels_first(); }
  bool gives_channels_first() const { return axes_.gives_channels_first(); }

 private:
  struct GivenStep {
    bool is_mark = false;
    int64_t mark = 0;
  };

  // Writes a step of Python's, and those of its branches, as one of a graph.
  void Write(const pybind11::handle& given, int depth, ir::proto::Step& step);
  void WriteKernel(const std::string& name, const pybind11::dict& attributes, const pybind11::list& branches, int depth,
                   ir::proto::Step& step);

  KernelChain chain_;
  ImageAxesCheck axes_;
  std::vector<GivenStep> given_;  // by the step's number in the chain
};

void BindEagerChain(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_EAGER_CHAIN_H_
