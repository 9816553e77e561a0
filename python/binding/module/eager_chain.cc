#include "python/binding/module/eager_chain.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/front_module.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/kernel_placement.h"
#include "ir/value.h"
#include "kernels/by_frame.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"
#include "python/binding/values/value_conversion.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

absl::StatusOr<ir::proto::Value> Fitted(const std::string& kernel, const ir::Attribute& attribute,
                                        const py::dict& given) {
  const py::str name(attribute.name);
  if (!given.contains(name)) {
    if (!attribute.default_value) return GraphError(attribute.name, " is missing");
    return ir::DefaultValue(attribute);
  }
  ir::proto::Value value = RaisingGraphErrors(Cat(kernel, ": ", attribute.name), [&] { return ValueOf(given[name]); });
  ir::FitValue(attribute, value);
  const std::vector<std::string> mistakes = ir::CheckValue(attribute, value);
  if (!mistakes.empty()) return GraphError(attribute.name, " ", mistakes[0]);
  return value;
}

absl::Status Named(absl::Status status, const std::string& kernel) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(kernel);
  AddErrorField(status, ErrorField::kOperator, declaration == nullptr ? kernel : declaration->written());
  return status;
}

std::vector<Tensor> TensorsOf(const py::tuple& values) {
  std::vector<Tensor> tensors;
  for (const py::handle value : values) {
    tensors.push_back(TensorOf(py::reinterpret_borrow<py::object>(value), Sharing::kAlways));
  }
  return tensors;
}

// Whether the value has the frames and the size of the clip, and no channels.
bool IsPlaneOfEachFrame(const Tensor& value, const Tensor& clip) {
  return value.rank() == 3 && std::equal(value.shape().begin(), value.shape().end(), clip.shape().begin());
}

// The tensor, or a copy if an argument, another result or a kernel holds its memory too.
absl::StatusOr<Tensor> Own(Tensor tensor) {
  if (IsVariableLength(tensor.dtype()) || tensor.buffer().unique()) return tensor;
  OutputAllocator output;
  HEADRACE_ASSIGN_OR_RETURN(Tensor copy, output.Allocate(tensor.dtype(), tensor.shape()));
  if (tensor.elements() > 0) tensor.CopyTo(copy.mutable_raw());
  return copy;
}

}  // namespace

EagerChain::EagerChain(const py::list& steps) { steps_ = MakeSteps(steps, 0); }

std::vector<EagerChain::Step> EagerChain::MakeSteps(const py::list& given, int depth) {
  std::vector<Step> steps;
  for (const py::handle step : given) {
    if (py::isinstance<py::int_>(step)) {
      steps.push_back(MakeMark(step.cast<int64_t>()));
      continue;
    }
    const auto [name, attributes, branches] = step.cast<std::tuple<std::string, py::dict, py::list>>();
    steps.push_back(MakeStep(name, attributes, branches, depth));
  }
  return steps;
}

EagerChain::Step EagerChain::MakeMark(int64_t mark) {
  Step step;
  step.salt = salts_++;
  step.mark = mark;
  return step;
}

EagerChain::Step EagerChain::MakeStep(const std::string& name, const py::dict& given, const py::list& branches,
                                      int depth) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(name);
  if (declaration == nullptr) Raise(GraphError("there is no kernel ", name));
  ir::Attributes attributes;
  for (const ir::Attribute& attribute : declaration->attributes) {
    absl::StatusOr<ir::proto::Value> value = Fitted(name, attribute, given);
    if (!value.ok()) Raise(Named(value.status(), name));
    attributes.Set(attribute.name, *std::move(value));
  }
  Step step;
  step.name = name;
  step.salt = salts_++;
  step.unary = declaration->max_inputs == 1;
  step.by_frame = declaration->OfClips() == ir::Clips::kByFrame;
  of_batches_ |= declaration->traits.by_batch;
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = MakeKernel(name, attributes);
  if (!kernel.ok()) Raise(Named(kernel.status(), name));
  step.kernel = *std::move(kernel);
  if (attributes.Find("seed") != nullptr && !attributes.IsNone("seed")) {
    step.seed = static_cast<uint64_t>(attributes.Int("seed"));
  }
  step.chooser = dynamic_cast<const Chooser*>(step.kernel.get());
  if (step.chooser == nullptr) {
    absl::Status fits = FollowAxes(*declaration, attributes);
    if (!fits.ok()) Raise(Named(std::move(fits), name));
    return step;
  }
  if (depth == ir::kDeepestChoosers) Raise(ir::TooDeepChoosers(name));
  absl::Status branching = declaration->branching(attributes, branches.size()).status();
  if (!branching.ok()) Raise(Named(std::move(branching), name));
  const Axes before = axes_;
  for (const py::handle branch : branches) {
    axes_ = before;
    step.branches.push_back(MakeSteps(py::reinterpret_borrow<py::list>(branch), depth + 1));
  }
  return step;
}

// Steps of branches count as if every call went through them.
absl::Status EagerChain::FollowAxes(const ir::Declaration& declaration, const ir::Attributes& attributes) {
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

absl::Status EagerChain::CheckBesideClips(absl::Span<const Tensor> values) const {
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

void EagerChain::CheckGiven(const py::tuple& values) const { RequireAxes(TensorsOf(values)); }

void EagerChain::RequireAxes(absl::Span<const Tensor> values) const {
  absl::Status axes = CheckAxes(values);
  if (!axes.ok()) Raise(Named(std::move(axes), given_->by));
}

absl::Status EagerChain::CheckAxes(absl::Span<const Tensor> values) const {
  if (!given_.has_value()) return absl::OkStatus();
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

absl::Status EagerChain::RunStep(const Step& step, uint64_t seed, uint64_t key, std::vector<Tensor>& values) const {
  const RowRandom random(step.seed.value_or(seed), step.salt, RowId{.epoch = 0, .key = key});
  const bool by_frame = step.by_frame && !of_batches_;
  const auto apply = [&](absl::Span<const Tensor> inputs) {
    OutputAllocator output;
    KernelContext context(random, output);
    return by_frame ? ApplyByFrame(*step.kernel, inputs, context) : step.kernel->Apply(inputs, context);
  };
  if (!step.unary) {
    HEADRACE_ASSIGN_OR_RETURN(const Tensors outputs, apply(values));
    values.assign(outputs.begin(), outputs.end());
    return absl::OkStatus();
  }
  for (Tensor& value : values) {
    HEADRACE_ASSIGN_OR_RETURN(Tensors outputs, apply({&value, 1}));
    value = std::move(outputs[0]);
  }
  return absl::OkStatus();
}

size_t EagerChain::RunFused(absl::Span<const Step* const> steps, uint64_t seed, uint64_t key,
                            std::vector<Tensor>& values) const {
  std::vector<FusedRun::Part> parts;
  for (const Step* step : steps) {
    if (!step->unary) break;
    parts.push_back({step->kernel.get(), step->seed.value_or(seed), step->salt});
  }
  const std::shared_ptr<const FusedRun> fused = FuseRun(parts);
  if (fused == nullptr) return 0;
  const bool by_frame = !of_batches_ && std::any_of(steps.begin(), steps.begin() + fused->parts(),
                                                    [](const Step* step) { return step->by_frame; });
  const RowId id{.epoch = 0, .key = key};
  std::vector<Tensor> results;
  for (const Tensor& value : values) {
    OutputAllocator output;
    absl::StatusOr<Tensor> result =
        by_frame ? ApplyByFrame(*fused, value, id, output) : fused->Apply(value, id, output);
    // The separate steps report what is wrong, and where.
    if (!result.ok()) return 0;
    results.push_back(*std::move(result));
  }
  values = std::move(results);
  return fused->parts();
}

std::function<RowRandom(const EagerChain::Step&)> EagerChain::RandomOf(uint64_t seed, uint64_t key) {
  return [seed, key](const Step& step) {
    return RowRandom(step.seed.value_or(seed), step.salt, RowId{.epoch = 0, .key = key});
  };
}

EagerChain::Steps EagerChain::StepsOf(uint64_t seed, uint64_t key) const {
  Steps drawn;
  VisitDrawn(steps_, RandomOf(seed, key), [&](const Step& step) {
    if (step.chooser == nullptr && step.kernel != nullptr) drawn.push_back(&step);
  });
  return drawn;
}

std::vector<int64_t> EagerChain::MarksOf(uint64_t seed, uint64_t key) const {
  std::vector<int64_t> marks;
  VisitDrawn(steps_, RandomOf(seed, key), [&](const Step& step) {
    if (step.kernel == nullptr) marks.push_back(step.mark);
  });
  return marks;
}

absl::Status EagerChain::Run(uint64_t seed, uint64_t key, std::vector<Tensor>& values) const {
  const Steps steps = StepsOf(seed, key);
  for (size_t at = 0; at < steps.size();) {
    const size_t fused = RunFused(absl::MakeSpan(steps).subspan(at), seed, key, values);
    at += fused;
    if (StopSignal::Raised()) return StopSignal::Error();
    if (fused > 0) continue;
    absl::Status status = RunStep(*steps[at], seed, key, values);
    if (!status.ok()) return Named(std::move(status), steps[at]->name);
    ++at;
  }
  return absl::OkStatus();
}

py::tuple EagerChain::Call(const py::tuple& values, uint64_t seed, uint64_t key, bool layout_given) const {
  std::vector<Tensor> tensors = TensorsOf(values);
  if (!layout_given) RequireAxes(tensors);
  // Kept, so that a result that is an argument, or a view of it, is seen to share its memory.
  const std::vector<Tensor> arguments = tensors;
  RaiseIfError(RunForkableInterruptible([&] { return Run(seed, key, tensors); }));
  py::tuple results(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor own = ValueOrRaise(Own(std::move(tensors[i])));
    results[i] = ArrayOf(own, Access::kWhereAlone);
  }
  return results;
}

void BindEagerChain(py::module_& module) {
  py::class_<EagerChain>(module, "EagerChain")
      .def(py::init<const py::list&>(), py::arg("steps"))
      .def("__call__", &EagerChain::Call, py::arg("values"), py::arg("seed"), py::arg("key"), py::arg("layout_given"))
      .def("marks", &EagerChain::MarksOf, py::arg("seed"), py::arg("key"))
      .def("check_axes", &EagerChain::CheckGiven, py::arg("values"))
      .def_property_readonly("takes_channels_first", &EagerChain::takes_channels_first)
      .def_property_readonly("gives_channels_first", &EagerChain::gives_channels_first);
}

}  // namespace headrace::python
