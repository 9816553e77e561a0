// `Provenances` holds the provenances of the rows of a block. Rows of one file that follow each other share one
// reference to its path: a reference for each row would make two threads wait for each other wherever rows are made on
// one and freed on another.
// Threads: as its block's.
#ifndef HEADRACE_ENGINE_OPERATOR_PROVENANCES_H_
#define HEADRACE_ENGINE_OPERATOR_PROVENANCES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/row_id.h"
#include "engine/operator/row_array.h"

namespace headrace {

class Provenances {
 public:
  using File = std::shared_ptr<const std::string>;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // Read only; use Set to assign.
  const Provenance operator[](size_t row) const {
    const Entry& entry = entries_[row];
    return {entry.file < 0 ? nullptr : files_[static_cast<size_t>(entry.file)], entry.record, entry.offset};
  }
  bool has_file(size_t row) const { return entries_[row].file >= 0; }

  void push_back(const Provenance& provenance) {
    entries_.push_back({NumberOf(provenance.file), provenance.record, provenance.offset});
  }
  // A row of another block, or of this one.
  void Append(const Provenances& from, size_t row) {
    const Entry entry = from.entries_[row];
    entries_.push_back(
        {entry.file < 0 ? -1 : NumberOf(from.files_[static_cast<size_t>(entry.file)]), entry.record, entry.offset});
  }
  // Rows without a file, by their records.
  template <typename Records>
  void AppendRecords(const Records& records) {
    AppendMade(entries_, records.size(), [&](size_t i) { return Entry{-1, static_cast<int64_t>(records[i]), -1}; });
  }
  // `count` rows of a file; record_of(i) is the number of row i of them in it.
  template <typename RecordOf>
  void AppendNumbered(const File& file, size_t count, RecordOf record_of) {
    const int32_t number = NumberOf(file);
    AppendMade(entries_, count, [&](size_t i) { return Entry{number, static_cast<int64_t>(record_of(i)), -1}; });
  }
  // `count` rows of a file; offset_of(i) is where row i of them begins.
  template <typename OffsetOf>
  void AppendRun(const File& file, size_t count, OffsetOf offset_of) {
    const int32_t number = NumberOf(file);
    AppendMade(entries_, count, [&](size_t i) { return Entry{number, -1, static_cast<int64_t>(offset_of(i))}; });
  }

  void Set(size_t row, const Provenance& provenance) {
    entries_[row] = {NumberOf(provenance.file), provenance.record, provenance.offset};
  }
  // Row `to` becomes what row `from` is.
  void Move(size_t from, size_t to) { entries_[to] = entries_[from]; }
  void Truncate(size_t rows) { entries_.resize(rows); }
  void reserve(size_t rows) { entries_.reserve(rows); }

 private:
  struct Entry {
    int32_t file = -1;
    int64_t record = -1;
    int64_t offset = -1;
  };

  int32_t NumberOf(const File& file) {
    if (file == nullptr) return -1;
    if (files_.empty() || files_.back() != file) files_.push_back(file);
    return static_cast<int32_t>(files_.size()) - 1;
  }

  RowArray<Entry> entries_;
  absl::InlinedVector<File, 1> files_;  // each in use by rows that follow each other
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_PROVENANCES_H_
