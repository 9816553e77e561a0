#include "engine/operator/batch_memory.h"

#include <algorithm>
#include <utility>

#include "core/buffer.h"

namespace headrace {
namespace {

// A batch may take this part of the budget: one waits to be taken, one is filled, and there are rows on their way.
constexpr int64_t kBudgetShare = 3;

// A smaller row costs less to copy than to place.
constexpr int64_t kLeastBytes = 256;

// Bytes of a value of the type; 0: it has no slot.
int64_t SlotBytes(const ir::ColumnType& type) {
  if (!type.fully_known() || !type.fields.empty()) return 0;
  return static_cast<int64_t>(ItemSize(type.dtype)) * ElementCount(*type.shape);
}

int64_t RowBytes(const std::vector<ir::ColumnType>& types) {
  int64_t bytes = 0;
  for (const ir::ColumnType& type : types) bytes += SlotBytes(type);
  return bytes;
}

}  // namespace

BatchMemory::~BatchMemory() {
  if (reserved_ > 0) source_.account->Charge(-reserved_);
}

void BatchMemory::Take() {
  // Charged to the pipeline and not to the row that happens to come first, whose cost it is not.
  TaskMemory memory(source_.pool, source_.account, std::exchange(reserved_, 0));
  for (size_t c = 0; c < types_->size(); ++c) {
    const ir::ColumnType& type = (*types_)[c];
    if (SlotBytes(type) == 0) continue;
    Shape shape = *type.shape;
    shape.insert(shape.begin(), rows_);
    absl::StatusOr<Tensor> column = Tensor::Allocate(type.dtype, shape);
    if (column.ok()) columns_[c] = *std::move(column);
  }
}

Tensor BatchMemory::SlotOf(int column, int64_t row) {
  std::call_once(taken_, [this] { Take(); });
  const Tensor& whole = columns_[static_cast<size_t>(column)];
  return whole.valid() ? whole.Index(row) : Tensor();
}

BatchSlots::BatchSlots(MemorySource source, int64_t rows, std::vector<ir::ColumnType> types, int64_t skipped,
                       EpochRange epochs, std::function<uint64_t(uint64_t epoch)> last_epoch)
    : source_(source),
      rows_(rows),
      types_(std::make_shared<const std::vector<ir::ColumnType>>(std::move(types))),
      epochs_(epochs),
      last_epoch_(std::move(last_epoch)),
      batch_bytes_(rows * RowBytes(*types_)),
      next_(-skipped) {}

int64_t BatchSlots::BytesBegunBy(int rows) const {
  const int64_t until_next = next_ > 0 ? rows_ - next_ : -next_;
  const int64_t begun = rows > until_next ? (rows - until_next - 1) / rows_ + 1 : 0;
  return std::max<int64_t>(0, begun * batch_bytes_ - kept_);
}

BatchSlots::Slot BatchSlots::Next() {
  if (next_ < 0) {
    ++next_;
    return {};
  }
  if (next_ == 0) {
    const int64_t reserved = std::min(kept_, batch_bytes_);
    kept_ -= reserved;
    memory_ = std::make_shared<BatchMemory>(source_, rows_, types_, reserved);
  }
  Slot slot = {memory_, next_};
  next_ = (next_ + 1) % rows_;
  // The batch may be with the user before its successor begins, who may write to it only if nothing else holds it.
  if (next_ == 0) memory_.reset();
  return slot;
}

void BatchSlots::EndEpoch(uint64_t epoch) {
  if (epoch < last_epoch_(epochs_.first)) return;
  // Looks for the last epoch that has ended by steps that double, and then halve: it may be far away, where an endless
  // repeat of all this was ended.
  uint64_t& ended = epochs_.first;
  const auto has_ended = [&](uint64_t later) {
    return later > ended && later <= epochs_.last && last_epoch_(later) <= epoch;
  };
  uint64_t step = 1;
  for (; has_ended(ended + step); step *= 2) ended += step;
  for (; step > 0; step /= 2) ended += has_ended(ended + step) ? step : 0;
  ended += ended < epochs_.last ? 1 : 0;
  next_ = 0;
  memory_.reset();
}

bool BatchSlots::Useful(int64_t rows, const std::vector<ir::ColumnType>& types, int64_t budget) {
  const int64_t row_bytes = RowBytes(types);
  return row_bytes >= kLeastBytes && rows <= budget / kBudgetShare / row_bytes;
}

}  // namespace headrace
