// `TarField` is a column of a source of samples: of which field of a sample it is made, and how. The hidden attributes
// `fields` and `readings` hold the columns of a source, one text each; `columns` chooses those that are made.
// Threads: values and pure functions.
#ifndef HEADRACE_OPS_SOURCE_TAR_TAR_FIELD_H_
#define HEADRACE_OPS_SOURCE_TAR_TAR_FIELD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

enum class TarReading {
  kBytes,    // the field's bytes
  kText,     // a number, a bool or a text, as text
  kJson,     // a value, as JSON
  kJsonKey,  // that of a key of an object
  kNpy,      // an array of NumPy
  kKey,      // the sample's key
  kUrl,      // the path of the archive
  kNames,    // the names of the sample's fields
};

struct TarField {
  ir::Column column;
  TarReading reading = TarReading::kBytes;
  // Of the fields that it may be made of, in lower case; the first that is there counts. Of kKey, kUrl and kNames none.
  std::vector<std::string> names = {};
  std::string key = {};                     // of kJsonKey
  std::optional<std::string> missing = {};  // what stands for a field that is not there, as JSON; bytes as Latin-1
};

// `fields`, `readings` and `columns`.
std::vector<ir::Attribute> DeclareTarFields();
// All columns; kGraph: they cannot be.
absl::StatusOr<std::vector<TarField>> TarFieldsOf(const ir::Attributes& attributes);
// Those among them that `columns` names, in its order.
absl::StatusOr<ir::Schema> ChosenTarFields(const ir::Attributes& attributes, const std::vector<TarField>& fields);

// "the field "cls" of the sample "000"".
std::string FieldOfSample(const TarField& field, std::string_view key);

// The bytes that a `missing` of kBytes stands for; nullopt: it is no such text.
std::optional<std::string> BytesOfMissing(const std::string& missing);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TAR_TAR_FIELD_H_
