#include "io/formats/arrow/dictionary_texts.h"

#include <cstdint>

#include "core/error.h"
#include "io/formats/arrow/arrow_array.h"
#include "io/formats/arrow/arrow_strings.h"

namespace headrace {

absl::StatusOr<std::vector<std::string>> DictionaryTexts(const std::string& column, const ArrowFormat& format,
                                                         const ArrowArray& dictionary) {
  HEADRACE_RETURN_IF_ERROR(CheckArrowArray(column, &dictionary, format, 0));
  const int64_t count = dictionary.length;
  HEADRACE_ASSIGN_OR_RETURN(const ArrowStrings strings, ArrowStrings::Of(column, &dictionary, format, 0, count));
  if (ValidityOf(dictionary).FirstUnset(0, count) >= 0) {
    return UnsupportedError("column \"", column,
                            "\" has a dictionary with a missing value in it; cast the column to "
                            "the type of its values");
  }
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) {
    const absl::StatusOr<std::string_view> text = strings.At(i);
    if (!text.ok()) {
      return DataError("column \"", column, "\" has a dictionary whose value ", i, " ", ToStd(text.status().message()));
    }
    texts.emplace_back(*text);
  }
  return texts;
}

}  // namespace headrace
