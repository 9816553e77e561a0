// `MindColumns` makes the columns of a message from the scalars and the blobs of MindRecord rows: each column whole,
// not row by row. Use it in MindRecordSource, which reads the rows; damage is told by the number of the row it is in.
// Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_MINDRECORD_MIND_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_MINDRECORD_MIND_COLUMNS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "engine/operator/block.h"
#include "io/formats/mindrecord/mind_table.h"
#include "io/formats/mindrecord/msg_pack.h"

namespace headrace {

// Views of a row's bytes. What no column needs is empty.
struct MindRowBytes {
  std::string_view scalars = {};
  std::string_view blob = {};
  const BufferRef* buffer = nullptr;  // holds `blob`
};

using MindBlockColumns = absl::InlinedVector<BlockColumn, 2>;

// Why a row cannot be made.
struct MindDamage {
  absl::Status status = {};  // OK: all rows could be made
  bool in_blob = false;      // else in its scalars
};

class MindColumns {
 public:
  // `fields`: the columns to make, by their numbers among the fields of the layout.
  MindColumns(MindLayout layout, absl::Span<const int> fields);

  bool needs_scalars() const { return !scalars_.empty(); }
  bool needs_blobs() const { return !blobs_.empty(); }
  // Makes all columns of the rows, at least one. Returns how many rows they have: fewer if the next row is damaged.
  // Without a row there are no columns.
  size_t Make(absl::Span<const MindRowBytes> rows, MindBlockColumns& columns, MindDamage& damage) const;

 private:
  struct Scalar {
    size_t field;
    size_t column;  // its place among the columns
    size_t text;    // its place among the columns of texts; of numbers: not used
  };
  struct Blob {
    size_t field;
    size_t column;
    size_t frame;  // which field of the blob it is
  };
  // What is known of the rows before columns are made.
  struct Found {
    std::vector<Tensor> numbers;          // of each scalar; of texts: invalid
    std::vector<std::string_view> texts;  // row by row
    std::vector<std::string_view> parts;  // of blobs, all fields, row by row
    std::vector<size_t> seen;             // for each scalar, the last row that has a value, counted from 1
  };

  const MindField& FieldOf(const Scalar& scalar) const { return layout_.fields[scalar.field]; }
  const MindField& FieldOf(const Blob& blob) const { return layout_.fields[blob.field]; }
  absl::Status Begin(size_t rows, Found& found) const;
  absl::Status ReadScalars(std::string_view bytes, size_t row, Found& found) const;
  size_t FindScalar(std::string_view name, size_t guess) const;
  absl::Status TakeScalar(const MsgPackValue& value, size_t number, size_t row, Found& found) const;
  size_t MakeAll(absl::Span<const MindRowBytes> rows, Found& found, MindBlockColumns& columns,
                 MindDamage& damage) const;
  size_t MakeArrays(const Blob& blob, size_t rows, const Found& found, BlockColumn& column, MindDamage& damage) const;
  absl::Status MakeOthers(absl::Span<const MindRowBytes> rows, Found& found, MindBlockColumns& columns) const;
  absl::StatusOr<BlockColumn> MakeScalars(size_t number, size_t rows, Found& found) const;
  absl::StatusOr<BlockColumn> MakeBytes(const Blob& blob, absl::Span<const MindRowBytes> rows,
                                        const Found& found) const;

  const MindLayout layout_;
  std::vector<Scalar> scalars_;  // in order of their names, as rows have them
  std::vector<Blob> blobs_;
  size_t columns_ = 0;
  size_t text_columns_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MINDRECORD_MIND_COLUMNS_H_
