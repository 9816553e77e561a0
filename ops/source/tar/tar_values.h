// `TarValues` makes one column of the samples of a message, or several that are keys of one object: a value is read of
// each sample, and kept once all columns of the sample have been read.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_TAR_TAR_VALUES_H_
#define HEADRACE_OPS_SOURCE_TAR_TAR_VALUES_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "engine/operator/block.h"
#include "ops/source/tar/tar_field.h"

namespace headrace {

// A sample, as views.
struct TarRow {
  std::string_view key;
  std::string_view url;
  absl::Span<const std::string> names;  // of its fields, in lower case
  // The data of the fields that columns are made of, by their numbers; nullopt: it has no such field.
  absl::Span<const std::optional<std::string_view>> data;
  const BufferRef* buffer = nullptr;  // holds the data, until the column is taken
  size_t share = 0;                   // of it that a view of one column keeps (ops/source/item_columns.h)
};

class TarValues {
 public:
  virtual ~TarValues() = default;
  // About so many samples will be kept, and then taken.
  virtual void Expect(size_t /*samples*/) {}
  // Reads the values of a sample. The error is that of its row; kResource: no memory.
  virtual absl::Status Read(const TarRow& row) = 0;
  // Keeps what was read last.
  virtual void Keep() = 0;
  // Sets the columns, at their places among those of the source, for the samples that were kept; at least one.
  virtual absl::Status Take(absl::Span<BlockColumn> columns) = 0;
};

// A column, its place among those of the source, and the number of each of its fields in TarRow::data.
struct PlacedField {
  TarField field;
  size_t place = 0;
  std::vector<size_t> numbers = {};
};

// `fields`: one, or several of kJsonKey that are made of the same fields.
std::unique_ptr<TarValues> MakeTarValues(std::vector<PlacedField> fields);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TAR_TAR_VALUES_H_
