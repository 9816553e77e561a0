#include "core/strided_array.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace headrace {
namespace {

constexpr int64_t kItem = sizeof(int32_t);

// An array over the numbers 0, 1, 2, …; `first` and `strides` count numbers.
StridedArray OverCounting(const Shape& shape, Shape strides, int64_t first = 0) {
  Tensor numbers = *Tensor::Allocate(DType::kInt32, {100});
  std::iota(numbers.mutable_data<int32_t>(), numbers.mutable_data<int32_t>() + 100, 0);
  for (int64_t& stride : strides) stride *= kItem;
  return {DType::kInt32, shape, strides, numbers.buffer(), numbers.data<int32_t>() + first};
}

std::vector<int32_t> CopiedRows(const StridedArray& array, int64_t begin, int64_t count) {
  const Tensor copy = *array.Copy(begin, count);
  return {copy.data<int32_t>(), copy.data<int32_t>() + copy.elements()};
}

std::vector<int32_t> WholeByBytes(const StridedArray& array, size_t step) {
  std::vector<int32_t> whole(array.bytes() / kItem);
  auto* target = reinterpret_cast<uint8_t*>(whole.data());
  for (size_t at = 0; at < array.bytes(); at += step) {
    array.CopyBytes(at, std::min(step, array.bytes() - at), target + at);
  }
  return whole;
}

struct StridedCase {
  std::string name;
  Shape shape;
  Shape strides;
  int64_t first;
  bool views;
};

// What indexing gives.
std::vector<int32_t> Expected(const StridedCase& given, int64_t begin, int64_t count) {
  std::vector<int32_t> elements;
  const int64_t in_row = ElementCount(absl::MakeConstSpan(given.shape).subspan(1));
  for (int64_t number = begin * in_row; number < (begin + count) * in_row; ++number) {
    int64_t rest = number;
    int64_t place = given.first;
    for (size_t axis = given.shape.size(); axis-- > 0;) {
      place += rest % given.shape[axis] * given.strides[axis];
      rest /= given.shape[axis];
    }
    elements.push_back(static_cast<int32_t>(place));
  }
  return elements;
}

const StridedCase kCases[] = {
    {"windows", {7, 4}, {1, 1}, 3, true},
    {"every second", {5}, {2}, 1, true},
    {"reversed", {5, 3}, {-3, 1}, 12, true},
    {"reversed rows", {5, 3}, {3, -1}, 2, false},
    {"transposed", {4, 6}, {1, 4}, 0, false},
    {"repeated", {9, 2, 3}, {0, 3, 1}, 5, true},
    {"repeated within rows", {2, 3, 2}, {2, 0, 1}, 5, false},
    {"transposed windows", {6, 2, 5}, {2, 1, 2}, 0, false},
    {"axes of one element", {3, 1, 2, 1}, {4, 77, 1, -9}, 0, true},
    {"three strides", {2, 3, 2, 2}, {40, 9, 5, 2}, 1, false},
};

TEST(StridedArray, CopiesRowsAsIndexingGivesThem) {
  for (const StridedCase& each : kCases) {
    const StridedArray array = OverCounting(each.shape, each.strides, each.first);
    for (int64_t begin = 0; begin <= each.shape[0]; ++begin) {
      for (int64_t count = 0; begin + count <= each.shape[0]; ++count) {
        EXPECT_EQ(CopiedRows(array, begin, count), Expected(each, begin, count)) << each.name;
      }
    }
  }
}

TEST(StridedArray, CopiesBytesOfTheRowMajorArray) {
  for (const StridedCase& each : kCases) {
    const StridedArray array = OverCounting(each.shape, each.strides, each.first);
    for (const size_t step : {1, 3, 4, 10, 1000}) {
      EXPECT_EQ(WholeByBytes(array, step), Expected(each, 0, each.shape[0])) << each.name << " by " << step;
    }
  }
}

TEST(StridedArray, ViewsRowsThatLieRowMajor) {
  for (const StridedCase& each : kCases) {
    const StridedArray array = OverCounting(each.shape, each.strides, each.first);
    ASSERT_EQ(array.has_views(), each.views) << each.name;
    for (int64_t row = 0; each.views && row < each.shape[0]; ++row) {
      const Tensor view = array.View(row);
      EXPECT_TRUE(TensorsEqual(view, array.Copy(row, 1)->Index(0))) << each.name;
    }
  }
}

TEST(StridedArray, CopiesWhatIsNotAligned) {
  const Tensor bytes = *Tensor::Allocate(DType::kUInt8, {30});
  for (int64_t i = 0; i < 30; ++i) bytes.buffer()->data()[i] = static_cast<uint8_t>(i);
  const StridedArray array(DType::kUInt16, {4, 2}, {7, 3}, bytes.buffer(), bytes.raw() + 1);
  EXPECT_FALSE(array.has_views());
  const Tensor copy = *array.Copy(1, 2);
  EXPECT_EQ(copy.data<uint16_t>()[0], 0x0908);
  EXPECT_EQ(copy.data<uint16_t>()[1], 0x0c0b);
  EXPECT_EQ(copy.data<uint16_t>()[3], 0x1312);
}

TEST(StridedArray, HasTheTypeOfItsCopy) {
  const StridedArray windows = OverCounting({7, 4}, {1, 1});
  EXPECT_EQ(windows.TypeName(), windows.Copy(0, 7)->TypeName());
  EXPECT_EQ(windows.bytes(), 112u);
}

TEST(StridedArray, CopiesNothingOfNothing) {
  EXPECT_EQ(CopiedRows(OverCounting({3, 0}, {1, 1}), 0, 3), std::vector<int32_t>());
  EXPECT_EQ(CopiedRows(OverCounting({0, 3}, {1, 1}), 0, 0), std::vector<int32_t>());
  EXPECT_EQ(OverCounting({0, 3}, {1, 1}).bytes(), 0u);
}

}  // namespace
}  // namespace headrace
