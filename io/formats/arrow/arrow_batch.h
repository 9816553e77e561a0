// `ArrowBatch` gives the columns of one Arrow array, a record batch, as a mapping says.
// Threads: const; any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_BATCH_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "io/formats/arrow/arrow_owner.h"
#include "io/formats/arrow/arrow_rows.h"

namespace headrace {

class ArrowBatch {
 public:
  // `mapping` outlives it, and has the classes of its dictionaries. Messages count rows from `first_row`. `before`: the
  // batch before, with which it may share what was made of dictionaries; null: none. kData: the array is damaged, or is
  // none of the mapping's schema.
  static absl::StatusOr<ArrowBatch> Of(const ArrowMapping& mapping, const HeldArrow& array, uint64_t first_row,
                                       const ArrowBatch* before);

  int64_t rows() const { return rows_; }
  const ArrowRows& column(size_t number) const { return columns_[number]; }

 private:
  int64_t rows_ = 0;
  std::vector<ArrowRows> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_BATCH_H_
