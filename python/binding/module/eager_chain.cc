#include "python/binding/module/eager_chain.h"

#include <pybind11/stl.h>

#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/row_id.h"
#include "core/text.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/value.h"
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

KernelChain::Row RowOf(const py::tuple& values) {
  KernelChain::Row row;
  for (const py::handle value : values) {
    row.push_back(TensorOf(py::reinterpret_borrow<py::object>(value), Sharing::kAlways));
  }
  return row;
}

}  // namespace

EagerChain::EagerChain(const py::list& steps) {
  for (const py::handle given : steps) {
    ir::proto::Step step;
    Write(given, 0, step);
    RaiseIfError(chain_.Add(step));
    RaiseIfError(axes_.Follow(step));
  }
}

void EagerChain::Write(const py::handle& given, int depth, ir::proto::Step& step) {
  step.set_salt(given_.size());
  if (py::isinstance<py::int_>(given)) {
    given_.push_back({.is_mark = true, .mark = given.cast<int64_t>()});
    return;
  }
  given_.push_back({});
  const auto [name, attributes, branches] = given.cast<std::tuple<std::string, py::dict, py::list>>();
  WriteKernel(name, attributes, branches, depth, step);
}

void EagerChain::WriteKernel(const std::string& name, const py::dict& attributes, const py::list& branches, int depth,
                             ir::proto::Step& step) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(name);
  if (declaration == nullptr) Raise(GraphError("there is no kernel ", name));
  step.set_kernel(name);
  for (const ir::Attribute& attribute : declaration->attributes) {
    absl::StatusOr<ir::proto::Value> value = Fitted(name, attribute, attributes);
    if (!value.ok()) {
      absl::Status wrong = value.status();
      AddErrorField(wrong, ErrorField::kOperator, declaration->written());
      Raise(wrong);
    }
    ir::proto::Attribute& written = *step.add_attributes();
    written.set_name(attribute.name);
    *written.mutable_value() = *std::move(value);
  }
  if (declaration->branching == nullptr) return;
  if (depth == ir::kDeepestChoosers) Raise(ir::TooDeepChoosers(name));
  for (const py::handle branch : branches) {
    ir::proto::Branch& written = *step.add_branches();
    for (const py::handle nested : py::reinterpret_borrow<py::list>(branch)) {
      Write(nested, depth + 1, *written.add_steps());
    }
  }
}

std::vector<int64_t> EagerChain::MarksOf(uint64_t seed, uint64_t key) const {
  std::vector<int64_t> marks;
  chain_.VisitDrawn(seed, RowId{.epoch = 0, .key = key}, [&](size_t step) {
    if (given_[step].is_mark) marks.push_back(given_[step].mark);
  });
  return marks;
}

void EagerChain::CheckGiven(const py::tuple& values) const { RaiseIfError(axes_.Check(RowOf(values))); }

py::tuple EagerChain::Call(const py::tuple& values, uint64_t seed, uint64_t key, bool layout_given) const {
  KernelChain::Row row = RowOf(values);
  if (!layout_given) RaiseIfError(axes_.Check(row));
  // Kept, so that a result that is an argument, or a view of it, is seen to share its memory.
  const KernelChain::Row arguments = row;
  RaiseIfError(RunForkableInterruptible([&] { return chain_.Run(seed, RowId{.epoch = 0, .key = key}, row); }));
  py::tuple results(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    const Tensor own = ValueOrRaise(Own(std::move(row[i])));
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
