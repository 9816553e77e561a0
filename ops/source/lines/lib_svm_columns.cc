#include "ops/source/lines/lib_svm_columns.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/source/lines/number_text.h"
#include "ops/source/lines/stacked_texts.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

constexpr std::string_view kQuery = "qid:";

bool IsBlank(char byte) { return byte == ' ' || byte == '\t'; }

// The fields of a line, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line.substr(0, line.find('#'))) { SkipBlanks(); }

  bool ended() const { return rest_.empty(); }
  std::string_view Take() {
    size_t size = 0;
    while (size < rest_.size() && !IsBlank(rest_[size])) ++size;
    const std::string_view field = rest_.substr(0, size);
    rest_.remove_prefix(size);
    SkipBlanks();
    return field;
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

size_t CountFields(std::string_view line) {
  size_t count = 0;
  for (Fields fields(line); !fields.ended(); fields.Take()) ++count;
  return count;
}

template <typename T>
bool ReadWhole(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  return ReadPlainNumber(text.data(), end, value) == end || ReadNumber(text, value);
}

// `name:number`; without a colon the number stays as it is.
template <typename Name, typename Number>
bool ReadPair(std::string_view field, Name& name, Number& number) {
  const size_t colon = field.find(':');
  if (!ReadWhole(field.substr(0, colon), name)) return false;
  return colon == std::string_view::npos || ReadWhole(field.substr(colon + 1), number);
}

class LibSvmColumns : public RecordColumns {
 public:
  explicit LibSvmColumns(const LibSvmLines& lines) : lines_(lines) {}

  void Choose(RecordBlock& block) const override;
  void Expect(size_t rows) override { expected_ = rows; }
  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override;
  absl::Status Take(Block& block) override;

 private:
  absl::Status AddRow(std::string_view line);
  absl::Status AddFeature(std::string_view field, size_t number);
  absl::Status CheckIndex(int64_t index, size_t number) const;
  absl::Status MakeRoom(size_t features);
  BlockColumn Vectors(DType dtype, BufferRef buffer) const;
  size_t begin() const { return ends_.empty() ? 0 : ends_.back(); }
  int64_t* indices() const { return reinterpret_cast<int64_t*>(indices_->data()); }
  float* values() const { return reinterpret_cast<float*>(values_->data()); }

  const LibSvmLines lines_;
  BufferRef labels_;
  BufferRef indices_;
  BufferRef values_;
  std::vector<size_t> ends_;  // of the rows, among all features of the message
  size_t features_ = 0;       // of the message, with those of the row that is added
  size_t expected_ = 0;       // rows
  size_t last_features_ = 0;  // of the message before
  std::string_view line_;     // that is added
};

void LibSvmColumns::Choose(RecordBlock& block) const {
  size_t kept = 0;
  for (size_t i = 0; i < block.records.size(); ++i) {
    if (!Fields(block.content(i)).ended()) block.records[kept++] = block.records[i];
  }
  block.records.resize(kept);
}

size_t LibSvmColumns::Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) {
  for (size_t i = 0; i < count; ++i) {
    wrong = AddRow(block.content(first + i * step));
    if (wrong.ok()) continue;
    features_ = begin();
    return i;
  }
  return count;
}

absl::Status LibSvmColumns::AddRow(std::string_view line) {
  line_ = line;
  Fields fields(line);
  HEADRACE_RETURN_IF_ERROR(MakeRoom(CountFields(line)));
  const std::string_view first = fields.Take();
  float weight = 1;
  if (!ReadPair(first, reinterpret_cast<float*>(labels_->data())[ends_.size()], weight)) {
    return DataError("field 1 is ", ShownText(first), "; it must be a label, a number: ", ShownText(line));
  }
  for (size_t number = 2; !fields.ended(); ++number) {
    HEADRACE_RETURN_IF_ERROR(AddFeature(fields.Take(), number));
  }
  ends_.push_back(features_);
  return absl::OkStatus();
}

absl::Status LibSvmColumns::AddFeature(std::string_view field, size_t number) {
  if (number == 2 && field.substr(0, kQuery.size()) == kQuery) return absl::OkStatus();
  int64_t index = 0;
  float value = 1;
  if (!ReadPair(field, index, value)) {
    return DataError("field ", number, " is ", ShownText(field),
                     "; it must be index:value, such as 7:0.5: ", ShownText(line_));
  }
  HEADRACE_RETURN_IF_ERROR(CheckIndex(index, number));
  indices()[features_] = lines_.zero_based ? index : index - 1;
  values()[features_] = value;
  ++features_;
  return absl::OkStatus();
}

absl::Status LibSvmColumns::CheckIndex(int64_t index, size_t number) const {
  const int64_t first = lines_.zero_based ? 0 : 1;
  if (index < first || index - first >= lines_.features) {
    return DataError("field ", number, " has the index ", index, "; indices are ", first, " to ",
                     lines_.features - 1 + first, ": ", ShownText(line_));
  }
  if (features_ == begin() || index - first > indices()[features_ - 1]) return absl::OkStatus();
  return DataError("field ", number, " has the index ", index, " after ", indices()[features_ - 1] + first,
                   "; the indices of a line must ascend: ", ShownText(line_));
}

// For a further row of at most so many features, at first for as many as the last message had.
absl::Status LibSvmColumns::MakeRoom(size_t features) {
  const auto grow = [](BufferRef& buffer, size_t used, size_t more, size_t usual, size_t size) {
    return GrowBuffer(buffer, used * size, more * size, usual * size);
  };
  const bool made = grow(labels_, ends_.size(), 1, expected_, sizeof(float)) &&
                    grow(indices_, features_, features, last_features_, sizeof(int64_t)) &&
                    grow(values_, features_, features, last_features_, sizeof(float));
  return made ? absl::OkStatus() : ResourceError("no memory for ", features_ + features, " features");
}

absl::Status LibSvmColumns::Take(Block& block) {
  BufferRef labels = std::exchange(labels_, {});
  const void* const first = labels->data();
  const Shape rows = {static_cast<int64_t>(ends_.size())};
  block.columns.push_back(BlockColumn::Stacked(Tensor::View(DType::kFloat32, rows, std::move(labels), first)));
  block.columns.push_back(Vectors(DType::kInt64, std::exchange(indices_, {})));
  block.columns.push_back(Vectors(DType::kFloat32, std::exchange(values_, {})));
  last_features_ = std::exchange(features_, 0);
  ends_.clear();
  return absl::OkStatus();
}

// One vector for each row, all in one buffer.
BlockColumn LibSvmColumns::Vectors(DType dtype, BufferRef buffer) const {
  BlockColumn column;
  size_t begin = 0;
  for (const size_t end : ends_) {
    const Shape shape = {static_cast<int64_t>(end - begin)};
    column.Append(Tensor::View(dtype, shape, buffer, buffer->data() + begin * ItemSize(dtype)));
    begin = end;
  }
  return column;
}

}  // namespace

std::unique_ptr<RecordColumns> MakeLibSvmColumns(const LibSvmLines& lines) {
  return std::make_unique<LibSvmColumns>(lines);
}

}  // namespace headrace
