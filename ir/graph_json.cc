#include "ir/graph_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"

namespace headrace::ir {
namespace {

namespace pb = google::protobuf;
// For writing, where fields keep their order. Its objects are lists, in which each name is searched.
using Json = nlohmann::ordered_json;
// For reading, where the names are somebody else's.
using ParsedJson = nlohmann::json;
using Type = pb::FieldDescriptor::CppType;

Json RealToJson(double real) {
  if (std::isnan(real)) return "NaN";
  if (std::isinf(real)) return real > 0 ? "Infinity" : "-Infinity";
  return real;
}

Json MessageToJson(const pb::Message& message);

// One value of a field; `index` for a repeated one.
Json ValueToJson(const pb::Message& message, const pb::FieldDescriptor* field, std::optional<int> index) {
  const pb::Reflection& from = *message.GetReflection();
  const auto get = [&](auto single, auto repeated) -> decltype(auto) {
    return index.has_value() ? (from.*repeated)(message, field, *index) : (from.*single)(message, field);
  };
  using R = pb::Reflection;
  switch (field->cpp_type()) {
    case Type::CPPTYPE_INT32:
      return get(&R::GetInt32, &R::GetRepeatedInt32);
    case Type::CPPTYPE_UINT32:
      return get(&R::GetUInt32, &R::GetRepeatedUInt32);
    case Type::CPPTYPE_INT64:
      return std::to_string(get(&R::GetInt64, &R::GetRepeatedInt64));
    case Type::CPPTYPE_UINT64:
      return std::to_string(get(&R::GetUInt64, &R::GetRepeatedUInt64));
    case Type::CPPTYPE_DOUBLE:
      return RealToJson(get(&R::GetDouble, &R::GetRepeatedDouble));
    case Type::CPPTYPE_BOOL:
      return get(&R::GetBool, &R::GetRepeatedBool);
    case Type::CPPTYPE_STRING:
      return get(&R::GetString, &R::GetRepeatedString);
    case Type::CPPTYPE_MESSAGE:
      return MessageToJson(index.has_value() ? from.GetRepeatedMessage(message, field, *index)
                                             : from.GetMessage(message, field));
    default:
      return nullptr;  // graph.proto has no others
  }
}

Json MessageToJson(const pb::Message& message) {
  std::vector<const pb::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  Json object = Json::object();
  for (const pb::FieldDescriptor* field : fields) {
    Json& member = object[field->name()];
    if (!field->is_repeated()) {
      member = ValueToJson(message, field, std::nullopt);
      continue;
    }
    member = Json::array();
    const int size = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < size; ++i) member.push_back(ValueToJson(message, field, i));
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
  absl::Status ReadMessage(const ParsedJson& json, pb::Message& message) {
    if (!json.is_object()) return Wrong(json, "an object");
    if (depth_ == kDeepestMessage) return Refuse("it is nested too deeply");
    ++depth_;
    for (const auto& [name, value] : json.items()) {
      if (value.is_null()) continue;
      const size_t length = path_.size();
      Append(path_, path_.empty() ? "" : ".", name);
      HEADRACE_RETURN_IF_ERROR(ReadField(name, value, message));
      path_.resize(length);
    }
    --depth_;
    return absl::OkStatus();
  }

 private:
  absl::Status Refuse(std::string_view why) const {
    return GraphError("this is not the JSON of a Headrace graph: ", path_.empty() ? "" : path_ + ": ", why);
  }
  absl::Status Wrong(const ParsedJson& json, std::string_view wanted) const {
    constexpr size_t kShown = 40;
    std::string shown = json.is_structured() ? json.type_name() : json.dump();
    if (shown.size() > kShown) shown = shown.substr(0, kShown) + "…";
    return Refuse(Cat("expected ", wanted, ", got ", shown));
  }

  absl::Status ReadField(const std::string& name, const ParsedJson& json, pb::Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    const pb::FieldDescriptor* field = type.FindFieldByName(name);
    if (field == nullptr) field = type.FindFieldByCamelcaseName(name);
    if (field == nullptr) return Refuse(Cat("no field of this name in ", type.name()));
    const pb::OneofDescriptor* choice = field->real_containing_oneof();
    if (choice != nullptr && message.GetReflection()->HasOneof(message, choice)) {
      return Refuse(Cat("a ", type.name(), " is one thing only"));
    }
    if (!field->is_repeated()) return ReadValue(json, field, message);
    if (!json.is_array()) return Wrong(json, "a list");
    for (const ParsedJson& item : json) HEADRACE_RETURN_IF_ERROR(ReadValue(item, field, message));
    return absl::OkStatus();
  }

  template <typename T, typename Parameter>
  absl::Status Put(std::optional<T> value, std::string_view wanted, const ParsedJson& json,
                   const pb::FieldDescriptor* field,
                   void (pb::Reflection::*set)(pb::Message*, const pb::FieldDescriptor*, Parameter) const,
                   void (pb::Reflection::*add)(pb::Message*, const pb::FieldDescriptor*, Parameter) const,
                   pb::Message& message) {
    if (!value.has_value()) return Wrong(json, wanted);
    (message.GetReflection()->*(field->is_repeated() ? add : set))(&message, field, *std::move(value));
    return absl::OkStatus();
  }

  absl::Status ReadValue(const ParsedJson& json, const pb::FieldDescriptor* field, pb::Message& message) {
    using R = pb::Reflection;
    constexpr std::string_view kWhole = "a whole number that fits";
    const R& to = *message.GetReflection();
    switch (field->cpp_type()) {
      case Type::CPPTYPE_INT32:
        return Put(WholeFromJson<int32_t>(json), kWhole, json, field, &R::SetInt32, &R::AddInt32, message);
      case Type::CPPTYPE_UINT32:
        return Put(WholeFromJson<uint32_t>(json), kWhole, json, field, &R::SetUInt32, &R::AddUInt32, message);
      case Type::CPPTYPE_INT64:
        return Put(WholeFromJson<int64_t>(json), kWhole, json, field, &R::SetInt64, &R::AddInt64, message);
      case Type::CPPTYPE_UINT64:
        return Put(WholeFromJson<uint64_t>(json), kWhole, json, field, &R::SetUInt64, &R::AddUInt64, message);
      case Type::CPPTYPE_DOUBLE:
        return Put(RealFromJson(json), "a number", json, field, &R::SetDouble, &R::AddDouble, message);
      case Type::CPPTYPE_BOOL:
        return Put(json.is_boolean() ? std::optional(json.get<bool>()) : std::nullopt, "true or false", json, field,
                   &R::SetBool, &R::AddBool, message);
      case Type::CPPTYPE_STRING:
        return Put(json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt, "a string", json, field,
                   &R::SetString, &R::AddString, message);
      case Type::CPPTYPE_MESSAGE:
        return ReadMessage(
            json, *(field->is_repeated() ? to.AddMessage(&message, field) : to.MutableMessage(&message, field)));
      default:
        return Refuse("no field of this type is known");  // graph.proto has none
    }
  }

  std::string path_;
  int depth_ = 0;
};

}  // namespace

std::string WriteJson(const proto::Graph& graph) {
  return MessageToJson(graph).dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

absl::Status ReadJson(std::string_view json, proto::Graph& graph) {
  ParsedJson parsed;
  try {
    parsed = ParsedJson::parse(json);
  } catch (const ParsedJson::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …", or out_of_range.406 for 1e999
    const std::string_view what = error.what();
    return GraphError("this is not the JSON of a Headrace graph: ", what.substr(what.find("] ") + 2));
  }
  return Reader().ReadMessage(parsed, graph);
}

}  // namespace headrace::ir
