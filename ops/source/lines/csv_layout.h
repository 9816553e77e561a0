// `RunsByNames` and `RunsByHeader` tell which fields of a line of CSV the columns of a row are made of.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_LINES_CSV_LAYOUT_H_
#define HEADRACE_OPS_SOURCE_LINES_CSV_LAYOUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/type.h"
#include "ops/source/lines/csv_columns.h"

namespace headrace {

// The number of fields that a column takes: of its elements. kGraph: its shape is not known, has no element, or more
// than a line can hold.
absl::StatusOr<size_t> FieldsOfColumn(const ir::Column& column);

// Lines whose columns are named in order: each name stands for the fields of the declared column of that name, or else
// for one field that is not read. `columns` are made, out of those declared. kGraph: a name comes twice, or a declared
// column has no name here.
absl::StatusOr<std::vector<CsvRun>> RunsByNames(absl::Span<const std::string> names, const ir::Schema& declared,
                                                const ir::Columns& columns);

// Lines below a header, which has a name for each field: a declared column takes the fields from that of its name on.
// kGraph: the header has the name of a declared column not at all, or twice, or too few fields from there on, or two
// columns share a field.
absl::StatusOr<std::vector<CsvRun>> RunsByHeader(absl::Span<const std::string> header, const ir::Schema& declared,
                                                 const ir::Columns& columns);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_CSV_LAYOUT_H_
