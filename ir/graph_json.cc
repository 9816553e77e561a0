#include "ir/graph_json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.h"
#include "ir/graph_depth.h"
#include "ir/message_bytes.h"

namespace headrace::ir {
namespace {

using ParsedJson = nlohmann::json;

// A string or a number in JSON; what is not UTF-8 in a string is replaced.
std::string JsonOf(const ParsedJson& scalar) {
  return scalar.dump(-1, ' ', /*ensure_ascii=*/false, ParsedJson::error_handler_t::replace);
}

std::string RealToJson(double real) {
  if (std::isnan(real)) return "\"NaN\"";
  if (std::isinf(real)) return real > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return JsonOf(real);
}

std::string ScalarToJson(const WireValue& value, FieldType type) {
  switch (type) {
    case FieldType::kInt32:
      return std::to_string(static_cast<int32_t>(value.number));
    case FieldType::kUint32:
      return std::to_string(static_cast<uint32_t>(value.number));
    case FieldType::kInt64:
      return Cat("\"", static_cast<int64_t>(value.number), "\"");
    case FieldType::kUint64:
      return Cat("\"", value.number, "\"");
    case FieldType::kDouble:
      return RealToJson(std::bit_cast<double>(value.number));
    case FieldType::kBool:
      return value.number != 0 ? "true" : "false";
    case FieldType::kString:
      return JsonOf(std::string(value.bytes));
    case FieldType::kMessage:
      break;
  }
  return "null";
}

void BeginLine(std::string& json, size_t depth) {
  json += '\n';
  json.append(depth, ' ');
}

// `last`: the field before, of which `field` may be a further value; null: there is none.
void BeginValue(std::string& json, const FieldSchema& field, const FieldSchema* last, size_t depth) {
  if (last == &field) {
    json += ',';
  } else {
    if (last != nullptr) json += ',';
    BeginLine(json, depth);
    json += Cat("\"", field.name, "\": ", field.repeated ? "[" : "");
  }
  if (field.repeated) BeginLine(json, depth + 1);
}

void EndList(std::string& json, const FieldSchema* field, size_t depth) {
  if (field == nullptr || !field->repeated) return;
  BeginLine(json, depth);
  json += ']';
}

// `bytes` are those of SerializeGraph, in which the values of a field follow each other.
void AppendJson(std::string& json, std::string_view bytes, const MessageSchema& schema, size_t depth) {
  json += '{';
  const FieldSchema* last = nullptr;
  for (MessageReader reader(bytes, schema); reader.Next();) {
    const FieldSchema* const field = reader.field();
    if (field == nullptr) continue;
    if (field != last) EndList(json, last, depth + 1);
    BeginValue(json, *field, last, depth + 1);
    last = field;
    if (field->message != nullptr) {
      AppendJson(json, reader.value().bytes, *field->message, depth + (field->repeated ? 2 : 1));
    } else {
      json += ScalarToJson(reader.value(), field->type);
    }
  }
  EndList(json, last, depth + 1);
  if (last != nullptr) BeginLine(json, depth);
  json += '}';
}

std::optional<double> RealFromJson(const ParsedJson& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double real = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole && std::isfinite(real) ? std::optional(real) : std::nullopt;
}

// A whole number may be written as such, as 3.0, or in a string.
template <typename T>
std::optional<T> WholeFromJson(const ParsedJson& json) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    T whole = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    return error == std::errc() && stop == text.data() + text.size() ? std::optional(whole) : std::nullopt;
  }
  const auto in_range = [](auto number) { return std::in_range<T>(number) ? std::optional<T>(number) : std::nullopt; };
  if (json.is_number_unsigned()) return in_range(json.get<uint64_t>());
  if (json.is_number_integer()) return in_range(json.get<int64_t>());
  if (!json.is_number_float()) return std::nullopt;
  const double real = json.get<double>();
  constexpr double kExact = 0x1p53;
  return std::abs(real) <= kExact && std::trunc(real) == real ? in_range(static_cast<int64_t>(real)) : std::nullopt;
}

// Reads a message after the other, those within it, too: it keeps what is open itself.
class GraphJsonReader {
 public:
  absl::StatusOr<std::string> Read(const ParsedJson& json) {
    HEADRACE_RETURN_IF_ERROR(OpenMessage(json, GraphSchema()));
    while (!open_.empty()) HEADRACE_RETURN_IF_ERROR(ReadNext());
    return writer_.Take();
  }

 private:
  using Members = ParsedJson::const_iterator;

  // A message of which there may be more to read.
  struct Open {
    const MessageSchema* schema = nullptr;
    Members member;
    Members end;
    // How much of path_ is its own.
    size_t path = 0;
    // Its oneofs that have their field.
    std::vector<std::string_view> chosen = {};
    // The list of messages among its members that is being read; null: there is none.
    const FieldSchema* list = nullptr;
    Members item = {};
    Members end_of_list = {};
  };

  absl::Status Refuse(std::string_view why) const {
    return GraphError("this is not the JSON of a Headrace graph: ", path_.empty() ? "" : path_ + ": ", why);
  }
  absl::Status Wrong(const ParsedJson& json, std::string_view wanted) const {
    constexpr size_t kShown = 40;
    std::string shown = json.is_structured() ? json.type_name() : json.dump();
    if (shown.size() > kShown) shown = shown.substr(0, kShown) + "…";
    return Refuse(Cat("expected ", wanted, ", got ", shown));
  }

  static const FieldSchema* FindField(const MessageSchema& schema, std::string_view name) {
    const FieldSchema* field = schema.Find(name);
    for (const FieldSchema& other : schema.fields) {
      if (field == nullptr && other.camel_name == name) field = &other;
    }
    return field;
  }

  absl::Status OpenMessage(const ParsedJson& json, const MessageSchema& schema) {
    if (!json.is_object()) return Wrong(json, "an object");
    if (open_.size() == static_cast<size_t>(kDeepestMessage)) return Refuse("it is nested too deeply");
    open_.push_back({.schema = &schema, .member = json.begin(), .end = json.end(), .path = path_.size()});
    return absl::OkStatus();
  }

  absl::Status OpenField(const ParsedJson& json, const FieldSchema& field) {
    writer_.Begin(field);
    return OpenMessage(json, *field.message);
  }

  absl::Status ReadNext() {
    Open& open = open_.back();
    if (open.list != nullptr && open.item != open.end_of_list) return OpenField(*open.item++, *open.list);
    open.list = nullptr;
    path_.resize(open.path);
    if (open.member != open.end) {
      const Members member = open.member++;
      return member->is_null() ? absl::OkStatus() : ReadMember(member.key(), *member, open);
    }
    open_.pop_back();
    if (!open_.empty()) writer_.End();
    return absl::OkStatus();
  }

  absl::Status ReadMember(std::string_view name, const ParsedJson& json, Open& open) {
    Append(path_, path_.empty() ? "" : ".", name);
    const FieldSchema* const field = FindField(*open.schema, name);
    if (field == nullptr) return Refuse(Cat("no field of this name in ", open.schema->name));
    if (!field->choice.empty()) {
      const bool chosen = std::find(open.chosen.begin(), open.chosen.end(), field->choice) != open.chosen.end();
      if (chosen) return Refuse(Cat("a ", open.schema->name, " is one thing only"));
      open.chosen.push_back(field->choice);
    }
    if (!field->repeated) return field->message != nullptr ? OpenField(json, *field) : ReadScalar(json, *field);
    if (!json.is_array()) return Wrong(json, "a list");
    if (field->message != nullptr) {
      open.list = field;
      open.item = json.begin();
      open.end_of_list = json.end();
      return absl::OkStatus();
    }
    for (const ParsedJson& item : json) HEADRACE_RETURN_IF_ERROR(ReadScalar(item, *field));
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Put(std::optional<T> value, std::string_view wanted, const ParsedJson& json, const FieldSchema& field) {
    if (!value.has_value()) return Wrong(json, wanted);
    if constexpr (std::is_same_v<T, double>) {
      writer_.PutNumber(field, std::bit_cast<uint64_t>(*value));
    } else {
      writer_.PutNumber(field, static_cast<uint64_t>(*value));
    }
    return absl::OkStatus();
  }

  absl::Status ReadScalar(const ParsedJson& json, const FieldSchema& field) {
    constexpr std::string_view kWhole = "a whole number that fits";
    switch (field.type) {
      case FieldType::kInt32:
        return Put(WholeFromJson<int32_t>(json), kWhole, json, field);
      case FieldType::kUint32:
        return Put(WholeFromJson<uint32_t>(json), kWhole, json, field);
      case FieldType::kInt64:
        return Put(WholeFromJson<int64_t>(json), kWhole, json, field);
      case FieldType::kUint64:
        return Put(WholeFromJson<uint64_t>(json), kWhole, json, field);
      case FieldType::kDouble:
        return Put(RealFromJson(json), "a number", json, field);
      case FieldType::kBool:
        return Put(json.is_boolean() ? std::optional(json.get<bool>()) : std::nullopt, "true or false", json, field);
      case FieldType::kString:
        if (!json.is_string()) return Wrong(json, "a string");
        writer_.PutText(field, json.get_ref<const std::string&>());
        return absl::OkStatus();
      case FieldType::kMessage:
        break;
    }
    return Refuse("it is a message");
  }

  std::string path_;
  std::vector<Open> open_;
  MessageWriter writer_;
};

}  // namespace

std::string WriteJson(const proto::Graph& graph) {
  std::string json;
  AppendJson(json, SerializeGraph(graph), GraphSchema(), 0);
  return json;
}

absl::StatusOr<std::string> ReadJson(std::string_view json) {
  ParsedJson parsed;
  try {
    parsed = ParsedJson::parse(json);
  } catch (const ParsedJson::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …", or out_of_range.406 for 1e999
    const std::string_view what = error.what();
    return GraphError("this is not the JSON of a Headrace graph: ", what.substr(what.find("] ") + 2));
  }
  return GraphJsonReader().Read(parsed);
}

}  // namespace headrace::ir
