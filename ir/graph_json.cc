#include "ir/graph_json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "ir/graph.h"
#include "ir/graph_depth.h"
#include "ir/message_bytes.h"

namespace headrace::ir {
namespace {

// For writing, where fields keep their order. Its objects are lists, in which each name is searched.
using Json = nlohmann::ordered_json;
// For reading, where the names are somebody else's.
using ParsedJson = nlohmann::json;

Json RealToJson(double real) {
  if (std::isnan(real)) return "NaN";
  if (std::isinf(real)) return real > 0 ? "Infinity" : "-Infinity";
  return real;
}

Json MessageToJson(std::string_view bytes, const MessageSchema& schema);

Json ValueToJson(const WireValue& value, const FieldSchema& field) {
  switch (field.type) {
    case FieldType::kInt32:
      return static_cast<int32_t>(value.number);
    case FieldType::kUint32:
      return static_cast<uint32_t>(value.number);
    case FieldType::kInt64:
      return std::to_string(static_cast<int64_t>(value.number));
    case FieldType::kUint64:
      return std::to_string(value.number);
    case FieldType::kDouble:
      return RealToJson(std::bit_cast<double>(value.number));
    case FieldType::kBool:
      return value.number != 0;
    case FieldType::kString:
      return std::string(value.bytes);
    case FieldType::kMessage:
      return MessageToJson(value.bytes, *field.message);
  }
  return nullptr;
}

Json MessageToJson(std::string_view bytes, const MessageSchema& schema) {
  Json object = Json::object();
  for (MessageReader reader(bytes, schema); reader.Next();) {
    const FieldSchema* const field = reader.field();
    if (field == nullptr) continue;
    Json& member = object[field->name];
    if (field->repeated && member.is_null()) member = Json::array();
    reader.VisitValues([&](const WireValue& value) {
      if (field->repeated) {
        member.push_back(ValueToJson(value, *field));
      } else {
        member = ValueToJson(value, *field);
      }
    });
  }
  return object;
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

class Reader {
 public:
  absl::Status ReadMessage(const ParsedJson& json, const MessageSchema& schema) {
    if (!json.is_object()) return Wrong(json, "an object");
    if (depth_ == kDeepestMessage) return Refuse("it is nested too deeply");
    ++depth_;
    Chosen chosen;
    for (const auto& [name, value] : json.items()) {
      if (value.is_null()) continue;
      const size_t length = path_.size();
      Append(path_, path_.empty() ? "" : ".", name);
      HEADRACE_RETURN_IF_ERROR(ReadField(name, value, schema, chosen));
      path_.resize(length);
    }
    --depth_;
    return absl::OkStatus();
  }
  std::string Take() const { return writer_.Take(); }

 private:
  // The oneofs of a message that have their field.
  using Chosen = std::set<std::string_view>;

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

  absl::Status ReadField(std::string_view name, const ParsedJson& json, const MessageSchema& schema, Chosen& chosen) {
    const FieldSchema* const field = FindField(schema, name);
    if (field == nullptr) return Refuse(Cat("no field of this name in ", schema.name));
    if (!field->choice.empty() && !chosen.insert(field->choice).second) {
      return Refuse(Cat("a ", schema.name, " is one thing only"));
    }
    if (!field->repeated) return ReadValue(json, *field);
    if (!json.is_array()) return Wrong(json, "a list");
    for (const ParsedJson& item : json) HEADRACE_RETURN_IF_ERROR(ReadValue(item, *field));
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

  absl::Status ReadValue(const ParsedJson& json, const FieldSchema& field) {
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
    writer_.Begin(field);
    HEADRACE_RETURN_IF_ERROR(ReadMessage(json, *field.message));
    writer_.End();
    return absl::OkStatus();
  }

  std::string path_;
  int depth_ = 0;
  MessageWriter writer_;
};

}  // namespace

std::string WriteJson(const proto::Graph& graph) {
  const Json json = MessageToJson(SerializeGraph(graph), GraphSchema());
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
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
  Reader reader;
  HEADRACE_RETURN_IF_ERROR(reader.ReadMessage(parsed, GraphSchema()));
  return reader.Take();
}

}  // namespace headrace::ir
