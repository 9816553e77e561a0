#include "ops/source/lines/stacked_texts.h"

#include <algorithm>

#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/pending_read.h"

namespace headrace {
namespace {

static_assert(StackedTexts::kShort <= PendingRead::kSlack);

}  // namespace

bool GrowBuffer(BufferRef& buffer, size_t used, size_t more, size_t usual) {
  if (buffer && used + more <= buffer->capacity()) return true;
  const size_t least = buffer ? 2 * buffer->capacity() : usual;
  BufferRef grown = BufferPool::Current().Allocate(std::max(used + more, least));
  if (!grown) return false;
  if (buffer) std::memcpy(grown->data(), buffer->data(), used);
  buffer = std::move(grown);
  return true;
}

// At first for all texts that are expected, by the mean of those of the last Take.
absl::Status StackedTexts::Grow(size_t texts, size_t bytes) {
  const bool begins = !ends_;
  const size_t usual = last_count_ == 0 ? 0 : std::min(kMostUsual, expected_ * (last_bytes_ / last_count_ + 1));
  const bool fits =
      GrowBuffer(bytes_, filled_, bytes + kShort, usual + usual / 16 + kShort) &&
      GrowBuffer(ends_, (count_ + 1) * sizeof(int64_t), texts * sizeof(int64_t), (expected_ + 1) * sizeof(int64_t));
  if (!fits) return ResourceError("no memory for ", count_ + texts, " texts of ", filled_ + bytes, " bytes");
  if (begins) *reinterpret_cast<int64_t*>(ends_->data()) = 0;
  return absl::OkStatus();
}

Tensor StackedTexts::Take(absl::Span<const int64_t> shape) {
  last_count_ = std::exchange(count_, 0);
  last_bytes_ = std::exchange(filled_, 0);
  return Tensor::ViewBytesArray(DType::kString, shape, std::exchange(bytes_, {}), std::exchange(ends_, {}));
}

bool AllAreUtf8(const RecordBlock& block, size_t first, size_t step, size_t count) {
  if (step != 1 || count == 0) return false;
  const std::string_view begin = block.content(first);
  const std::string_view end = block.content(first + count - 1);
  return IsUtf8({begin.data(), static_cast<size_t>(end.data() + end.size() - begin.data())});
}

}  // namespace headrace
