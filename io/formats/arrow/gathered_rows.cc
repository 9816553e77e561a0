#include "io/formats/arrow/gathered_rows.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using RowsOfArrow = absl::Span<const RowOfArrow>;

// Whether `holds` is true of all batches; rows of one batch that follow each other are asked about once.
template <typename Holds>
bool AllBatches(RowsOfArrow rows, const Holds& holds) {
  const ArrowRows* last = nullptr;
  for (const RowOfArrow& each : rows) {
    if (each.rows == last) continue;
    if (!holds(*each.rows)) return false;
    last = each.rows;
  }
  return true;
}

bool AreOfOneType(RowsOfArrow rows) {
  const ArrowColumn& first = rows[0].rows->column();
  return AllBatches(rows, [&](const ArrowRows& batch) {
    const ArrowColumn& column = batch.column();
    return &column == &first || (column.dtype == first.dtype && column.shape == first.shape);
  });
}

// Copies rows of a size that the compiler knows, so that each is one load and one store.
template <size_t kBytes>
void CopyFixedRows(RowsOfArrow rows, uint8_t* target) {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(target + i * kBytes, rows[i].rows->ElementsAt(rows[i].row), kBytes);
  }
}

void CopyNumberRows(RowsOfArrow rows, size_t bytes, uint8_t* target) {
  if (bytes == 4) return CopyFixedRows<4>(rows, target);
  if (bytes == 8) return CopyFixedRows<8>(rows, target);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(target + i * bytes, rows[i].rows->ElementsAt(rows[i].row), bytes);
  }
}

std::optional<GatheredRows> GatherNumbers(RowsOfArrow rows) {
  const ArrowColumn& column = rows[0].rows->column();
  Shape shape = column.shape;
  shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  absl::StatusOr<Tensor> gathered = Tensor::Allocate(column.dtype, shape);
  if (!gathered.ok()) return std::nullopt;
  CopyNumberRows(rows, gathered->bytes() / rows.size(), gathered->mutable_raw());
  return GatheredRows{*std::move(gathered), std::nullopt};
}

std::optional<GatheredRows> GatherLists(RowsOfArrow rows) {
  const ArrowColumn& column = rows[0].rows->column();
  absl::StatusOr<Tensor> splits = Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(rows.size()) + 1});
  if (!splits.ok()) return std::nullopt;
  auto* const split = splits->mutable_data<int64_t>();
  std::vector<const uint8_t*> lists(rows.size());
  split[0] = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ArrowRows::List list = rows[i].rows->ListAt(rows[i].row);
    lists[i] = list.values;
    split[i + 1] = split[i] + list.length;
  }
  Shape shape = column.shape;
  shape[0] = split[rows.size()];
  absl::StatusOr<Tensor> values = Tensor::Allocate(column.dtype, shape);
  if (!values.ok()) return std::nullopt;
  const size_t bytes = static_cast<size_t>(values->stride(0));
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t length = static_cast<size_t>(split[i + 1] - split[i]) * bytes;
    if (length > 0) std::memcpy(values->mutable_raw() + static_cast<size_t>(split[i]) * bytes, lists[i], length);
  }
  return GatheredRows{*std::move(values), *std::move(splits)};
}

std::optional<GatheredRows> GatherTexts(RowsOfArrow rows) {
  std::vector<std::string_view> texts;
  texts.reserve(rows.size());
  for (const RowOfArrow& each : rows) {
    const absl::StatusOr<std::string_view> text = each.rows->TextAt(each.row);
    if (!text.ok()) return std::nullopt;
    texts.push_back(*text);
  }
  absl::StatusOr<Tensor> gathered =
      Tensor::CopyBytesArray(rows[0].rows->column().dtype, {static_cast<int64_t>(rows.size())}, texts);
  if (!gathered.ok()) return std::nullopt;
  return GatheredRows{*std::move(gathered), std::nullopt};
}

}  // namespace

std::optional<GatheredRows> GatherArrowRows(absl::Span<const RowOfArrow> rows) {
  if (!AreOfOneType(rows)) return std::nullopt;
  if (AllBatches(rows, [](const ArrowRows& batch) { return batch.copies(); })) return GatherNumbers(rows);
  if (AllBatches(rows, [](const ArrowRows& batch) { return batch.lends_lists(); })) return GatherLists(rows);
  if (AllBatches(rows, [](const ArrowRows& batch) { return batch.lends_texts(); })) return GatherTexts(rows);
  return std::nullopt;
}

}  // namespace headrace
