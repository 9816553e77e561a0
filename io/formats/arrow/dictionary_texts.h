// `DictionaryTexts` reads the values of an Arrow dictionary of texts.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_ARROW_DICTIONARY_TEXTS_H_
#define HEADRACE_IO_FORMATS_ARROW_DICTIONARY_TEXTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/formats/arrow/arrow_format.h"
#include "io/formats/arrow/c_data.h"

namespace headrace {

// `column` is for messages. kData: the array is damaged, or a value is not
// UTF-8; kUnsupported: a value is missing.
absl::StatusOr<std::vector<std::string>> DictionaryTexts(const std::string& column, const ArrowFormat& format,
                                                         const ArrowArray& dictionary);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_DICTIONARY_TEXTS_H_
