// `DeclareFields` declares the columns of what a source reads: its hidden attribute `fields` holds their names and
// types, and its hidden attribute `columns` those of them that are made.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_DECLARED_FIELDS_H_
#define HEADRACE_OPS_SOURCE_DECLARED_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

// "label int64", "box float32 (4,)", "words string (None,)": a name, NumPy's name of the dtype, and a shape with None
// for a dimension that differs from row to row; without a shape, a single value. kGraph if it is none of these.
absl::StatusOr<ir::Column> ParseField(std::string_view text);
// The same of any dtype, bytes among them; nullopt instead of an error for a text without one.
absl::StatusOr<std::optional<ir::Column>> ParseTypedName(std::string_view text);

// The columns of the attribute `fields`, each as ParseTypedName has it, with a type and of different names; there may
// be none. kGraph otherwise.
absl::StatusOr<ir::Columns> TypedFieldsOf(const ir::Attributes& attributes);

ir::Attribute DeclareFields();
ir::Attribute DeclareChosenFields();
// At least one, of different names. kGraph otherwise.
absl::StatusOr<ir::Schema> FieldsOf(const ir::Attributes& attributes);
// Returns the fields that the attribute `columns` names, in its order; all for None.
absl::StatusOr<ir::Schema> ChosenFields(const ir::Attributes& attributes, const ir::Schema& fields);

// Calls call(T()) for the dtype of a field of numbers or bools, and returns what it returns; false for other dtypes.
template <typename Call>
bool WithFieldType(DType dtype, Call call) {
  switch (dtype) {
    case DType::kBool:
      return call(bool());
    case DType::kInt8:
      return call(int8_t());
    case DType::kInt16:
      return call(int16_t());
    case DType::kInt32:
      return call(int32_t());
    case DType::kInt64:
      return call(int64_t());
    case DType::kUInt8:
      return call(uint8_t());
    case DType::kUInt16:
      return call(uint16_t());
    case DType::kUInt32:
      return call(uint32_t());
    case DType::kUInt64:
      return call(uint64_t());
    case DType::kFloat32:
      return call(float());
    case DType::kFloat64:
      return call(double());
    default:
      return false;
  }
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_DECLARED_FIELDS_H_
