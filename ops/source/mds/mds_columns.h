// `MdsColumns` makes columns of MDS samples by the encodings of their values.
// Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_MDS_MDS_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_MDS_MDS_COLUMNS_H_

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "ops/source/mds/mds_fields.h"

namespace headrace {

struct MdsSample {
  const BufferRef* buffer = nullptr;  // holds `bytes`
  std::string_view bytes = {};
};

class MdsColumns {
 public:
  // `columns`: of the index; the column i is made of fields[i].
  MdsColumns(std::vector<MdsColumn> columns, std::vector<MdsField> fields)
      : columns_(std::move(columns)), fields_(std::move(fields)) {}

  // Returns how many rows the columns have: fewer if the next sample is damaged, for the reason in `wrong`. Without a
  // row there are no columns.
  size_t Make(absl::Span<const MdsSample> samples, absl::InlinedVector<BlockColumn, 2>& made,
              absl::Status& wrong) const;

 private:
  // The bytes of all columns, of one sample after the other.
  using Parts = std::vector<std::string_view>;

  absl::Status CheckSample(const MdsSample& sample, absl::Span<std::string_view> parts) const;
  absl::StatusOr<BlockColumn> MakeColumn(const MdsField& field, absl::Span<const MdsSample> samples,
                                         const Parts& parts) const;
  std::string_view PartOf(const MdsField& field, const Parts& parts, size_t row) const {
    return parts[row * columns_.size() + field.column];
  }
  absl::StatusOr<BlockColumn> MakeNumbers(const MdsField& field, size_t rows, const Parts& parts) const;
  absl::StatusOr<BlockColumn> MakeTexts(const MdsField& field, size_t rows, const Parts& parts) const;
  absl::StatusOr<BlockColumn> MakeArrays(const MdsField& field, size_t rows, const Parts& parts) const;

  const std::vector<MdsColumn> columns_;
  const std::vector<MdsField> fields_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MDS_MDS_COLUMNS_H_
