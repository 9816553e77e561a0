#include "io/formats/parquet/parquet_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/row_id.h"

namespace headrace {
namespace {

constexpr uint64_t kMostParquetRows = std::numeric_limits<int64_t>::max();

}  // namespace

absl::Status ParquetTable::Add(std::string path, int64_t size, absl::Span<const int64_t> group_rows, uint64_t version) {
  const uint64_t file = files_.size();
  const uint64_t first = rows_;
  fingerprint_ = MixKey(fingerprint_, group_rows.size());
  for (size_t number = 0; number < group_rows.size(); ++number) {
    const int64_t rows = group_rows[number];
    if (rows < 0 || static_cast<uint64_t>(rows) > kMostParquetRows - rows_) {
      return DataError("its footer says that row group ", number, " has ", rows, " rows");
    }
    fingerprint_ = MixKey(fingerprint_, static_cast<uint64_t>(rows));
    if (rows == 0) continue;
    groups_.push_back({file, number, rows_, static_cast<uint64_t>(rows)});
    rows_ += static_cast<uint64_t>(rows);
  }
  files_.push_back({std::move(path), size, first, version});
  return absl::OkStatus();
}

size_t ParquetTable::GroupOf(uint64_t row) const {
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), row,
                                      [](uint64_t wanted, const Group& group) { return wanted < group.first; });
  return static_cast<size_t>(after - groups_.begin()) - 1;
}

}  // namespace headrace
