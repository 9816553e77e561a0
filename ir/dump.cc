#include "ir/dump.h"

#include "absl/strings/str_join.h"
#include "core/text.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

template <typename Attributes>
std::string AttributesText(const Attributes& attributes, std::string_view separator) {
  std::string text;
  for (const proto::Attribute& attribute : attributes) {
    Append(text, text.empty() ? "" : separator, attribute.name(), "=", ValueText(attribute.value()));
  }
  return text;
}

std::string InputsText(const proto::Node& node) {
  return absl::StrJoin(node.inputs(), ", ", [](std::string* out, uint32_t input) { Append(*out, "#", input); });
}

std::string SaltText(uint64_t salt) { return salt == 0 ? "" : Cat("  salt ", salt); }

std::string CachePointsText(uint32_t points) { return points == 0 ? "" : Cat("  cache points ", points); }

std::string StepLine(const proto::Step& step) {
  const std::string attributes = AttributesText(step.attributes(), ", ");
  const std::string fused = step.fused() == 0 ? std::string() : Cat("  fused ", step.fused());
  return Cat(absl::StrJoin(step.outputs(), ", "), " = ", step.kernel(), "(", absl::StrJoin(step.inputs(), ", "),
             attributes.empty() || step.inputs().empty() ? "" : "; ", attributes, ")", SaltText(step.salt()), fused);
}

std::string DotText(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

std::string DotLabel(const proto::Node& node) {
  std::string label = Cat(DotText(node.op()), "\\l");
  for (const proto::Attribute& attribute : node.attributes()) {
    Append(label, DotText(Cat("  ", attribute.name(), " = ", ValueText(attribute.value()))), "\\l");
  }
  for (const proto::Step& step : node.steps()) Append(label, DotText(Cat("  ", StepLine(step))), "\\l");
  return label;
}

}  // namespace

std::string StepText(const proto::Step& step) {
  return Cat(step.kernel(), "(", AttributesText(step.attributes(), ", "), ")");
}

std::string NodeText(const proto::Node& node) {
  return Cat(node.op(), "(", AttributesText(node.attributes(), ", "), ")");
}

std::string GraphDump(const proto::Graph& graph) {
  std::string text;
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const proto::Node& node = graph.nodes(i);
    const std::string inputs = InputsText(node);
    const std::string attributes = AttributesText(node.attributes(), ", ");
    Append(text, "#", i, "  ", node.op(), "(", inputs, inputs.empty() || attributes.empty() ? "" : ", ", attributes,
           ")", SaltText(node.salt()), CachePointsText(node.cache_points()), node.grouped() ? "  grouped" : "", "\n");
    for (const proto::Step& step : node.steps()) Append(text, "      ", StepLine(step), "\n");
  }
  if (graph.has_skip_failed()) Append(text, "on_error skip, max_errors=", graph.skip_failed().max_errors(), "\n");
  return text;
}

std::string ToDot(const proto::Graph& graph) {
  std::string text = "digraph headrace {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\"];\n";
  for (int i = 0; i < graph.nodes_size(); ++i) {
    Append(text, "  n", i, " [label=\"", DotLabel(graph.nodes(i)), "\"];\n");
    for (const uint32_t input : graph.nodes(i).inputs()) Append(text, "  n", input, " -> n", i, ";\n");
  }
  return text + "}\n";
}

}  // namespace headrace::ir
