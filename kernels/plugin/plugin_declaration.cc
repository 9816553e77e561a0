#include "kernels/plugin/plugin_declaration.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/utf8.h"
#include "kernels/plugin/plugin_struct.h"

namespace headrace {
namespace {

// Of version 1.0 of the interface.
constexpr size_t kFirstKernel = 104;
constexpr size_t kFirstAttribute = 88;
// Of version 1.1.
constexpr size_t kFirstSource = 88;
constexpr size_t kFirstFormat = 112;
static_assert(sizeof(headrace_kernel) == kFirstKernel && sizeof(headrace_attribute) == kFirstAttribute &&
                  sizeof(headrace_source) == kFirstSource && sizeof(headrace_format) == kFirstFormat,
              "structures may only grow at their ends");

// Parameters that every class of a kind has.
using Names = absl::Span<const char* const>;
constexpr std::array<const char*, 2> kOfKernels = {"seed", "name"};
constexpr std::array<const char*, 3> kOfSources = {"seed", "name", "shuffle"};
constexpr std::array<const char*, 8> kOfFormats = {"seed",   "name",       "shuffle",  "patterns",
                                                   "window", "interleave", "sharding", "split_bytes"};

// Words that a class cannot have as its name.
constexpr std::array<std::string_view, 3> kPythonValues = {"None", "True", "False"};
// What a name in Python's generated code must not be.
constexpr std::array<std::string_view, 39> kPythonWords = {
    "and",   "as",    "assert", "async",    "await", "break", "class",  "continue", "def",    "del",
    "elif",  "else",  "except", "finally",  "for",   "from",  "global", "if",       "import", "in",
    "super", "is",    "lambda", "nonlocal", "not",   "or",    "pass",   "raise",    "return", "self",
    "try",   "while", "with",   "yield",    "none",  "true",  "false",  "match",    "case"};

bool IsSmall(char c) { return c >= 'a' && c <= 'z'; }
bool IsLarge(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsClassName(std::string_view name) {
  return !name.empty() && IsLarge(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsSmall(c) || IsLarge(c) || IsDigit(c); }) &&
         std::count(kPythonValues.begin(), kPythonValues.end(), name) == 0;
}

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

std::optional<ir::AttributeType> TypeOf(int32_t type) {
  switch (type) {
    case HEADRACE_ATTRIBUTE_BOOL:
      return ir::AttributeType::kBool;
    case HEADRACE_ATTRIBUTE_INT:
      return ir::AttributeType::kInt;
    case HEADRACE_ATTRIBUTE_FLOAT:
      return ir::AttributeType::kFloat;
    case HEADRACE_ATTRIBUTE_TEXT:
      return ir::AttributeType::kString;
    case HEADRACE_ATTRIBUTE_INTS:
      return ir::AttributeType::kInts;
    case HEADRACE_ATTRIBUTE_FLOATS:
      return ir::AttributeType::kFloats;
    case HEADRACE_ATTRIBUTE_TEXTS:
      return ir::AttributeType::kStrings;
    case HEADRACE_ATTRIBUTE_DTYPE:
      return ir::AttributeType::kDType;
    default:
      return std::nullopt;
  }
}

bool IsInteger(int32_t type) { return type == HEADRACE_ATTRIBUTE_INT || type == HEADRACE_ATTRIBUTE_INTS; }

// Bounds are where the type has them, and those of whole numbers are numbers that a double has.
absl::Status CheckBounds(const headrace_attribute& attribute, std::string_view what) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const bool integer = IsInteger(attribute.type);
  if (integer && (attribute.minimum != 0 || attribute.maximum != 0)) {
    return UnsupportedError("sets minimum or maximum", what, "; those of whole numbers are integer_minimum and so on");
  }
  if (!integer && (attribute.integer_minimum != 0 || attribute.integer_maximum != 0)) {
    return UnsupportedError("sets integer_minimum or integer_maximum", what, ", whose numbers are not whole");
  }
  for (const int64_t bound : {attribute.integer_minimum, attribute.integer_maximum}) {
    if (bound < -kMost || bound > kMost) {
      return UnsupportedError("gives the bound ", bound, what, "; those from -2^53 to 2^53 are possible");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAttribute(const headrace_attribute& attribute, std::string_view op, Names taken) {
  HEADRACE_RETURN_IF_ERROR(CheckText(attribute.name, true, Cat("name for an attribute of ", op)));
  const std::string_view name = attribute.name;
  if (!IsPythonName(name) || std::count(taken.begin(), taken.end(), name) > 0) {
    return UnsupportedError("names an attribute of ", op, " \"", name,
                            "\"; names have small letters, digits and _, and are no words of Python's, nor ",
                            absl::StrJoin(taken, ", "));
  }
  const std::string what = Cat(" of the attribute ", name, " of ", op);
  HEADRACE_RETURN_IF_ERROR(CheckText(attribute.doc, true, Cat("doc", what)));
  HEADRACE_RETURN_IF_ERROR(CheckText(attribute.default_value, false, Cat("default", what)));
  for (const char* const* choice = attribute.choices; choice != nullptr && *choice != nullptr; ++choice) {
    HEADRACE_RETURN_IF_ERROR(CheckText(*choice, true, Cat("choice", what)));
  }
  if (!TypeOf(attribute.type).has_value()) {
    return UnsupportedError("gives type ", attribute.type, what, ", not a headrace_attribute_type");
  }
  constexpr uint64_t kKnown =
      HEADRACE_NULLABLE | HEADRACE_HAS_MINIMUM | HEADRACE_HAS_MAXIMUM | HEADRACE_EXCLUSIVE_MINIMUM | HEADRACE_BROADCAST;
  if ((attribute.flags & ~kKnown) != 0) {
    return UnsupportedError("gives flags", what, " that this Headrace does not know: ", attribute.flags & ~kKnown);
  }
  return CheckBounds(attribute, what);
}

// What kernels, sources and formats have in common.
template <typename Struct>
absl::Status CheckTexts(const Struct& given, std::string_view op) {
  HEADRACE_RETURN_IF_ERROR(CheckText(given.summary, true, Cat("summary of ", op)));
  HEADRACE_RETURN_IF_ERROR(CheckText(given.doc, false, Cat("doc of ", op)));
  HEADRACE_RETURN_IF_ERROR(CheckText(given.example, false, Cat("example of ", op)));
  if (given.version == 0 || given.version > std::numeric_limits<int>::max()) {
    return UnsupportedError("gives version ", given.version, " of ", op, "; versions count from 1");
  }
  return absl::OkStatus();
}

absl::Status CheckTraits(uint64_t given, uint64_t known, std::string_view op) {
  if ((given & ~known) == 0) return absl::OkStatus();
  return UnsupportedError("gives traits of ", op, " that this Headrace does not know: ", given & ~known);
}

absl::Status CheckKernel(const headrace_kernel& kernel, std::string_view op) {
  if (kernel.infer == nullptr) return UnsupportedError("gives no infer() of ", op);
  if (kernel.apply == nullptr) return UnsupportedError("gives no apply() of ", op);
  if (kernel.least_inputs == 0 || kernel.most_inputs < kernel.least_inputs) {
    return UnsupportedError("says that ", op, " takes ", kernel.least_inputs, " to ", kernel.most_inputs,
                            " columns; it must take at least one");
  }
  if (kernel.outputs == 0 || kernel.outputs > 1000) {
    return UnsupportedError("says that ", op, " gives ", kernel.outputs, " columns; 1 to 1,000 are possible");
  }
  if (kernel.reserved != 0) return UnsupportedError("sets the reserved field of ", op, " to ", kernel.reserved);
  constexpr uint64_t kKnown = HEADRACE_RANDOM | HEADRACE_NOT_DETERMINISTIC | HEADRACE_BY_BATCH | HEADRACE_POINTWISE;
  HEADRACE_RETURN_IF_ERROR(CheckTraits(kernel.traits, kKnown, op));
  const bool pointwise = (kernel.traits & HEADRACE_POINTWISE) != 0;
  if (!pointwise || (kernel.traits == HEADRACE_POINTWISE && kernel.most_inputs == 1)) return absl::OkStatus();
  return UnsupportedError("gives ", op, " HEADRACE_POINTWISE, which is for kernels of one column without other traits");
}

absl::Status CheckSource(const headrace_source& source, std::string_view op) {
  if (source.columns == nullptr) return UnsupportedError("gives no columns() of ", op);
  if (source.open == nullptr) return UnsupportedError("gives no open() of ", op);
  if (source.read == nullptr) return UnsupportedError("gives no read() of ", op);
  return CheckTraits(source.traits, HEADRACE_NOT_DETERMINISTIC | HEADRACE_WAITS, op);
}

absl::Status CheckFormat(const headrace_format& format, std::string_view op) {
  if (format.columns == nullptr) return UnsupportedError("gives no columns() of ", op);
  if (format.open == nullptr) return UnsupportedError("gives no open() of ", op);
  if (format.next == nullptr) return UnsupportedError("gives no next() of ", op);
  return CheckTraits(format.traits, 0, op);
}

// What one kind of operator has of its own.
template <typename Struct>
struct Kind {
  std::string_view name;  // "kernel"
  size_t first_size;
  Names taken;
  absl::Status (*check)(const Struct& given, std::string_view op);
};

template <typename Struct>
absl::StatusOr<PluginTable<Struct>> ReadTable(const Kind<Struct>& kind, std::string_view plugin, const Struct* given) {
  PluginTable<Struct> table;
  HEADRACE_ASSIGN_OR_RETURN(table.given, ReadStruct(given, kind.first_size, Cat("headrace_", kind.name)));
  const char* const name = table.given.name;
  HEADRACE_RETURN_IF_ERROR(CheckText(name, true, Cat("name for a ", kind.name)));
  if (!IsClassName(name)) {
    return UnsupportedError("names a ", kind.name, " \"", name,
                            "\"; names have letters and digits, begin with a large letter, and are no words of "
                            "Python's");
  }
  table.op = Cat(plugin, ".", name);
  HEADRACE_RETURN_IF_ERROR(CheckTexts(table.given, table.op));
  for (auto each = table.given.attributes; each != nullptr && *each != nullptr; ++each) {
    HEADRACE_ASSIGN_OR_RETURN(const headrace_attribute attribute,
                              ReadStruct(*each, kFirstAttribute, "headrace_attribute"));
    HEADRACE_RETURN_IF_ERROR(CheckAttribute(attribute, table.op, kind.taken));
    table.attributes.push_back(attribute);
  }
  HEADRACE_RETURN_IF_ERROR(kind.check(table.given, table.op));
  return table;
}

ir::Attribute AttributeOf(const headrace_attribute& given) {
  ir::Attribute attribute{.name = given.name, .type = *TypeOf(given.type), .doc = given.doc};
  if (given.default_value != nullptr) attribute.default_value = given.default_value;
  attribute.nullable = (given.flags & HEADRACE_NULLABLE) != 0;
  const bool integer = IsInteger(given.type);
  if ((given.flags & HEADRACE_HAS_MINIMUM) != 0) {
    attribute.minimum = integer ? static_cast<double>(given.integer_minimum) : given.minimum;
  }
  if ((given.flags & HEADRACE_HAS_MAXIMUM) != 0) {
    attribute.maximum = integer ? static_cast<double>(given.integer_maximum) : given.maximum;
  }
  attribute.exclusive_minimum = (given.flags & HEADRACE_EXCLUSIVE_MINIMUM) != 0;
  attribute.broadcast = (given.flags & HEADRACE_BROADCAST) != 0;
  for (const char* const* choice = given.choices; choice != nullptr && *choice != nullptr; ++choice) {
    attribute.choices.emplace_back(*choice);
  }
  for (const int32_t* length = given.lengths; length != nullptr && *length != 0; ++length) {
    attribute.lengths.push_back(*length);
  }
  return attribute;
}

}  // namespace

absl::Status CheckText(const char* text, bool required, std::string_view what) {
  if (text == nullptr || *text == 0) {
    return required ? UnsupportedError("gives no ", what) : absl::OkStatus();
  }
  return IsUtf8(text) ? absl::OkStatus() : UnsupportedError("gives a ", what, " that is not UTF-8");
}

bool IsPythonName(std::string_view name) {
  return !name.empty() && IsSmall(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsSmall(c) || IsDigit(c) || c == '_'; }) &&
         std::count(kPythonWords.begin(), kPythonWords.end(), name) == 0;
}

absl::StatusOr<PluginKernelTable> ReadKernel(std::string_view plugin, const headrace_kernel* given) {
  return ReadTable({"kernel", kFirstKernel, kOfKernels, CheckKernel}, plugin, given);
}

absl::StatusOr<PluginSourceTable> ReadSource(std::string_view plugin, const headrace_source* given) {
  return ReadTable({"source", kFirstSource, kOfSources, CheckSource}, plugin, given);
}

absl::StatusOr<PluginFormatTable> ReadFormat(std::string_view plugin, const headrace_format* given) {
  return ReadTable({"format", kFirstFormat, kOfFormats, CheckFormat}, plugin, given);
}

namespace {

// What kernels, sources and formats declare alike.
template <typename Struct>
ir::Declaration Named(std::string_view plugin, const PluginTable<Struct>& table) {
  const Struct& given = table.given;
  ir::Declaration declaration{.name = table.op,
                              .version = static_cast<int>(given.version),
                              .summary = given.summary,
                              .doc = TextOf(given.doc),
                              .python_module = std::string(plugin),
                              .python_name = given.name,
                              .example = TextOf(given.example)};
  for (const headrace_attribute& attribute : table.attributes) declaration.attributes.push_back(AttributeOf(attribute));
  return declaration;
}

template <typename Struct>
ir::Declaration NamedSource(std::string_view plugin, const PluginTable<Struct>& table) {
  ir::Declaration declaration = Named(plugin, table);
  declaration.role = ir::Role::kSource;
  declaration.min_inputs = declaration.max_inputs = 0;
  return declaration;
}

}  // namespace

ir::Declaration DeclarationOf(std::string_view plugin, const PluginKernelTable& table) {
  const headrace_kernel& kernel = table.given;
  ir::Declaration declaration = Named(plugin, table);
  declaration.min_inputs = static_cast<int>(kernel.least_inputs);
  constexpr uint32_t kMost = std::numeric_limits<int>::max();
  declaration.max_inputs = kernel.most_inputs > kMost ? -1 : static_cast<int>(kernel.most_inputs);
  declaration.traits.random = (kernel.traits & HEADRACE_RANDOM) != 0;
  declaration.traits.deterministic = (kernel.traits & HEADRACE_NOT_DETERMINISTIC) == 0;
  declaration.traits.by_batch = (kernel.traits & HEADRACE_BY_BATCH) != 0;
  return declaration;
}

ir::Declaration DeclarationOf(std::string_view plugin, const PluginSourceTable& table) {
  ir::Declaration declaration = NamedSource(plugin, table);
  declaration.traits = {.deterministic = (table.given.traits & HEADRACE_NOT_DETERMINISTIC) == 0,
                        .indexed = true,
                        .file_io = (table.given.traits & HEADRACE_WAITS) != 0};
  return declaration;
}

ir::Declaration DeclarationOf(std::string_view plugin, const PluginFormatTable& table) {
  ir::Declaration declaration = NamedSource(plugin, table);
  declaration.traits = {.random = true, .file_io = true};
  return declaration;
}

}  // namespace headrace
