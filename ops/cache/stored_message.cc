#include "ops/cache/stored_message.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "ops/cache/stored_failures.h"

namespace headrace {
namespace {

constexpr int64_t kStoredMessageNumbersOfRow = 5;
// Tensors of rows that failed.
constexpr size_t kFailures = 2;

// One more number says that there are tensors of rows that failed.
bool HoldsFailures(const Tensor& held, const Tensor& names, size_t checkpoint) {
  return held.dim(0) == 3 + static_cast<int64_t>(checkpoint) + names.dim(0) * kStoredMessageNumbersOfRow;
}

bool Fits(absl::Span<const Tensor> tensors, const ir::Schema& schema, size_t checkpoint) {
  if (tensors.size() < 2) return false;
  const Tensor& names = tensors.back();
  const Tensor& held = tensors[tensors.size() - 2];
  if (names.dtype() != DType::kString || names.rank() != 1) return false;
  if (held.dtype() != DType::kInt64 || held.rank() != 1 || held.dim(0) < 2) return false;
  const int64_t rows = held.data<int64_t>()[0];
  // The names exist, so their number cannot make a product wrap.
  if (rows != names.dim(0) || held.data<int64_t>()[1] != static_cast<int64_t>(checkpoint)) return false;
  const bool failures = HoldsFailures(held, names, checkpoint);
  if (!failures &&
      (rows < 1 || held.dim(0) != 2 + static_cast<int64_t>(checkpoint) + rows * kStoredMessageNumbersOfRow))
    return false;
  const size_t columns = schema.columns.size();
  const size_t others = failures ? 2 + kFailures : 2;
  // Of a tombstone.
  if (failures && rows == 1 && tensors.size() == others) return true;
  if (tensors.size() != others + static_cast<size_t>(rows) * columns) return false;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    if (!ir::FitsSchema(schema, tensors.subspan(row * columns, columns))) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> WriteMessage(const Block& block) {
  std::vector<Tensor> tensors;
  std::vector<int64_t> numbers{block.rows(), static_cast<int64_t>(block.checkpoint.size())};
  for (const uint64_t checkpoint : block.checkpoint) numbers.push_back(static_cast<int64_t>(checkpoint));
  std::vector<std::string_view> files;
  for (int i = 0; i < block.rows(); ++i) {
    for (const BlockColumn& column : block.columns) {
      if (!block.tombstone()) tensors.push_back(column.row(i));
    }
    const Provenance& provenance = block.provenances[i];
    numbers.insert(numbers.end(), {static_cast<int64_t>(block.ids[i].key), block.ids[i].pad ? 1 : 0, provenance.record,
                                   provenance.offset, provenance.file == nullptr ? 0 : 1});
    files.push_back(provenance.file == nullptr ? std::string_view() : std::string_view(*provenance.file));
  }
  if (HasFailures(block)) {
    numbers.push_back(1);
    HEADRACE_RETURN_IF_ERROR(WriteFailures(block, tensors));
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor held, Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(numbers.size())}));
  std::copy(numbers.begin(), numbers.end(), held.mutable_data<int64_t>());
  tensors.push_back(std::move(held));
  HEADRACE_ASSIGN_OR_RETURN(Tensor names, Tensor::CopyBytesArray(DType::kString, {block.rows()}, files));
  tensors.push_back(std::move(names));
  return tensors;
}

Message ReadMessage(std::vector<Tensor> tensors, const ir::Schema& schema, size_t checkpoint, uint64_t epoch,
                    uint64_t row_epoch) {
  if (!Fits(tensors, schema, checkpoint)) return nullptr;
  auto block = std::make_unique<Block>();
  block->epoch = epoch;
  const Tensor names = std::move(tensors.back());
  tensors.pop_back();
  const Tensor held = std::move(tensors.back());
  tensors.pop_back();
  Tensor failure_texts;
  Tensor failure_numbers;
  if (HoldsFailures(held, names, checkpoint)) {
    failure_texts = std::move(tensors.back());
    tensors.pop_back();
    failure_numbers = std::move(tensors.back());
    tensors.pop_back();
  }
  const int64_t* number = held.data<int64_t>();
  const int64_t rows = *number;
  number += 2;
  for (size_t i = 0; i < checkpoint; ++i) block->checkpoint.push_back(static_cast<uint64_t>(*number++));
  const size_t columns = tensors.empty() ? 0 : schema.columns.size();
  block->columns.resize(columns);
  for (int64_t i = 0; i < rows; ++i, number += kStoredMessageNumbersOfRow) {
    block->ids.push_back({row_epoch, static_cast<uint64_t>(number[0]), number[1] != 0});
    auto file = number[4] == 0 ? nullptr : std::make_shared<const std::string>(names.bytes_at(i));
    block->provenances.push_back({std::move(file), number[2], number[3]});
    for (size_t c = 0; c < columns; ++c) {
      block->columns[c].Append(std::move(tensors[static_cast<size_t>(i) * columns + c]));
    }
  }
  if (!failure_numbers.valid()) return block;
  const bool good = ReadFailures(failure_numbers, failure_texts, *block);
  return good && block->tombstone() == (rows == 1 && columns == 0) ? std::move(block) : nullptr;
}

}  // namespace headrace
