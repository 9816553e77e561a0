#include "ops/source/item_columns.h"

#include <string_view>
#include <utility>
#include <vector>

#include "ops/rows/separate_row.h"

namespace headrace {
namespace {

// Shorter ones are copied faster than views of them are made.
constexpr size_t kShortBytes = 512;

// Whether items are short, or share memory that views would keep in vain: they are copied.
bool Joins(absl::Span<const Item> items, absl::Span<const std::string_view> parts) {
  size_t buffers = 0, kept = 0, bytes = 0;
  const Buffer* last = nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    bytes += parts[i].size();
    kept += items[i].share;
    const Buffer* const buffer = items[i].buffer->get();
    if (std::exchange(last, buffer) == buffer) continue;
    ++buffers;
    if (items[i].share == 0) kept += buffer->capacity();
  }
  if (buffers == items.size() && buffers > 1) return false;
  return kept / kMostKeptByRow > bytes || (items.size() > 1 && bytes / items.size() < kShortBytes);
}

bool InOneBuffer(absl::Span<const Item> items) {
  return std::all_of(items.begin(), items.end(),
                     [&](const Item& item) { return item.buffer->get() == items[0].buffer->get(); });
}

// Views of one buffer, in a table.
absl::StatusOr<BlockColumn> SpansColumn(const BufferRef& buffer, absl::Span<const std::string_view> parts) {
  BufferRef spans = BufferPool::Current().Allocate(2 * parts.size() * sizeof(int64_t));
  if (!spans) return ResourceError("no memory for ", parts.size(), " records");
  const char* const begin = reinterpret_cast<const char*>(buffer->data());
  auto* span = reinterpret_cast<int64_t*>(spans->data());
  for (const std::string_view part : parts) {
    *span++ = part.data() - begin;
    *span++ = part.data() - begin + static_cast<int64_t>(part.size());
  }
  const Shape shape = {static_cast<int64_t>(parts.size())};
  return BlockColumn::Stacked(Tensor::ViewSpans(DType::kBytes, shape, buffer, std::move(spans)));
}

}  // namespace

absl::StatusOr<BlockColumn> BytesColumn(absl::Span<const Item> items, PartOfItem part) {
  absl::InlinedVector<std::string_view, 1> parts;
  parts.reserve(items.size());
  for (const Item& item : items) {
    parts.push_back(part == nullptr ? item.bytes : part(item.bytes));
  }
  if (!Joins(items, parts)) {
    if (items.size() > 1 && InOneBuffer(items)) return SpansColumn(*items[0].buffer, parts);
    BlockColumn views;
    for (size_t i = 0; i < items.size(); ++i) {
      views.Append(Tensor::ViewBytes(DType::kBytes, *items[i].buffer, parts[i].data(), parts[i].size()));
    }
    return views;
  }
  Shape shape;
  if (items.size() > 1) shape.push_back(static_cast<int64_t>(items.size()));
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined, Tensor::CopyBytesArray(DType::kBytes, shape, parts));
  return items.size() > 1 ? BlockColumn::Stacked(std::move(joined)) : BlockColumn(std::move(joined));
}

absl::StatusOr<BlockColumn> PathColumn(absl::Span<const Item> items) {
  BlockColumn paths;
  for (const Item& item : items) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor path, Tensor::CopyBytes(DType::kString, *item.path));
    paths.Append(std::move(path));
  }
  return paths;
}

}  // namespace headrace
