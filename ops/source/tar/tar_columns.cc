#include "ops/source/tar/tar_columns.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "io/formats/tar/tar_name.h"
#include "io/formats/tar/tar_sample.h"
#include "ops/source/tar/tar_values.h"

namespace headrace {
namespace {

// A message that has as many bytes of one block ends with it: its fields are then views in one table.
constexpr size_t kManyTarBytes = size_t{64} << 10;

class TarColumns : public RecordColumns {
 public:
  explicit TarColumns(const std::vector<TarField>& fields);

  void Expect(size_t rows) override {
    for (const std::unique_ptr<TarValues>& values : values_) values->Expect(rows);
  }
  bool Joins(const RecordBlock& block) const override {
    return held_.back().get() == block.buffer.get() || held_.size() > 1 || bytes_ < kManyTarBytes;
  }
  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override;
  absl::Status Take(Block& block) override;

 private:
  size_t NumberOf(const std::string& name);
  // Takes a sample apart, and has its values read.
  absl::Status ReadSample(std::string_view bytes, int64_t offset, TarRow& row);
  absl::Status CheckNames() const;

  std::vector<std::unique_ptr<TarValues>> values_;
  size_t columns_ = 0;
  size_t views_ = 0;  // columns that may be views
  // The fields that columns are made of, by their names.
  std::unordered_map<std::string, size_t, SeededHash, std::equal_to<>> numbers_;
  TarSample sample_;
  std::vector<std::optional<std::string_view>> data_;
  std::vector<std::string> names_;  // the first name_count_ are those of the sample
  size_t name_count_ = 0;
  mutable std::vector<uint64_t> hashes_;  // of the names
  std::deque<BufferRef> held_;            // that the kept samples are in
  size_t bytes_ = 0;                      // of these samples
};

TarColumns::TarColumns(const std::vector<TarField>& fields) : columns_(fields.size()) {
  // Keys of one object are read together.
  std::vector<std::vector<PlacedField>> groups;
  std::unordered_map<std::string, size_t, SeededHash, std::equal_to<>> objects;
  for (size_t place = 0; place < fields.size(); ++place) {
    PlacedField placed{fields[place], place, {}};
    for (const std::string& name : placed.field.names) placed.numbers.push_back(NumberOf(name));
    if (placed.field.reading == TarReading::kBytes) ++views_;
    size_t group = groups.size();
    if (placed.field.reading == TarReading::kJsonKey) {
      const std::string& name = placed.field.column.name;
      group = objects.emplace(name.substr(0, name.size() - placed.field.key.size()), groups.size()).first->second;
    }
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(std::move(placed));
  }
  for (std::vector<PlacedField>& group : groups) values_.push_back(MakeTarValues(std::move(group)));
  data_.resize(numbers_.size());
}

size_t TarColumns::NumberOf(const std::string& name) { return numbers_.emplace(name, numbers_.size()).first->second; }

size_t TarColumns::Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) {
  if (held_.empty() || held_.back().get() != block.buffer.get()) held_.push_back(block.buffer);
  TarRow row;
  row.url = block.path == nullptr ? std::string_view() : std::string_view(*block.path);
  row.buffer = &held_.back();
  for (size_t i = 0; i < count; ++i) {
    const size_t record = first + i * step;
    const std::string_view bytes = block.content(record);
    row.share = std::max<size_t>(1, step * bytes.size() / std::max<size_t>(1, views_));
    wrong = ReadSample(bytes, block.records[record].offset, row);
    if (!wrong.ok()) return i;
    for (const std::unique_ptr<TarValues>& values : values_) values->Keep();
    bytes_ += bytes.size();
  }
  return count;
}

absl::Status TarColumns::ReadSample(std::string_view bytes, int64_t offset, TarRow& row) {
  std::fill(data_.begin(), data_.end(), std::nullopt);
  name_count_ = 0;
  sample_.Begin(bytes, offset);
  TarSample::Field field;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(const bool more, sample_.Next(field));
    if (!more) break;
    if (name_count_ == names_.size()) names_.emplace_back();
    std::string& name = names_[name_count_++];
    name.assign(field.name);
    MakeLower(name);
    const auto found = numbers_.find(std::string_view(name));
    if (found != numbers_.end()) data_[found->second] = field.data;
  }
  HEADRACE_RETURN_IF_ERROR(CheckNames());
  row.key = sample_.key();
  row.names = absl::MakeConstSpan(names_).first(name_count_);
  row.data = data_;
  for (const std::unique_ptr<TarValues>& values : values_) HEADRACE_RETURN_IF_ERROR(values->Read(row));
  return absl::OkStatus();
}

// In time that does not grow with the square of their number, and without memory for few.
absl::Status TarColumns::CheckNames() const {
  const SeededHash hash{};
  hashes_.clear();
  for (size_t i = 0; i < name_count_; ++i) hashes_.push_back(hash(std::string_view(names_[i])));
  std::sort(hashes_.begin(), hashes_.end());
  if (std::adjacent_find(hashes_.begin(), hashes_.end()) == hashes_.end()) return absl::OkStatus();
  std::unordered_set<std::string_view, SeededHash> seen;
  for (size_t i = 0; i < name_count_; ++i) {
    if (seen.insert(names_[i]).second) continue;
    return DataError("the sample \"", sample_.key(), "\" has the field \"", names_[i],
                     "\" twice, in lower case; name its members differently");
  }
  return absl::OkStatus();
}

absl::Status TarColumns::Take(Block& block) {
  block.columns.resize(columns_);
  absl::Status wrong;
  for (const std::unique_ptr<TarValues>& values : values_) {
    absl::Status taken = values->Take(absl::MakeSpan(block.columns));
    if (wrong.ok()) wrong = std::move(taken);
  }
  held_.clear();
  bytes_ = 0;
  if (!wrong.ok()) block.columns.clear();
  return wrong;
}

}  // namespace

std::unique_ptr<RecordColumns> MakeTarColumns(const std::vector<TarField>& fields) {
  return std::make_unique<TarColumns>(fields);
}

}  // namespace headrace
