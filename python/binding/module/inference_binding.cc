#include "python/binding/module/inference_binding.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/tensor.h"
#include "engine/serve/inference_graph.h"
#include "engine/serve/kernel_chain.h"
#include "python/binding/module/graph_binding.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// A graph that Python calls. `values` and the arrays of a call live until it ends, so their memory is viewed.
class __attribute__((visibility("hidden"))) BoundInferenceGraph {
 public:
  explicit BoundInferenceGraph(const py::bytes& bytes) {
    const std::string_view graph = bytes;
    graph_ = ValueOrRaise(RunForkable([&] { return InferenceGraph::Parse(graph); }));
  }

  py::list inputs() const { return ColumnList(graph_->inputs()); }
  py::list outputs() const { return ColumnList(graph_->outputs()); }
  const std::string& hash() const { return graph_->hash(); }

  py::tuple Run(const py::tuple& values) const {
    const std::vector<Tensor> inputs = InputsOf(values);
    std::vector<Tensor> outputs = ValueOrRaise(RunForkableInterruptible([&] { return graph_->Run(inputs); }));
    py::tuple results(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) results[i] = OwnArray(std::move(outputs[i]));
    return results;
  }

  void RunInto(const py::tuple& values, const py::tuple& arrays) const {
    const std::vector<Tensor> inputs = InputsOf(values);
    std::vector<std::optional<Tensor>> slots;
    for (const py::handle array : arrays) slots.emplace_back(SlotOver(array));
    RaiseIfError(RunForkableInterruptible([&] { return graph_->Run(inputs, slots).status(); }));
  }

  py::list Trace(const py::tuple& values) const {
    const std::vector<Tensor> inputs = InputsOf(values);
    std::vector<StepResult> traced = ValueOrRaise(RunForkableInterruptible([&] { return graph_->Trace(inputs); }));
    py::list results;
    for (StepResult& each : traced) {
      results.append(py::make_tuple(each.step, each.column, OwnArray(std::move(each.value))));
    }
    return results;
  }

 private:
  static py::list ColumnList(const std::vector<ir::Column>& columns) {
    ir::Schema schema;
    for (const ir::Column& column : columns) schema.columns.push_back(column);
    return SchemaList(schema);
  }

  static std::vector<Tensor> InputsOf(const py::tuple& values) {
    std::vector<Tensor> inputs;
    for (const py::handle value : values) inputs.push_back(ViewOf(value));
    return inputs;
  }

  static py::object OwnArray(Tensor value) {
    const Tensor own = ValueOrRaise(Own(std::move(value)));
    return ArrayOf(own, Access::kWhereAlone);
  }

  std::shared_ptr<const InferenceGraph> graph_;
};

}  // namespace

void BindInference(py::module_& module) {
  py::class_<BoundInferenceGraph>(module, "InferenceGraph")
      .def(py::init<const py::bytes&>(), py::arg("graph"))
      .def_property_readonly("inputs", &BoundInferenceGraph::inputs)
      .def_property_readonly("outputs", &BoundInferenceGraph::outputs)
      .def_property_readonly("hash", &BoundInferenceGraph::hash)
      .def("run", &BoundInferenceGraph::Run, py::arg("values"))
      .def("run_into", &BoundInferenceGraph::RunInto, py::arg("values"), py::arg("outputs"))
      .def("trace", &BoundInferenceGraph::Trace, py::arg("values"));
}

}  // namespace headrace::python
