// The provenances of the rows of a block. Rows of one file that follow each other share one reference to its path: a
// reference for each row would make two threads wait for each other wherever rows are made on one and freed on another.
// Thread contract: as its block's.
#ifndef HEADRACE_ENGINE_OPERATOR_PROVENANCES_H_
#define HEADRACE_ENGINE_OPERATOR_PROVENANCES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/row_id.h"

namespace headrace {

class Provenances {
 public:
  using File = std::shared_ptr<const std::string>;

  size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  // Not to be assigned to: see Set.
  const Provenance operator[](size_t row) const {
    const Place& place = places_[row];
    return {place.file < 0 ? nullptr : files_[static_cast<size_t>(place.file)], place.record, place.offset};
  }
  bool has_file(size_t row) const { return places_[row].file >= 0; }

  void push_back(const Provenance& provenance) {
    places_.push_back({NumberOf(provenance.file), provenance.record, provenance.offset});
  }
  // A row of another block, or of this one.
  void Append(const Provenances& from, size_t row) {
    const Place place = from.places_[row];
    places_.push_back(
        {place.file < 0 ? -1 : NumberOf(from.files_[static_cast<size_t>(place.file)]), place.record, place.offset});
  }
  // Rows without a file, by their records.
  template <typename Records>
  void AppendRecords(const Records& records) {
    const size_t before = places_.size();
    places_.resize(before + records.size());
    for (size_t i = 0; i < records.size(); ++i) places_[before + i].record = static_cast<int64_t>(records[i]);
  }
  // `count` rows of a file; offset_of(i) is where row i of them begins.
  template <typename OffsetOf>
  void AppendRun(const File& file, size_t count, OffsetOf offset_of) {
    const int32_t number = NumberOf(file);
    const size_t before = places_.size();
    places_.resize(before + count);
    for (size_t i = 0; i < count; ++i) places_[before + i] = {number, -1, static_cast<int64_t>(offset_of(i))};
  }

  void Set(size_t row, const Provenance& provenance) {
    places_[row] = {NumberOf(provenance.file), provenance.record, provenance.offset};
  }
  // Row `to` becomes what row `from` is.
  void Move(size_t from, size_t to) { places_[to] = places_[from]; }
  void Truncate(size_t rows) { places_.resize(rows); }
  void reserve(size_t rows) { places_.reserve(rows); }

 private:
  struct Place {
    int32_t file = -1;
    int64_t record = -1;
    int64_t offset = -1;
  };

  int32_t NumberOf(const File& file) {
    if (file == nullptr) return -1;
    if (files_.empty() || files_.back() != file) files_.push_back(file);
    return static_cast<int32_t>(files_.size()) - 1;
  }

  absl::InlinedVector<Place, 1> places_;
  absl::InlinedVector<File, 1> files_;  // each in use by rows that follow each other
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_PROVENANCES_H_
