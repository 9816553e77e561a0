#include "ops/batch/gathered_strings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/buffer.h"

namespace headrace {
namespace {

// On average; a page. The table's entry costs as much as the copy of a few hundred bytes.
constexpr int64_t kLongString = 4096;
constexpr size_t kMostKept = 2;  // times the bytes of the strings

// Each once. Empty: a string has none.
std::vector<BufferRef> BuffersOf(absl::Span<const Tensor> strings) {
  std::vector<BufferRef> buffers;
  for (const Tensor& each : strings) {
    if (!each.buffer()) return {};
    buffers.push_back(each.buffer());
  }
  const auto address = [](const BufferRef& buffer) { return buffer.get(); };
  std::ranges::sort(buffers, std::less<>(), address);
  const auto repeated = std::ranges::unique(buffers, std::equal_to<>(), address);
  buffers.erase(repeated.begin(), repeated.end());
  return buffers;
}

// Lent memory, such as Arrow's, has the capacity 0: how much of it a batch would keep is not known.
bool MayKeep(const std::vector<BufferRef>& buffers, size_t bytes) {
  size_t kept = 0;
  for (const BufferRef& buffer : buffers) {
    if (buffer->capacity() == 0) return false;
    kept += buffer->capacity();
  }
  return !buffers.empty() && kept <= kMostKept * bytes;
}

// By numbers, as the difference of addresses in different buffers has no meaning of its own.
int64_t Distance(const void* from, const void* to) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from));
}

}  // namespace

std::optional<Tensor> GatherStrings(absl::Span<const Tensor> strings, const Shape& shape) {
  size_t bytes = 0;
  for (const Tensor& each : strings) bytes += each.bytes();
  const int64_t count = ElementCount(shape);
  if (count == 0 || static_cast<int64_t>(bytes) < kLongString * count) return std::nullopt;
  std::vector<BufferRef> buffers = BuffersOf(strings);
  if (!MayKeep(buffers, bytes)) return std::nullopt;
  BufferRef spans = BufferPool::Current().Allocate(2 * sizeof(int64_t) * static_cast<size_t>(count));
  BufferRef group = BufferRef::Group(std::move(buffers));
  if (!spans || !group) return std::nullopt;
  auto* span = reinterpret_cast<int64_t*>(spans->data());
  for (const Tensor& each : strings) {
    for (int64_t i = 0; i < each.elements(); ++i) {
      const std::string_view string = each.bytes_at(i);
      const int64_t begin = string.empty() ? 0 : Distance(group->data(), string.data());
      *span++ = begin;
      *span++ = begin + static_cast<int64_t>(string.size());
    }
  }
  return Tensor::ViewSpans(strings[0].dtype(), shape, std::move(group), std::move(spans));
}

}  // namespace headrace
