#include "engine/serve/testing/request_graph.h"

#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/row_ops/input.h"
#include "ir/value.h"

namespace headrace {
namespace {

template <typename Operator>
void SetAttributes(const RequestGraph::Given& given, Operator& op) {
  for (const auto& [name, value] : given) {
    ir::proto::Attribute& attribute = *op.add_attributes();
    attribute.set_name(name);
    *attribute.mutable_value() = value;
  }
}

}  // namespace

RequestGraph::RequestGraph(const ir::Schema& inputs) {
  graph_.set_format(ir::kFormat);
  Add(ir::kInputOp, {{std::string(ir::kInputColumns), ir::ColumnsValue(inputs)}});
}

RequestGraph& RequestGraph::Add(std::string_view op, const Given& attributes) {
  const int above = graph_.nodes_size();
  ir::proto::Node& node = *graph_.add_nodes();
  node.set_op(std::string(op));
  if (above > 0) node.add_inputs(static_cast<uint32_t>(above - 1));
  node.mutable_location()->set_file("serve.py");
  node.mutable_location()->set_line(above + 1);
  SetAttributes(attributes, node);
  return *this;
}

RequestGraph& RequestGraph::Map() { return Add(ir::kMapOp); }

RequestGraph& RequestGraph::Step(std::string_view kernel, std::vector<std::string> columns, const Given& attributes) {
  return Step(kernel, columns, columns, attributes);
}

RequestGraph& RequestGraph::Step(std::string_view kernel, std::vector<std::string> inputs,
                                 std::vector<std::string> outputs, const Given& attributes) {
  ir::proto::Step& step = *graph_.mutable_nodes(graph_.nodes_size() - 1)->add_steps();
  step.set_kernel(std::string(kernel));
  for (const std::string& input : inputs) step.add_inputs(input);
  for (const std::string& output : outputs) step.add_outputs(output);
  SetAttributes(attributes, step);
  return *this;
}

ir::proto::Step StepOf(std::string_view kernel, const RequestGraph::Given& attributes,
                       const std::vector<std::string>& columns) {
  ir::proto::Step step;
  step.set_kernel(std::string(kernel));
  for (const ir::Attribute& attribute : ir::Registry::Global().Find(kernel)->attributes) {
    ir::proto::Attribute& written = *step.add_attributes();
    written.set_name(attribute.name);
    for (const auto& [name, value] : attributes) {
      if (name != attribute.name) continue;
      ir::proto::Value fitted = value;
      ir::FitValue(attribute, fitted);
      *written.mutable_value() = fitted;
    }
    if (!written.has_value()) *written.mutable_value() = *ir::DefaultValue(attribute);
  }
  for (const std::string& column : columns) {
    step.add_inputs(column);
    step.add_outputs(column);
  }
  return step;
}

}  // namespace headrace
