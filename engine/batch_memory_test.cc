#include "engine/batch_memory.h"

#include <gtest/gtest.h>

#include <memory>

namespace headrace {
namespace {

class Control : public RunControl {
 public:
  explicit Control(int64_t budget) : RunControl(&BufferPool::Global(), budget) {}
  void Signal(Stage*) override {}
  void SignalAll() override {}
  bool ResultReady() override { return false; }
  int64_t NeedsOfIdle(const Stage*) override { return 0; }
};

constexpr int64_t kRowBytes = 400;

std::vector<ir::ColumnType> RowTypes() { return {ir::ColumnType::Of(DType::kFloat32, {100})}; }

std::unique_ptr<BatchPlaces> PlacesOf(Control& control, int64_t rows, int64_t skipped = 0) {
  return std::make_unique<BatchPlaces>(&control, rows, RowTypes(), skipped, EpochRange{0, 10},
                                       [](uint64_t epoch) { return epoch; });
}

TEST(BatchPlaces, SaysWhatRowsBegin) {
  Control control(1 << 20);
  auto places = PlacesOf(control, 4);
  EXPECT_EQ(places->BytesBegunBy(1), 4 * kRowBytes);
  EXPECT_EQ(places->BytesBegunBy(4), 4 * kRowBytes);
  EXPECT_EQ(places->BytesBegunBy(5), 8 * kRowBytes);
  places->Next();
  EXPECT_EQ(places->BytesBegunBy(3), 0);
  EXPECT_EQ(places->BytesBegunBy(4), 4 * kRowBytes);
  EXPECT_EQ(places->BytesBegunBy(8), 8 * kRowBytes);
  places = PlacesOf(control, 4, 2);
  EXPECT_EQ(places->BytesBegunBy(2), 0);
  EXPECT_EQ(places->BytesBegunBy(3), 4 * kRowBytes);
}

// What was reserved is held from the reservation on, turned into memory once, and given back where it is not used.
TEST(BatchPlaces, TurnsWhatIsReservedIntoMemory) {
  Control control(1 << 20);
  const auto held = [&control] { return control.account()->held(); };
  auto places = PlacesOf(control, 4);
  const int64_t begun = places->BytesBegunBy(5);
  ASSERT_TRUE(control.Enter(begun, 0));
  places->Keep(begun);
  EXPECT_EQ(places->BytesBegunBy(5), 0);
  {
    const BatchPlaces::Place place = places->Next();
    EXPECT_EQ(held(), 8 * kRowBytes);
    ASSERT_TRUE(place.memory->PlaceOf(0, place.row).valid());
    EXPECT_GE(held(), 8 * kRowBytes);
    EXPECT_LT(held(), 9 * kRowBytes) << "the batch is not counted twice";
    for (int row = 1; row < 4; ++row) places->Next();
  }
  {
    const BatchPlaces::Place unused = places->Next();
    places->EndEpoch(0);
    EXPECT_EQ(held(), 4 * kRowBytes) << "the first batch is gone";
  }
  EXPECT_EQ(held(), 0);
  ASSERT_TRUE(control.Enter(100, 0));
  places->Keep(100);
  places.reset();
  EXPECT_EQ(held(), 0);
  control.Leave();
  control.Leave();
}

TEST(BatchPlaces, NeedsABudgetOfThreeBatches) {
  EXPECT_TRUE(BatchPlaces::Useful(10, RowTypes(), 30 * kRowBytes));
  EXPECT_FALSE(BatchPlaces::Useful(10, RowTypes(), 30 * kRowBytes - 1));
  EXPECT_FALSE(BatchPlaces::Useful(10, {ir::ColumnType::Of(DType::kFloat32, {4})}, 1 << 20)) << "too small to place";
}

}  // namespace
}  // namespace headrace
