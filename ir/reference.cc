#include "ir/reference.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/text.h"
#include "ir/attribute_types.h"
#include "ir/attributes.h"
#include "ir/front_module.h"
#include "ir/graph.pb.h"
#include "ir/passes.h"
#include "ir/value.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

std::string Quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      Append(result, "\\u", absl::Hex(byte, absl::kZeroPad4));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string Bool(bool value) { return value ? "true" : "false"; }

std::string Number(const std::optional<double>& value) {
  if (!value.has_value() || !std::isfinite(*value)) return "null";
  const bool whole = std::floor(*value) == *value && std::abs(*value) < 1e15;
  return whole ? std::to_string(static_cast<int64_t>(*value)) : FloatText(*value);
}

// One object or list, with one member per line or all in one line.
std::string Object(const std::vector<std::pair<std::string, std::string>>& members) {
  const auto member = [](std::string* out, const auto& pair) { Append(*out, Quoted(pair.first), ": ", pair.second); };
  return Cat("{", absl::StrJoin(members, ", ", member), "}");
}

std::string List(const std::vector<std::string>& items) { return Cat("[", absl::StrJoin(items, ", "), "]"); }

std::string Lines(const std::vector<std::string>& items, std::string_view indent) {
  if (items.empty()) return "[]";
  const std::string separator = Cat(",\n", indent);
  return Cat("[\n", indent, absl::StrJoin(items, separator), "]");
}

// The fewest and the most elements; the most is null if any number is allowed.
std::string LengthJson(const ListLength& length) {
  const bool bounded = length.most < ListLength::kAnyNumber;
  return List({std::to_string(length.least), bounded ? std::to_string(length.most) : "null"});
}

std::string AttributeJson(const Attribute& attribute) {
  const AttributeTypeFacts type = FactsOf(attribute.type);
  std::vector<std::string> choices;
  for (const std::string& choice : attribute.choices) choices.push_back(Quoted(choice));
  std::vector<std::string> lengths;
  for (const int length : attribute.lengths) lengths.push_back(std::to_string(length));
  return Object({{"name", Quoted(attribute.name)},
                 {"type", Quoted(type.id)},
                 {"python_type", Quoted(type.python)},
                 {"doc", Quoted(attribute.doc)},
                 {"default", attribute.default_value.has_value() ? Quoted(*attribute.default_value) : "null"},
                 {"nullable", Bool(attribute.nullable)},
                 {"minimum", Number(attribute.minimum)},
                 {"maximum", Number(attribute.maximum)},
                 {"exclusive_minimum", Bool(attribute.exclusive_minimum)},
                 {"choices", List(choices)},
                 {"lengths", List(lengths)},
                 {"length", attribute.length.has_value() ? LengthJson(*attribute.length) : "null"},
                 {"broadcast", Bool(attribute.broadcast)},
                 {"tuning", Bool(attribute.tuning)},
                 {"path", Bool(attribute.path)},
                 {"hidden", Bool(attribute.hidden)}});
}

std::string TraitsJson(const Traits& traits) {
  return Object({{"random", Bool(traits.random)},
                 {"deterministic", Bool(traits.deterministic)},
                 {"one_to_one", Bool(traits.one_to_one)},
                 {"decodes", Bool(traits.decodes)},
                 {"geometric", Bool(traits.geometric)},
                 {"layout", Bool(traits.layout)},
                 {"leaves_places", Bool(traits.leaves_places)},
                 {"pointwise", Bool(traits.pointwise)},
                 {"per_pixel", Bool(traits.per_pixel)},
                 {"casts", Bool(traits.casts)},
                 {"indexed", Bool(traits.indexed)},
                 {"file_io", Bool(traits.file_io)},
                 {"python", Bool(traits.python)},
                 {"light", Bool(traits.light)},
                 {"by_position", Bool(traits.by_position)},
                 {"selects", Bool(traits.selects)},
                 {"one_to_many", Bool(traits.one_to_many)},
                 {"single_row_messages", Bool(traits.single_row_messages)},
                 {"repeats", Bool(traits.repeats)},
                 {"side_by_side", Bool(traits.side_by_side)},
                 {"reorders", Bool(traits.reorders)},
                 {"by_number", Bool(traits.by_number)},
                 {"stands_for_attribute", Bool(traits.stands_for_attribute)},
                 {"joins_rows", Bool(traits.joins_rows)},
                 {"by_batch", Bool(traits.by_batch)},
                 {"keeps_classes", Bool(traits.keeps_classes)}});
}

std::string SampleJson(const Sample& sample) {
  std::vector<std::string> inputs;
  for (const SampleInput input : sample.inputs) inputs.push_back(Quoted(SampleInputName(input)));
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& [name, value] : sample.attributes) attributes.emplace_back(name, Quoted(value));
  return Object({{"attributes", Object(attributes)}, {"inputs", List(inputs)}});
}

// Of a kernel, as it infers them of inputs of unknown types: as many as its sample has, or as it takes at least.
std::optional<size_t> OutputCount(const Declaration& kernel) {
  if (kernel.infer_kernel == nullptr) return std::nullopt;
  Attributes attributes;
  for (Attribute attribute : kernel.attributes) {
    for (const auto& [name, text] : kernel.sample.attributes) {
      if (name == attribute.name) attribute.default_value = text;
    }
    absl::StatusOr<proto::Value> value = DefaultValue(attribute);
    if (!value.ok()) return std::nullopt;
    attributes.Set(attribute.name, *std::move(value));
  }
  const size_t inputs = std::max(kernel.sample.inputs.size(), static_cast<size_t>(kernel.min_inputs));
  const auto outputs = kernel.infer_kernel(attributes, std::vector<ColumnType>(inputs));
  return outputs.ok() ? std::make_optional(outputs->size()) : std::nullopt;
}

// With what is true of every kernel that takes clips.
std::string DocOf(const Declaration& declaration) {
  std::string doc = declaration.doc;
  if (declaration.OfClips() != Clips::kByFrame) return doc;
  const size_t errors = std::min(doc.find("\nErrors:"), doc.size());
  return doc.insert(errors, Cat(" A clip, (T, H, W, C), is taken frame by frame",
                                declaration.traits.random ? ", with the draws of one image." : "."));
}

std::string PythonJson(const PythonSignature& python) {
  if (python.parameters.empty()) return "null";
  std::vector<std::pair<std::string, std::string>> docs;
  for (const auto& [name, doc] : python.docs) docs.emplace_back(name, doc.empty() ? "null" : Quoted(doc));
  return Object({{"parameters", Quoted(python.parameters)},
                 {"docs", Object(docs)},
                 {"returns", Quoted(python.returns.empty() ? "Dataset" : python.returns)}});
}

std::string CompanionsJson(const Declaration& declaration) {
  std::vector<std::pair<std::string, std::string>> companions;
  for (const auto& [role, name] : declaration.companions) {
    companions.emplace_back(CompanionRoleName(role), Quoted(name));
  }
  return Object(companions);
}

std::string DeclarationJson(const Declaration& declaration) {
  std::vector<std::string> attributes;
  for (const Attribute& attribute : declaration.attributes) attributes.push_back(AttributeJson(attribute));
  const std::optional<size_t> outputs = OutputCount(declaration);
  const std::string most = declaration.max_inputs < 0 ? "null" : std::to_string(declaration.max_inputs);
  return Object({{"name", Quoted(declaration.name)},
                 {"version", std::to_string(declaration.version)},
                 {"role", Quoted(RoleName(declaration.role))},
                 {"summary", Quoted(declaration.summary)},
                 {"doc", Quoted(DocOf(declaration))},
                 {"python_module", Quoted(declaration.python_module)},
                 {"python_name", Quoted(declaration.python_name.empty() ? declaration.name : declaration.python_name)},
                 {"python", PythonJson(declaration.python)},
                 {"example", Quoted(declaration.example)},
                 {"sample", SampleJson(declaration.sample)},
                 {"inputs", Object({{"least", std::to_string(declaration.min_inputs)}, {"most", most}})},
                 {"companions", CompanionsJson(declaration)},
                 {"clips", Quoted(ClipsName(declaration.OfClips()))},
                 {"target_work", Quoted(TargetWorkName(declaration.target_work))},
                 {"doubts", Bool(declaration.doubt != nullptr)},
                 {"chooses", Bool(declaration.branching != nullptr)},
                 {"outputs", outputs.has_value() ? std::to_string(*outputs) : "null"},
                 {"attributes", Lines(attributes, "      ")},
                 {"traits", TraitsJson(declaration.traits)}});
}

std::string FrontModuleJson(const FrontModule& module) {
  return Object({{"name", Quoted(module.name)},
                 {"prefix", Quoted(module.prefix)},
                 {"title", Quoted(module.title)},
                 {"doc", Quoted(module.doc)},
                 {"kernels", Bool(module.has_kernels())},
                 {"sample", module.has_kernels() ? Quoted(SampleInputName(module.sample)) : "null"},
                 {"images", Bool(module.images)}});
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kKernel:
      return "kernel";
    case Role::kSource:
      return "source";
    case Role::kRow:
      return "row";
    case Role::kStream:
      return "stream";
  }
  return "?";
}

std::string DeclarationsJson(const Registry& registry) {
  std::vector<std::string> operators;
  for (const Declaration* declaration : registry.All()) operators.push_back(DeclarationJson(*declaration));
  std::vector<std::string> modules;
  for (const FrontModule& module : FrontModules()) modules.push_back(FrontModuleJson(module));
  std::vector<std::string> passes;
  for (const Pass& pass : AllPasses()) {
    passes.push_back(
        Object({{"name", Quoted(pass.name)}, {"doc", Quoted(pass.doc)}, {"details", Quoted(pass.details)}}));
  }
  return Cat("{\"format\": 1,\n  \"modules\": ", Lines(modules, "    "),
             ",\n  \"operators\": ", Lines(operators, "    "), ",\n  \"passes\": ", Lines(passes, "    "), "}\n");
}

}  // namespace headrace::ir
