// `FixedColumns` makes columns of the rows of a FixedTable: numbers in the machine's byte order, texts as UTF-8.
// Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_ARRAYS_FIXED_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_ARRAYS_FIXED_COLUMNS_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "io/formats/fixed/fixed_table.h"
#include "ir/type.h"

namespace headrace {

// One field of one part.
struct FixedPlace {
  size_t part = 0;
  size_t field = 0;
};

ir::ColumnType TypeOfFixedField(const FixedField& field);
// "label uint8 ()", "x float32 (3, 2)": the texts of a hidden attribute `fields`.
std::string FixedFieldText(const FixedField& field);
std::vector<std::string> FixedFieldTexts(absl::Span<const FixedField> fields);

class FixedColumns {
 public:
  // The column i is of places[i].
  FixedColumns(std::shared_ptr<const FixedTable> table, std::vector<FixedPlace> places);

  // The parts that are read, in rising order.
  const std::vector<size_t>& parts() const { return parts_; }
  // `bytes`: of the rows of parts()[0], then of those of parts()[1], …, `rows` of each. Returns how many rows the
  // columns have: fewer if the next row is damaged, for the reason in `wrong`. Without a row there are no columns.
  size_t Make(absl::Span<const std::string_view> bytes, size_t rows, absl::InlinedVector<BlockColumn, 2>& columns,
              absl::Status& wrong) const;

 private:
  struct Column {
    size_t part;  // its number among parts()
    const FixedField* field;
  };

  absl::StatusOr<BlockColumn> MakeNumbers(const Column& column, absl::Span<const std::string_view> rows) const;
  absl::StatusOr<BlockColumn> MakeBytes(const Column& column, absl::Span<const std::string_view> rows) const;
  // Fewer texts than the rows have: the next row has one that is none.
  absl::Status ReadTexts(const Column& column, absl::Span<const std::string_view> rows,
                         std::vector<std::string>& texts) const;

  const std::shared_ptr<const FixedTable> table_;
  std::vector<size_t> parts_;
  std::vector<Column> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARRAYS_FIXED_COLUMNS_H_
