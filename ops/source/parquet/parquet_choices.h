// `ParquetFieldsOf` reads what the hidden attributes of hr.Parquet say of the columns: their types, which of them
// folders give, and how Arrow's types are mapped. So a graph knows its types without the files. Threads: pure
// functions.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_CHOICES_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_CHOICES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "ops/source/parquet/parquet_columns.h"

namespace headrace {

// `fields`, `folders`, `classes`, `named`, `fills`, `shapes` and `units`.
std::vector<ir::Attribute> DeclareParquetFields();

// `columns`: those to give, which are among `fields`. kGraph: an attribute is not what it should be.
absl::StatusOr<ParquetFields> ParquetFieldsOf(const ir::Attributes& attributes, const ir::Columns& columns);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_PARQUET_CHOICES_H_
