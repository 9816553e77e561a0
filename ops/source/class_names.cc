#include "ops/source/class_names.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "ir/suggestion.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

// Of more names none is suggested: each unknown text would be compared with all of them.
constexpr size_t kMostCompared = 1000;

absl::Status NoNames(std::string_view json) {
  return GraphError("class_names has ", ShownText(json), ", which is not a list of different texts");
}

// What stands for a class in a file; null: neither its name nor a list of a text and its name.
const nlohmann::json* TextOfClass(const nlohmann::json& entry) {
  if (entry.is_string()) return &entry;
  const bool named = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
  return named ? &entry[0] : nullptr;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ClassTable>> ClassTable::Parse(std::string_view json) {
  const nlohmann::json parsed = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (!parsed.is_array() || parsed.empty() || parsed.size() > std::numeric_limits<int32_t>::max()) return NoNames(json);
  std::vector<std::string> texts;
  for (const nlohmann::json& entry : parsed) {
    const nlohmann::json* const text = TextOfClass(entry);
    if (text == nullptr) return NoNames(json);
    texts.push_back(text->get<std::string>());
  }
  std::shared_ptr<ClassTable> table(new ClassTable(std::move(texts)));
  for (const std::string& text : table->texts_) {
    const bool is_new = table->numbers_.emplace(text, static_cast<int32_t>(table->numbers_.size())).second;
    if (!is_new) return NoNames(json);
  }
  return std::shared_ptr<const ClassTable>(std::move(table));
}

absl::StatusOr<int32_t> ClassTable::NumberOf(std::string_view text) const {
  const auto found = numbers_.find(text);
  return found != numbers_.end() ? absl::StatusOr<int32_t>(found->second) : Unknown(text);
}

absl::Status ClassTable::Unknown(std::string_view text) const {
  const std::string near = texts_.size() <= kMostCompared ? ir::DidYouMean(text, texts_) : "";
  return DataError("is ", ShownText(text), ", not one of the ", texts_.size(), " classes", near);
}

absl::StatusOr<Tensor> ClassTable::NumbersOf(const Tensor& texts) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor numbers, Tensor::Allocate(kNumber, texts.shape()));
  auto* const target = numbers.mutable_data<int32_t>();
  for (int64_t i = 0; i < texts.elements(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(target[i], NumberOf(texts.bytes_at(i)));
  }
  return numbers;
}

ir::Attribute DeclareClassNames(bool tuning) {
  return {.name = "class_names",
          .type = ir::AttributeType::kPairs,
          .doc = "The names of the classes whose numbers columns hold, by column, each a list in JSON.",
          .default_value = "None",
          .nullable = true,
          .tuning = tuning,
          .hidden = true};
}

absl::StatusOr<ClassTables> ClassTablesOf(const ir::Attributes& attributes, const ir::Schema& fields,
                                          const ir::Columns& columns) {
  ClassTables tables(columns.size());
  if (attributes.IsNone("class_names")) return tables;
  for (const auto& [name, json] : attributes.Pairs("class_names")) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::Column* field, ir::FindColumn(fields, name));
    if (field->type.dtype != DType::kString) {
      return GraphError("\"", name, "\" has classes, and its type is ", ir::TypeName(field->type),
                        "; names of classes are texts");
    }
    HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const ClassTable> table, ClassTable::Parse(json));
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == name) tables[i] = table;
    }
  }
  return tables;
}

ir::Columns WithClassNumbers(const ir::Columns& columns, const ClassTables& classes) {
  ir::Columns numbered;
  for (size_t i = 0; i < columns.size(); ++i) {
    ir::Column column = columns[i];
    if (classes[i] != nullptr) column.type.dtype = ClassTable::kNumber;
    numbered.push_back(std::move(column));
  }
  return numbered;
}

}  // namespace headrace
