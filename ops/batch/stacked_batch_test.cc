#include "ops/batch/stacked_batch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/batch_memory.h"

namespace headrace {
namespace {

Block RowOf(Tensor value) {
  Block block;
  std::vector<Tensor> columns = {std::move(value)};
  AppendRow(block, {}, {}, columns);
  return block;
}

// Rows of one size are copied into memory taken with the first.
TEST(StackedBatch, TakesMemoryForTheFirstRowAlone) {
  StackedBatch batch(3, {{.name = "value"}});
  EXPECT_EQ(batch.expected_bytes(), std::nullopt);
  for (int row = 0; row < 2; ++row) {
    Block block = RowOf(*Tensor::Allocate(DType::kFloat32, {100}));
    batch.Add(block, 0, 1);
    EXPECT_EQ(batch.expected_bytes(), 0);
  }
  Block block = RowOf(*Tensor::Allocate(DType::kFloat32, {100}));
  batch.Add(block, 0, 1);
  ASSERT_TRUE(batch.Take({}, false).ok());
  EXPECT_EQ(batch.expected_bytes(), std::nullopt);
}

// Others wait, and are copied at the end.
TEST(StackedBatch, TakesMemoryForRowsThatWaitAtTheEnd) {
  StackedBatch batch(3, {{.name = "value"}});
  int64_t waiting = 0;
  for (int row = 1; row < 3; ++row) {
    const Tensor text = *Tensor::CopyBytes(DType::kBytes, std::string(static_cast<size_t>(1000 * row), 'x'));
    waiting += static_cast<int64_t>(text.bytes());
    Block block = RowOf(text);
    batch.Add(block, 0, 1);
    EXPECT_EQ(batch.expected_bytes(), waiting);
  }
  batch.Clear();
  EXPECT_EQ(batch.expected_bytes(), std::nullopt);
}

// Has no memory after so many allocations.
class LimitedAllocator : public Allocator {
 public:
  explicit LimitedAllocator(int allocations) : left_(allocations) {}
  void* Allocate(size_t bytes) override { return left_-- > 0 ? SystemAllocator()->Allocate(bytes) : nullptr; }
  void Free(void* memory, size_t bytes) override { SystemAllocator()->Free(memory, bytes); }

 private:
  int left_;
};

// A row that does not lie in its slot makes the batch copy those before it: a refusal of memory is the batch's error.
TEST(StackedBatch, NamesMemoryThatIsRefusedForRowsBeforeALateOne) {
  const auto types = std::make_shared<const std::vector<ir::ColumnType>>(2, ir::ColumnType::Of(DType::kFloat32, {100}));
  for (int refused = 0; refused < 3; ++refused) {
    LimitedAllocator allocator(4 + refused);
    BufferPool pool(&allocator);
    MemoryAccount* const account = MemoryAccount::Open();
    {
      const TaskMemory task(&pool, account, 0);
      const auto memory = std::make_shared<BatchMemory>(MemorySource{&pool, account}, 3, types, /*reserved=*/0);
      Block first;
      Block second;
      std::vector<Tensor> slots = {memory->SlotOf(0, 0), memory->SlotOf(1, 0)};
      std::vector<Tensor> own = {*Tensor::Allocate(DType::kFloat32, {100}), *Tensor::Allocate(DType::kFloat32, {100})};
      AppendRow(first, {}, {}, slots);
      AppendRow(second, {}, {}, own);
      first.batch_memory = memory;
      StackedBatch batch(3, {{.name = "one"}, {.name = "other"}});
      batch.Add(first, 0, 1);
      batch.Add(second, 0, 1);
      EXPECT_EQ(batch.expected_bytes(), 0);
      EXPECT_EQ(batch.Take({}, false).status().code(),
                refused < 2 ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kOk);
    }
    account->Close();
    pool.Trim(0);
  }
}

// The other rows of the block count for themselves.
TEST(StackedBatch, CountsOfABlockOfAFileWhatItsRowsAre) {
  const BufferRef file = BufferPool::Global().Allocate(size_t{1} << 20);
  StackedBatch batch(10, {{.name = "record"}});
  for (int row = 0; row < 5; ++row) {
    Block block = RowOf(Tensor::ViewBytes(DType::kBytes, file, file->data() + 1000 * row, 1000));
    batch.Add(block, 0, 1);
  }
  EXPECT_EQ(batch.held_bytes(), 5000u);
}

Tensor Strings() { return *Tensor::CopyBytesArray(DType::kString, {4}, {"one", "two", "three", "four"}); }

Block BlockOf(Tensor rows) {
  Block block;
  for (int64_t row = 0; row < rows.dim(0); ++row) {
    block.ids.push_back({});
    block.provenances.push_back({});
  }
  block.columns.push_back(BlockColumn::Stacked(std::move(rows)));
  return block;
}

Tensor BatchOf(Block& block, int from, int count) {
  StackedBatch batch(count, {{.name = "text"}});
  batch.Add(block, from, count);
  return (*batch.Take({}, false))->columns[0].row(0);
}

TEST(StackedBatch, TakesStringsOfAWholeBatchAsTheyAre) {
  Tensor large = *Tensor::CopyBytesArray(DType::kString, {2}, {std::string(5000, 'x'), std::string(6000, 'y')});
  const uint8_t* const bytes = large.raw();
  Block block = BlockOf(std::move(large));
  const Tensor batch = BatchOf(block, 0, 2);
  EXPECT_EQ(batch.raw(), bytes);
  EXPECT_EQ(batch.bytes_at(1), std::string(6000, 'y'));
}

Tensor Numbers(int64_t rows) {
  Tensor numbers = *Tensor::Allocate(DType::kInt64, {rows, 64});
  for (int64_t i = 0; i < numbers.elements(); ++i) numbers.mutable_data<int64_t>()[i] = i;
  return numbers;
}

TEST(StackedBatch, TakesNumbersOfAWholeBatchAsTheyAre) {
  Tensor numbers = Numbers(3);
  const uint8_t* const bytes = numbers.raw();
  Block block = BlockOf(std::move(numbers));
  block.ids[1].changed = true;
  StackedBatch batch(3, {{.name = "value"}});
  batch.Add(block, 0, 3);
  EXPECT_EQ(batch.rows(), 3);
  EXPECT_GE(batch.held_bytes(), Numbers(3).bytes());
  const Message made = *batch.Take({}, false);
  EXPECT_EQ(made->columns[0].row(0).raw(), bytes);
  EXPECT_TRUE(TensorsEqual(made->columns[0].row(0), Numbers(3)));
  EXPECT_TRUE(made->ids[0].changed);
}

TEST(StackedBatch, CopiesNumbersThatOthersHoldOrThatArePartOfMore) {
  const Tensor held = Numbers(3);
  Block whole = BlockOf(held);
  EXPECT_NE(BatchOf(whole, 0, 3).raw(), held.raw());
  Block part = BlockOf(Numbers(8).Slice(0, 5, 3));
  const uint8_t* const bytes = part.columns[0].stack().raw();
  const Tensor copied = BatchOf(part, 0, 3);
  EXPECT_NE(copied.raw(), bytes);
  EXPECT_TRUE(TensorsEqual(copied, Numbers(8).Slice(0, 5, 3)));
  Block longer = BlockOf(Numbers(4));
  EXPECT_TRUE(TensorsEqual(BatchOf(longer, 1, 3), Numbers(4).Slice(0, 1, 3)));
  StackedBatch larger(4, {{.name = "value"}});
  Block three = BlockOf(Numbers(3));
  Block one = BlockOf(Numbers(1));
  larger.Add(three, 0, 3);
  larger.Add(one, 0, 1);
  EXPECT_TRUE(TensorsEqual((*larger.Take({}, false))->columns[0].row(0).Slice(0, 0, 3), Numbers(3)));
}

// As those of Arrow, arrays and caches.
TEST(StackedBatch, CopiesNumbersOfLentMemory) {
  const Tensor numbers = Numbers(3);
  BufferRef lent = BufferRef::Foreign(const_cast<uint8_t*>(numbers.raw()), 0, [] {});
  Block block = BlockOf(Tensor::View(DType::kInt64, {3, 64}, std::move(lent), numbers.raw()));
  const Tensor batch = BatchOf(block, 0, 3);
  EXPECT_NE(batch.raw(), numbers.raw());
  EXPECT_TRUE(TensorsEqual(batch, numbers));
}

// A filler copies the last row, also of rows that came as one.
TEST(StackedBatch, RepeatsTheLastOfStringsThatCameTogether) {
  StackedBatch batch(5, {{.name = "text"}});
  Block block = BlockOf(Strings());
  batch.Add(block, 0, 4);
  batch.AddFiller();
  const Message made = *batch.Take({}, true);
  const Tensor texts = made->columns[0].row(0);
  ASSERT_EQ(texts.elements(), 5);
  EXPECT_EQ(texts.bytes_at(3), "four");
  EXPECT_EQ(texts.bytes_at(4), "four");
  EXPECT_TRUE(made->columns[1].row(0).data<bool>()[4]);
}

// Rows of the batch, each a byte string of that many bytes in `memory` at the offset.
Tensor BatchOfParts(const BufferRef& memory, const std::vector<std::pair<size_t, size_t>>& parts) {
  StackedBatch batch(static_cast<int>(parts.size()), {{.name = "record"}});
  for (const auto& [offset, bytes] : parts) {
    Block block = RowOf(Tensor::ViewBytes(DType::kBytes, memory, memory->data() + offset, bytes));
    batch.Add(block, 0, 1);
  }
  return (*batch.Take({}, false))->columns[0].row(0);
}

TEST(StackedBatch, LeavesLongStringsWhereTheyAre) {
  StackedBatch batch(3, {{.name = "record"}});
  std::vector<const void*> places;
  for (size_t row = 0; row < 3; ++row) {
    const Tensor record = *Tensor::CopyBytes(DType::kBytes, std::string(10'000 + row, static_cast<char>('a' + row)));
    places.push_back(record.raw());
    Block block = RowOf(record);
    batch.Add(block, 0, 1);
  }
  const Tensor records = (*batch.Take({}, false))->columns[0].row(0);
  EXPECT_EQ(records.shape(), Shape{3});
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(records.bytes_at(row).data(), places[static_cast<size_t>(row)]);
    EXPECT_EQ(records.bytes_at(row), std::string(10'000 + static_cast<size_t>(row), static_cast<char>('a' + row)));
  }
  EXPECT_TRUE(TensorsEqual(records, *records.Joined()));
  EXPECT_GE(records.footprint(), 30'000u);
}

TEST(StackedBatch, LeavesLongStringsOfBlocksWhereTheyAre) {
  const Tensor first = *Tensor::CopyBytesArray(DType::kBytes, {2}, {std::string(9000, 'x'), ""});
  const Tensor second = *Tensor::CopyBytesArray(DType::kBytes, {2}, {std::string(7000, 'y'), std::string(8000, 'z')});
  StackedBatch batch(3, {{.name = "record"}});
  Block one = BlockOf(first), two = BlockOf(second);
  batch.Add(one, 0, 2);
  batch.Add(two, 1, 1);
  const Tensor records = (*batch.Take({}, false))->columns[0].row(0);
  EXPECT_EQ(records.bytes_at(0).data(), first.bytes_at(0).data());
  EXPECT_EQ(records.bytes_at(1), "");
  EXPECT_EQ(records.bytes_at(2).data(), second.bytes_at(1).data());
}

// Nothing after a short one is read with it, where another buffer may follow.
TEST(StackedBatch, JoinsLongAndShortStringsThatStayedWhereTheyAre) {
  StackedBatch batch(4, {{.name = "record"}});
  const std::vector<std::string> records = {std::string(30'000, 'x'), "", "short", "ends"};
  for (const std::string& record : records) {
    auto* const own = new std::string(record);
    BufferRef memory = BufferRef::Foreign(own->data(), own->size() + 1, [own] { delete own; });
    Block block = RowOf(Tensor::ViewBytes(DType::kBytes, std::move(memory), own->data(), own->size()));
    batch.Add(block, 0, 1);
  }
  const Tensor made = (*batch.Take({}, false))->columns[0].row(0);
  EXPECT_FALSE(made.joined());
  const Tensor some = *made.Slice(0, 1, 3).Joined();
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(some.bytes_at(i), records[static_cast<size_t>(i) + 1]);
}

TEST(StackedBatch, CopiesLongStringsAmongMore) {
  const BufferRef file = BufferPool::Global().Allocate(size_t{100} << 10);
  std::memset(file->data(), 'x', file->capacity());
  const Tensor few = BatchOfParts(file, {{0, 20'000}, {50'000, 20'000}});
  EXPECT_NE(few.bytes_at(0).data(), reinterpret_cast<const char*>(file->data()));
  EXPECT_EQ(few.bytes_at(1), std::string(20'000, 'x'));
  const Tensor most = BatchOfParts(file, {{0, 40'000}, {50'000, 40'000}});
  EXPECT_EQ(most.bytes_at(0).data(), reinterpret_cast<const char*>(file->data()));
}

TEST(StackedBatch, CopiesLongStringsOfLentMemory) {
  const std::string lent(20'000, 'x');
  const BufferRef memory = BufferRef::Foreign(const_cast<char*>(lent.data()), 0, [] {});
  const Tensor batch = BatchOfParts(memory, {{0, 10'000}, {10'000, 10'000}});
  EXPECT_NE(batch.bytes_at(0).data(), lent.data());
  EXPECT_EQ(batch.bytes_at(1), std::string(10'000, 'x'));
}

TEST(StackedBatch, CopiesStringsThatOthersHoldOrThatArePartOfMore) {
  const Tensor held = Strings();
  Block whole = BlockOf(held);
  const Tensor all = BatchOf(whole, 0, 4);
  EXPECT_NE(all.raw(), held.raw());
  EXPECT_TRUE(TensorsEqual(all, held));
  Block block = BlockOf(Strings());
  const Tensor two = BatchOf(block, 1, 2);
  EXPECT_NE(two.raw(), block.columns[0].stack().raw());
  EXPECT_EQ(two.bytes_at(0), "two");
  EXPECT_EQ(two.bytes_at(1), "three");
}

}  // namespace
}  // namespace headrace
