#include "capi/testing/inference_bytes.h"

#include "ir/graph.h"
#include "ir/value.h"

namespace headrace::fixture {
namespace {

template <typename Operator>
void AddAttribute(const std::string& name, const ir::proto::Value& value, Operator& op) {
  ir::proto::Attribute* const attribute = op.add_attributes();
  attribute->set_name(name);
  *attribute->mutable_value() = value;
}

}  // namespace

InferenceBytes::InferenceBytes() {
  graph_.set_format(ir::kFormat);
  graph_.set_producer("headrace 0.1.0");
  AddNode("Input");
}

ir::proto::Node& InferenceBytes::AddNode(std::string_view op) {
  ir::proto::Node& node = *graph_.add_nodes();
  node.set_op(std::string(op));
  node.set_version(1);
  return node;
}

InferenceBytes& InferenceBytes::Input(const std::string& name, const ir::ColumnType& type) {
  inputs_.columns.push_back({name, type});
  return *this;
}

InferenceBytes& InferenceBytes::Step(std::string_view kernel, const std::vector<std::string>& inputs,
                                     const std::vector<std::string>& outputs, const Given& attributes) {
  if (graph_.nodes_size() == 1) {
    AddNode("map").add_inputs(0);
  }
  ir::proto::Node& map = *graph_.mutable_nodes(1);
  ir::proto::Step* const step = map.add_steps();
  step->set_kernel(std::string(kernel));
  step->mutable_location()->set_file("train.py");
  step->mutable_location()->set_line(map.steps_size());
  for (const std::string& input : inputs) step->add_inputs(input);
  for (const std::string& output : outputs) step->add_outputs(output);
  for (const auto& [name, value] : attributes) AddAttribute(name, value, *step);
  return *this;
}

std::string InferenceBytes::Bytes() {
  graph_.mutable_nodes(0)->clear_attributes();
  AddAttribute("columns", ir::ColumnsValue(inputs_), *graph_.mutable_nodes(0));
  return ir::SerializeGraph(graph_);
}

std::string PictureGraph() {
  return InferenceBytes()
      .Input("image", ir::ColumnType::Of(DType::kBytes, {}))
      .Step("Decode", {"image"}, {"image"})
      .Step("Resize", {"image"}, {"image"}, {{"size", ir::IntValue(40)}})
      .Step("CenterCrop", {"image"}, {"image"}, {{"size", ir::IntValue(32)}})
      .Step("Normalize", {"image"}, {"image"},
            {{"mean", ir::FloatsValue({127.5, 127.5, 127.5})}, {"std", ir::FloatsValue({64, 64, 64})}})
      .Step("HWC2CHW", {"image"}, {"image"})
      .Bytes();
}

}  // namespace headrace::fixture
