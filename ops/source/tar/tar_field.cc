#include "ops/source/tar/tar_field.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_split.h"
#include "core/error.h"
#include "io/formats/tar/tar_name.h"
#include "ir/suggestion.h"
#include "ops/source/declared_fields.h"
#include "ops/source/lines/json_columns.h"
#include "ops/source/text_bytes.h"

namespace headrace {
namespace {

constexpr std::string_view kJsonKeyPrefix = "json:";

struct NamedReading {
  std::string_view name;
  TarReading reading;
};
constexpr NamedReading kReadings[] = {
    {"bytes", TarReading::kBytes}, {"text", TarReading::kText}, {"json", TarReading::kJson},  {"npy", TarReading::kNpy},
    {"key", TarReading::kKey},     {"url", TarReading::kUrl},   {"names", TarReading::kNames}};

bool IsOfSample(TarReading reading) {
  return reading == TarReading::kKey || reading == TarReading::kUrl || reading == TarReading::kNames;
}

// "jpg;png" as its fields.
std::vector<std::string> FieldNames(std::string_view text) {
  std::vector<std::string> names;
  for (const absl::string_view name : absl::StrSplit(ToAbsl(text), ';')) names.push_back(LowerField(ToStd(name)));
  return names;
}

bool FitsReading(TarReading reading, const ir::ColumnType& type) {
  const bool number = ItemSize(type.dtype) > 0;
  const bool single = type.shape.has_value() && type.shape->empty();
  switch (reading) {
    case TarReading::kBytes:
      return type.dtype == DType::kBytes && single;
    case TarReading::kText:
      return single && (type.dtype == DType::kString || WithFieldType(type.dtype, [](auto) { return true; }));
    case TarReading::kJson:
    case TarReading::kJsonKey:
      return type.dtype == DType::kString || WithFieldType(type.dtype, [](auto) { return true; });
    case TarReading::kNpy:
      return number;
    case TarReading::kKey:
    case TarReading::kUrl:
      return type.dtype == DType::kString && single;
    case TarReading::kNames:
      return type == ir::ColumnType::Of(DType::kString, {ir::kUnknownDim});
  }
  return false;
}

absl::Status SetReading(std::string_view text, TarField& field) {
  const std::string& name = field.column.name;
  if (text.substr(0, kJsonKeyPrefix.size()) == kJsonKeyPrefix) {
    field.reading = TarReading::kJsonKey;
    field.key = text.substr(kJsonKeyPrefix.size());
    const std::string ending = Cat(".", field.key);
    const bool ends =
        name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
    if (!ends) return GraphError("the column \"", name, "\" is not named by its field and the key \"", field.key, "\"");
    field.names = FieldNames(std::string_view(name).substr(0, name.size() - ending.size()));
    return absl::OkStatus();
  }
  const auto* const found = std::find_if(std::begin(kReadings), std::end(kReadings),
                                         [&](const NamedReading& reading) { return reading.name == text; });
  if (found == std::end(kReadings))
    return GraphError("the column \"", name, "\" is read as ", text, ", which is not known");
  field.reading = found->reading;
  if (!IsOfSample(field.reading)) field.names = FieldNames(name);
  return absl::OkStatus();
}

absl::Status CheckMissingOf(const TarField& field) {
  if (!field.missing.has_value()) return absl::OkStatus();
  const std::string& name = field.column.name;
  if (IsOfSample(field.reading)) return GraphError("missing names \"", name, "\", which every sample has");
  if (field.reading != TarReading::kBytes) {
    return CheckMissing(ir::Columns({field.column}), {field.missing});
  }
  if (BytesOfMissing(*field.missing).has_value()) return absl::OkStatus();
  return GraphError("missing: \"", name,
                    "\" is no text of bytes; the column's type is bytes: give b\"\" or other bytes");
}

ir::Attribute HiddenTexts(std::string_view name, std::string_view doc) {
  return {.name = std::string(name),
          .type = ir::AttributeType::kStrings,
          .doc = std::string(doc),
          .length = ir::ListLength{.least = 0},
          .hidden = true};
}

}  // namespace

std::vector<ir::Attribute> DeclareTarFields() {
  return {HiddenTexts("fields", "The columns that samples have, each as its name and its type."),
          HiddenTexts("readings",
                      "How each of the columns is made: \"bytes\", \"text\", \"json\", \"json:key\", \"npy\", "
                      "\"key\", \"url\" or \"names\"."),
          DeclareChosenFields()};
}

absl::StatusOr<std::vector<TarField>> TarFieldsOf(const ir::Attributes& attributes) {
  const std::vector<std::string> texts = attributes.Strings("fields"), readings = attributes.Strings("readings");
  if (texts.empty()) return GraphError("has no columns; name at least one field");
  if (texts.size() != readings.size()) {
    return GraphError("has ", texts.size(), " columns, and says of ", readings.size(), " how they are read");
  }
  std::vector<TarField> fields(texts.size());
  ir::Columns seen;
  for (size_t i = 0; i < fields.size(); ++i) {
    TarField& field = fields[i];
    HEADRACE_ASSIGN_OR_RETURN(std::optional<ir::Column> column, ParseTypedName(texts[i]));
    if (!column.has_value()) return GraphError("the column \"", texts[i], "\" has no type");
    field.column = *std::move(column);
    HEADRACE_RETURN_IF_ERROR(SetReading(readings[i], field));
    if (!FitsReading(field.reading, field.column.type)) {
      return GraphError("the column \"", field.column.name, "\" is declared as ", ir::TypeName(field.column.type),
                        ", which cannot be read as ", readings[i]);
    }
    if (seen.IndexOf(field.column.name) >= 0) return GraphError("the column \"", field.column.name, "\" comes twice");
    seen.push_back(field.column);
  }
  if (!attributes.IsNone("missing")) {
    for (auto& [name, json] : attributes.Pairs("missing")) {
      const int at = seen.IndexOf(name);
      // For its message.
      if (at < 0) return ir::FindColumn({seen}, name).status();
      fields[static_cast<size_t>(at)].missing = std::move(json);
    }
  }
  for (const TarField& field : fields) HEADRACE_RETURN_IF_ERROR(CheckMissingOf(field));
  return fields;
}

absl::StatusOr<ir::Schema> ChosenTarFields(const ir::Attributes& attributes, const std::vector<TarField>& fields) {
  ir::Schema all;
  for (const TarField& field : fields) all.columns.push_back(field.column);
  return ChosenFields(attributes, all);
}

std::string FieldOfSample(const TarField& field, std::string_view key) {
  std::string names;
  for (const std::string& name : field.names) Append(names, names.empty() ? "" : ";", name);
  return Cat("the field \"", names, "\" of the sample \"", key, "\"");
}

std::optional<std::string> BytesOfMissing(const std::string& missing) {
  const absl::StatusOr<Tensor> text =
      ParseJsonValue(missing, {"", ir::ColumnType::Of(DType::kString, {})}, std::nullopt, {});
  if (!text.ok()) return std::nullopt;
  return BytesOfText(text->bytes_value());
}

}  // namespace headrace
