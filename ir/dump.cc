#include "ir/dump.h"

#include "absl/strings/str_join.h"
#include "core/printable.h"
#include "core/text.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"
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
  return Printable(Cat(absl::StrJoin(step.outputs(), ", "), " = ", step.kernel(), "(",
                       absl::StrJoin(step.inputs(), ", "), attributes.empty() || step.inputs().empty() ? "" : "; ",
                       attributes, ")", SaltText(step.salt()), fused));
}

// A line for each step, with those of its branches below it.
template <typename Add>
void AddStepLines(const Steps& steps, const std::string& indent, const Add& add) {
  for (const proto::Step& step : steps) {
    add(indent + StepLine(step));
    for (int i = 0; i < step.branches_size(); ++i) {
      const bool several = step.branches_size() > 1;
      if (several) add(Cat(indent, "  branch ", i + 1, ":"));
      AddStepLines(step.branches(i).steps(), indent + (several ? "    " : "  "), add);
    }
  }
}

// In a label's quotes, of a text of one line.
std::string DotText(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string DotLabel(const proto::Node& node) {
  std::string label = Cat(DotText(Printable(node.op())), "\\l");
  for (const proto::Attribute& attribute : node.attributes()) {
    Append(label, DotText(Cat("  ", Printable(attribute.name()), " = ", ValueText(attribute.value()))), "\\l");
  }
  AddStepLines(node.steps(), "  ", [&](const std::string& line) { Append(label, DotText(line), "\\l"); });
  return label;
}

}  // namespace

std::string StepText(const proto::Step& step) {
  std::string text = Cat(step.kernel(), "(", AttributesText(step.attributes(), ", "), ")");
  for (const proto::Branch& branch : step.branches()) {
    Append(text, " [",
           absl::StrJoin(branch.steps(), ", ",
                         [](std::string* out, const proto::Step& nested) { *out += StepText(nested); }),
           "]");
  }
  return Printable(text);
}

std::string NodeText(const proto::Node& node) {
  return Printable(Cat(node.op(), "(", AttributesText(node.attributes(), ", "), ")"));
}

std::string GraphDump(const proto::Graph& graph) {
  std::string text;
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const proto::Node& node = graph.nodes(i);
    const std::string inputs = InputsText(node);
    const std::string attributes = AttributesText(node.attributes(), ", ");
    Append(text, "#", i, "  ", Printable(node.op()), "(", inputs, inputs.empty() || attributes.empty() ? "" : ", ",
           Printable(attributes), ")", SaltText(node.salt()), CachePointsText(node.cache_points()),
           node.grouped() ? "  grouped" : "", "\n");
    AddStepLines(node.steps(), "      ", [&](const std::string& line) { Append(text, line, "\n"); });
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
