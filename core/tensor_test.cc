#include "core/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

Tensor Counting(Shape shape) {
  Tensor tensor = *Tensor::Allocate(DType::kInt32, shape);
  std::iota(tensor.mutable_data<int32_t>(), tensor.mutable_data<int32_t>() + tensor.elements(), 0);
  return tensor;
}

std::vector<int32_t> Elements(const Tensor& tensor) {
  std::vector<int32_t> elements(static_cast<size_t>(tensor.elements()));
  tensor.CopyTo(elements.data());
  return elements;
}

TEST(Tensor, KnowsItsShape) {
  const Tensor tensor = Counting({2, 3, 4});
  EXPECT_EQ(tensor.rank(), 3);
  EXPECT_EQ(tensor.elements(), 24);
  EXPECT_EQ(tensor.bytes(), 96u);
  EXPECT_EQ(tensor.stride(0), 48);
  EXPECT_EQ(tensor.stride(1), 16);
  EXPECT_EQ(tensor.stride(2), 4);
  EXPECT_TRUE(tensor.contiguous());
  EXPECT_EQ(tensor.TypeName(), "int32 (2, 3, 4)");
  EXPECT_EQ(ShapeName({}), "()");
  EXPECT_EQ(ShapeName({5}), "(5,)");
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({3, 0, 2}), 0);
  EXPECT_FALSE(Tensor().valid());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % kBufferAlignment, 0u);
}

TEST(Tensor, ScalarsHoldTheirValue) {
  EXPECT_EQ(Tensor::Scalar<double>(2.5)->value<double>(), 2.5);
  EXPECT_EQ(Tensor::Scalar<uint8_t>(7)->dtype(), DType::kUInt8);
  EXPECT_EQ(Tensor::Scalar<bool>(true)->TypeName(), "bool ()");
}

TEST(Tensor, ViewsMoveNoBytes) {
  const Tensor tensor = Counting({2, 3, 4});
  const Tensor row = tensor.Index(1);
  EXPECT_EQ(row.raw(), tensor.raw() + 48);
  EXPECT_EQ(row.shape(), (Shape{3, 4}));
  EXPECT_EQ(row.Index(2).Index(3).value<int32_t>(), 23);
  const Tensor middle = tensor.Slice(1, 1, 2);
  EXPECT_EQ(middle.shape(), (Shape{2, 2, 4}));
  EXPECT_FALSE(middle.contiguous());
  EXPECT_EQ(Elements(middle), (std::vector<int32_t>{4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}));
  const Tensor columns = middle.Slice(2, 1, 2);
  EXPECT_EQ(Elements(columns), (std::vector<int32_t>{5, 6, 9, 10, 17, 18, 21, 22}));
  EXPECT_EQ(Elements(columns.Index(1)), (std::vector<int32_t>{17, 18, 21, 22}));
  EXPECT_EQ(Elements(columns.Index(1).Index(0)), (std::vector<int32_t>{17, 18}));
  const Tensor first = tensor.Slice(0, 1, 1);
  EXPECT_TRUE(first.contiguous());
  EXPECT_EQ(Elements(first)[0], 12);
  EXPECT_EQ(Elements(tensor.Slice(2, 4, 0)), std::vector<int32_t>());
  EXPECT_EQ(tensor.Reshape({6, 4}).Index(5).data<int32_t>()[3], 23);
  for (const Tensor& view : {row, middle, columns, first}) EXPECT_EQ(view.buffer().get(), tensor.buffer().get());
}

TEST(Tensor, ContiguousCopiesOnlyWhatIsNot) {
  const Tensor tensor = Counting({3, 4});
  EXPECT_EQ(tensor.Contiguous()->raw(), tensor.raw());
  const Tensor column = tensor.Slice(1, 2, 1);
  const Tensor copy = *column.Contiguous();
  EXPECT_TRUE(copy.contiguous());
  EXPECT_NE(copy.buffer().get(), tensor.buffer().get());
  EXPECT_EQ(Elements(copy), (std::vector<int32_t>{2, 6, 10}));
  EXPECT_TRUE(TensorsEqual(copy, column));
}

TEST(Tensor, HoldsByteStrings) {
  const Tensor one = *Tensor::CopyBytes(DType::kBytes, "abc");
  EXPECT_EQ(one.bytes_value(), "abc");
  EXPECT_EQ(one.bytes(), 3u);
  EXPECT_EQ(Tensor::CopyBytes(DType::kString, "")->bytes_value(), "");
  const std::string_view elements[] = {"a", "", "ccc", "dd", "", "f"};
  const Tensor array = *Tensor::CopyBytesArray(DType::kString, {2, 3}, elements);
  EXPECT_EQ(array.TypeName(), "string (2, 3)");
  EXPECT_EQ(array.bytes(), 7u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(array.bytes_at(i), elements[i]);
  const Tensor row = array.Index(1);
  EXPECT_EQ(row.bytes(), 3u);
  EXPECT_EQ(row.bytes_at(0), "dd");
  EXPECT_EQ(row.Index(2).bytes_value(), "f");
  EXPECT_EQ(row.Index(2).rank(), 0);
  EXPECT_EQ(array.Reshape({6}).bytes_at(5), "f");
  const Tensor none = *Tensor::CopyBytesArray(DType::kBytes, {0}, {});
  EXPECT_EQ(none.elements(), 0);
  EXPECT_EQ(none.bytes(), 0u);
}

// Strings anywhere in a buffer, given by where each begins and ends.
Tensor Spans(absl::Span<const int64_t> shape, std::string_view bytes, std::vector<int64_t> spans) {
  const BufferRef buffer = BufferPool::Global().Allocate(bytes.size());
  std::memcpy(buffer->data(), bytes.data(), bytes.size());
  const BufferRef table = BufferPool::Global().Allocate(spans.size() * sizeof(int64_t));
  std::memcpy(table->data(), spans.data(), spans.size() * sizeof(int64_t));
  return Tensor::ViewSpans(DType::kString, shape, buffer, table);
}

TEST(Tensor, HoldsByteStringsAnywhereInABuffer) {
  const Tensor array = Spans({2, 2}, "one\ntwo\r\n\nfour", {4, 7, 0, 3, 9, 9, 10, 14});
  const std::string_view elements[] = {"two", "one", "", "four"};
  EXPECT_FALSE(array.joined());
  EXPECT_EQ(array.bytes(), 10u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(array.bytes_at(i), elements[i]);
  EXPECT_EQ(array.Index(1).bytes_at(1), "four");
  EXPECT_EQ(array.Index(1).bytes(), 4u);
  EXPECT_EQ(array.Index(0).Index(1).bytes_value(), "one");
  EXPECT_TRUE(array.Index(0).Index(1).joined());
  EXPECT_EQ(array.Slice(0, 1, 1).bytes_at(1), "four");
  EXPECT_EQ(array.Slice(0, 1, 1).bytes(), 4u);
  EXPECT_EQ(array.Reshape({4}).bytes_at(0), "two");
  EXPECT_TRUE(TensorsEqual(array, *Tensor::CopyBytesArray(DType::kString, {2, 2}, elements)));
  const Tensor joined = *array.Joined();
  EXPECT_TRUE(joined.joined());
  EXPECT_EQ(joined.joined_bytes(), "twoonefour");
  EXPECT_TRUE(TensorsEqual(array, joined));
  EXPECT_EQ(joined.Joined()->raw(), joined.raw());
}

TEST(Tensor, JoinsArraysOfByteStrings) {
  const std::string text(300, 'x');
  for (const int64_t length : {0, 1, 31, 32, 33, 90}) {
    const Tensor spans = Spans({3}, text, {0, length, length + 1, 2 * length + 1, 2 * length + 2, 3 * length + 2});
    const std::string_view copied[] = {"a", "", std::string_view(text).substr(0, static_cast<size_t>(length))};
    const Tensor copies = *Tensor::CopyBytesArray(DType::kString, {3}, copied);
    const Tensor joined = *JoinStrings({copies.Slice(0, 1, 2), spans, copies.Slice(0, 0, 1), spans.Slice(0, 1, 0)});
    ASSERT_EQ(joined.shape(), Shape({6}));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(joined.bytes_at(i), copied[i + 1]);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(joined.bytes_at(2 + i), spans.bytes_at(i));
    EXPECT_EQ(joined.bytes_at(5), "a");
  }
}

TEST(Tensor, StacksRows) {
  const Tensor rows = Counting({3, 2});
  const Tensor stacked = *Stack({rows.Index(2), rows.Index(0)});
  EXPECT_EQ(stacked.shape(), (Shape{2, 2}));
  EXPECT_EQ(Elements(stacked), (std::vector<int32_t>{4, 5, 0, 1}));
  // Also of views with gaps.
  const Tensor columns = Counting({2, 2, 3}).Slice(2, 1, 2);
  EXPECT_EQ(Elements(*Stack({columns.Index(1), columns.Index(0)})), (std::vector<int32_t>{7, 8, 10, 11, 1, 2, 4, 5}));
  const Tensor names = *Stack({*Tensor::CopyBytes(DType::kBytes, "x"), *Tensor::CopyBytes(DType::kBytes, "yy")});
  EXPECT_EQ(names.shape(), (Shape{2}));
  EXPECT_EQ(names.bytes_at(1), "yy");
  const absl::Status differ = Stack({rows, rows.Index(0)}).status();
  EXPECT_EQ(KindOf(differ), ErrorKind::kGraph);
  EXPECT_EQ(differ.message(), "rows differ: int32 (3, 2) and int32 (2,)");
  EXPECT_EQ(KindOf(Stack({rows, *Tensor::Allocate(DType::kFloat32, {3, 2})}).status()), ErrorKind::kGraph);
  EXPECT_EQ(KindOf(Stack({}).status()), ErrorKind::kInternal);
}

TEST(Tensor, ComparesTypeShapeAndBytes) {
  const Tensor a = Counting({2, 2});
  EXPECT_TRUE(TensorsEqual(a, Counting({2, 2})));
  EXPECT_FALSE(TensorsEqual(a, a.Reshape({4})));
  EXPECT_FALSE(TensorsEqual(a.Index(0), a.Index(1)));
  EXPECT_FALSE(TensorsEqual(*Tensor::CopyBytes(DType::kBytes, "a"), *Tensor::CopyBytes(DType::kString, "a")));
  EXPECT_FALSE(TensorsEqual(*Tensor::CopyBytes(DType::kBytes, "a"), *Tensor::CopyBytes(DType::kBytes, "b")));
}

TEST(Tensor, CountsTheBuffersBehind) {
  const Tensor tensor = Counting({100, 100});
  EXPECT_GE(tensor.footprint(), 40000u);
  EXPECT_EQ(tensor.Index(3).footprint(), tensor.footprint());
  const Tensor names = *Tensor::CopyBytesArray(DType::kBytes, {1}, {"x"});
  EXPECT_EQ(names.footprint(), 128u);
  EXPECT_EQ(names.Index(0).footprint(), 64u);
}

TEST(Tensor, RefusesWhatCannotBe) {
  EXPECT_EQ(KindOf(Tensor::Allocate(DType::kInt32, {int64_t{1} << 62, 16}).status()), ErrorKind::kResource);
  EXPECT_EQ(KindOf(Tensor::Allocate(DType::kInt32, {int64_t{1} << 60}).status()), ErrorKind::kResource);
  EXPECT_EQ(KindOf(Tensor::Allocate(DType::kInt32, {-1}).status()), ErrorKind::kInternal);
  EXPECT_EQ(KindOf(Tensor::Allocate(DType::kBytes, {1}).status()), ErrorKind::kInternal);
}

TEST(Tensor, KeepsForeignMemoryUntilTheLastView) {
  int released = 0;
  std::vector<int32_t> owned = {1, 2, 3, 4};
  Tensor view;
  {
    const Tensor tensor = Tensor::View(DType::kInt32, {2, 2},
                                       BufferRef::Foreign(owned.data(), 16, [&released] { ++released; }), owned.data());
    view = tensor.Index(1);
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(view.data<int32_t>()[1], 4);
  view = Tensor();
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace headrace
