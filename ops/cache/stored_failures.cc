#include "ops/cache/stored_failures.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// Whether it continues, whether it is a tombstone, and how many rows were removed.
constexpr size_t kNumbersBefore = 3;
constexpr size_t kStoredFailuresNumbersOfRow = 6;
constexpr std::array kKinds = {ErrorKind::kData, ErrorKind::kNotFound, ErrorKind::kFunction};
constexpr std::array kFields = {ErrorField::kOperator, ErrorField::kLocation, ErrorField::kRow, ErrorField::kFile};
// The provenance's file, the message and the fields.
constexpr size_t kTextsOfRow = 2 + kFields.size();

void Write(const RowId& id, const Provenance& provenance, const absl::Status& error, std::vector<int64_t>& numbers,
           std::vector<std::string>& texts) {
  const auto kind = std::find(kKinds.begin(), kKinds.end(), KindOf(error)) - kKinds.begin();
  numbers.insert(numbers.end(), {static_cast<int64_t>(kind), static_cast<int64_t>(id.key), id.pad ? 1 : 0,
                                 provenance.record, provenance.offset, provenance.file == nullptr ? 0 : 1});
  texts.push_back(provenance.file == nullptr ? std::string() : *provenance.file);
  texts.emplace_back(error.message());
  for (const ErrorField field : kFields) texts.push_back(GetErrorField(error, field));
}

// Null if it is no kind of error for which a row is left out.
std::unique_ptr<FailedRow> Read(const int64_t* number, int64_t text, const Tensor& texts) {
  if (number[0] < 0 || number[0] >= static_cast<int64_t>(kKinds.size())) return nullptr;
  auto row = std::make_unique<FailedRow>();
  row->id = {0, static_cast<uint64_t>(number[1]), number[2] != 0};
  if (number[5] != 0) row->provenance.file = std::make_shared<const std::string>(texts.bytes_at(text));
  row->provenance.record = number[3];
  row->provenance.offset = number[4];
  row->error = MakeError(kKinds[static_cast<size_t>(number[0])], texts.bytes_at(text + 1));
  for (size_t i = 0; i < kFields.size(); ++i) {
    AddErrorField(row->error, kFields[i], texts.bytes_at(text + 2 + static_cast<int64_t>(i)));
  }
  return row;
}

bool Fits(const Tensor& numbers, const Tensor& texts) {
  if (numbers.dtype() != DType::kInt64 || numbers.rank() != 1) return false;
  if (texts.dtype() != DType::kString || texts.rank() != 1) return false;
  const auto count = static_cast<size_t>(numbers.dim(0));
  if (count < kNumbersBefore || (count - kNumbersBefore) % kStoredFailuresNumbersOfRow != 0) return false;
  const size_t rows = (count - kNumbersBefore) / kStoredFailuresNumbersOfRow;
  const int64_t* number = numbers.data<int64_t>();
  const uint64_t own = number[1] != 0 ? 1 : 0;
  return static_cast<size_t>(texts.dim(0)) == rows * kTextsOfRow && static_cast<uint64_t>(number[2]) == rows - own &&
         rows >= own;
}

}  // namespace

bool HasFailures(const Block& block) { return block.continues || block.tombstone() || block.removed != nullptr; }

absl::Status WriteFailures(const Block& block, std::vector<Tensor>& tensors) {
  const size_t removed = block.removed == nullptr ? 0 : block.removed->size();
  std::vector<int64_t> numbers{block.continues ? 1 : 0, block.tombstone() ? 1 : 0, static_cast<int64_t>(removed)};
  std::vector<std::string> texts;
  for (size_t i = 0; i < removed; ++i) {
    const FailedRow& row = (*block.removed)[i];
    Write(row.id, row.provenance, row.error, numbers, texts);
  }
  if (block.tombstone()) Write(block.ids[0], block.provenances[0], block.error, numbers, texts);
  HEADRACE_ASSIGN_OR_RETURN(Tensor held, Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(numbers.size())}));
  std::copy(numbers.begin(), numbers.end(), held.mutable_data<int64_t>());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  HEADRACE_ASSIGN_OR_RETURN(Tensor words,
                            Tensor::CopyBytesArray(DType::kString, {static_cast<int64_t>(views.size())}, views));
  tensors.push_back(std::move(held));
  tensors.push_back(std::move(words));
  return absl::OkStatus();
}

bool ReadFailures(const Tensor& numbers, const Tensor& texts, Block& block) {
  if (!Fits(numbers, texts)) return false;
  const int64_t* number = numbers.data<int64_t>();
  const bool tombstone = number[1] != 0;
  if (tombstone && block.rows() != 1) return false;
  // It says nothing.
  if (numbers.dim(0) == static_cast<int64_t>(kNumbersBefore) && number[0] == 0) return false;
  auto removed = std::make_unique<std::vector<FailedRow>>();
  const int64_t rows =
      (numbers.dim(0) - static_cast<int64_t>(kNumbersBefore)) / static_cast<int64_t>(kStoredFailuresNumbersOfRow);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t* at = number + kNumbersBefore + static_cast<size_t>(i) * kStoredFailuresNumbersOfRow;
    std::unique_ptr<FailedRow> row = Read(at, i * static_cast<int64_t>(kTextsOfRow), texts);
    if (row == nullptr) return false;
    removed->push_back(std::move(*row));
  }
  if (tombstone) {
    block.error = std::move(removed->back().error);
    removed->pop_back();
  }
  if (!removed->empty()) block.removed = std::move(removed);
  block.continues = number[0] != 0;
  return true;
}

}  // namespace headrace
