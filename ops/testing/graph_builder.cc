#include "ops/testing/graph_builder.h"

#include "core/error.h"
#include "ir/canonical.h"
#include "ir/graph.pb.h"
#include "ir/validate.h"

namespace headrace {
namespace {

template <typename Operator>
void SetAttributes(const GraphBuilder::Given& attributes, Operator& op) {
  for (const auto& [name, value] : attributes) {
    ir::proto::Attribute* attribute = op.add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
}

}  // namespace

uint32_t GraphBuilder::Add(std::string_view op, std::vector<uint32_t> inputs, const Given& attributes) {
  ir::proto::Node* node = graph_.add_nodes();
  node->set_op(std::string(op));
  node->mutable_inputs()->Add(inputs.begin(), inputs.end());
  SetAttributes(attributes, *node);
  node->mutable_location()->set_file("test.py");
  node->mutable_location()->set_line(graph_.nodes_size());
  return static_cast<uint32_t>(graph_.nodes_size() - 1);
}

GraphBuilder& GraphBuilder::Step(std::string_view kernel, std::vector<std::string> inputs,
                                 std::vector<std::string> outputs, const Given& attributes) {
  ir::proto::Step* step = LastSteps().Add();
  step->set_kernel(std::string(kernel));
  step->mutable_inputs()->Add(inputs.begin(), inputs.end());
  step->mutable_outputs()->Add(outputs.begin(), outputs.end());
  SetAttributes(attributes, *step);
  return *this;
}

ir::Steps& GraphBuilder::LastSteps() {
  return open_.empty() ? *graph_.mutable_nodes()->rbegin()->mutable_steps() : *open_.back()->mutable_steps();
}

GraphBuilder& GraphBuilder::Branch() {
  open_.push_back(LastSteps().rbegin()->add_branches());
  return *this;
}

GraphBuilder& GraphBuilder::End() {
  open_.pop_back();
  return *this;
}

absl::StatusOr<ir::proto::Graph> GraphBuilder::Build() const {
  ir::proto::Graph graph = graph_;
  HEADRACE_RETURN_IF_ERROR(ir::Canonicalize(graph));
  HEADRACE_RETURN_IF_ERROR(ir::Validate(graph));
  return graph;
}

}  // namespace headrace
