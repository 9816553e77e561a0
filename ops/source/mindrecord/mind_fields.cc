#include "ops/source/mindrecord/mind_fields.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kMostAxesOfText = 32;

bool IsTypeOfField(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         IsVariableLength(dtype);
}

// Of the text between the brackets.
bool ParseDimensions(std::string_view text, Shape& shape) {
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(' ')));
    int64_t size = ir::kUnknownDim;
    if (part != "None") {
      const auto [end, wrong] = std::from_chars(part.data(), part.data() + part.size(), size);
      if (wrong != std::errc() || end != part.data() + part.size() || size < 1) return false;
    }
    shape.push_back(size);
    if (shape.size() > kMostAxesOfText) return false;
  }
  return !shape.empty() && std::count(shape.begin(), shape.end(), ir::kUnknownDim) <= 1;
}

absl::Status NoFieldError(std::string_view text) {
  return GraphError("the field \"", text,
                    "\" has no type of a MindRecord field: int32, int64, float32, float64, string or bytes, the "
                    "numbers perhaps with a shape");
}

}  // namespace

std::string MindFieldText(const MindField& field) {
  std::string text = Cat(field.name, " ", DTypeName(field.dtype));
  if (!field.array) return text;
  text += " (";
  for (size_t i = 0; i < field.shape.size(); ++i) {
    Append(text, i == 0 ? "" : ", ", field.shape[i] < 0 ? "None" : Cat(field.shape[i]));
  }
  return text + (field.shape.size() == 1 ? ",)" : ")");
}

absl::StatusOr<MindField> ParseMindField(std::string_view text) {
  MindField field;
  std::string_view typed = text;
  if (!text.empty() && text.back() == ')') {
    const size_t begin = text.rfind(" (");
    if (begin == std::string_view::npos) return NoFieldError(text);
    const std::string_view dimensions = text.substr(begin + 2, text.size() - begin - 3);
    if (!ParseDimensions(dimensions, field.shape)) return NoFieldError(text);
    field.array = true;
    typed = text.substr(0, begin);
  }
  const size_t space = typed.rfind(' ');
  if (space == std::string_view::npos) return NoFieldError(text);
  const std::optional<DType> dtype = DTypeFromName(typed.substr(space + 1));
  if (!dtype.has_value() || !IsTypeOfField(*dtype)) return NoFieldError(text);
  if (field.array && IsVariableLength(*dtype)) return NoFieldError(text);
  field.name = typed.substr(0, space);
  field.dtype = *dtype;
  return field;
}

ir::ColumnType TypeOfMindField(const MindField& field) { return ir::ColumnType::Of(field.dtype, field.shape); }

}  // namespace headrace
