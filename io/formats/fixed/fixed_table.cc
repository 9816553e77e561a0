#include "io/formats/fixed/fixed_table.h"

#include <algorithm>

#include "core/error.h"
#include "core/row_id.h"

namespace headrace {
void FixedTable::Part::Add(Run run) {
  run.first = rows();
  if (run.rows > 0) runs.push_back(std::move(run));
}

const FixedTable::Run& FixedTable::Part::RunOf(uint64_t row) const {
  const auto after = std::upper_bound(runs.begin(), runs.end(), row,
                                      [](uint64_t wanted, const Run& run) { return wanted < run.first; });
  return *(after - 1);
}

absl::StatusOr<FixedTable> FixedTable::Of(std::vector<File> files, std::vector<Part> parts,
                                          const std::vector<std::string>& names) {
  const uint64_t rows = parts[0].rows();
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].rows() == rows) continue;
    return DataError(names[i], " has ", parts[i].rows(), " rows, and ", names[0], " has ", rows,
                     "; choose columns of equally many");
  }
  return FixedTable(std::move(files), std::move(parts), rows);
}

int64_t FixedTable::held_bytes() const {
  int64_t bytes = 0;
  for (const Part& part : parts_) {
    for (const Run& run : part.runs) bytes += run.unpacked ? static_cast<int64_t>(run.unpacked->capacity()) : 0;
  }
  return bytes;
}

uint64_t FixedTable::fingerprint() const {
  uint64_t hash = rows_;
  for (const Part& part : parts_) {
    hash = MixKey(hash, static_cast<uint64_t>(part.row_bytes));
    for (const Run& run : part.runs) {
      hash = MixKey(MixKey(MixKey(hash, run.file), static_cast<uint64_t>(run.begin)), run.rows);
    }
  }
  return hash;
}

}  // namespace headrace
