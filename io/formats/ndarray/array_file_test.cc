#include "io/formats/ndarray/array_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::string MeanFile() {
  std::ifstream file("io/formats/ndarray/testdata/mxnet-mean.bin", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
std::string Bytes(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  return bytes;
}

std::string ListOf(const std::string& array) { return Bytes<uint64_t>({0x112, 0, 1}) + array + Bytes<uint64_t>({0}); }

std::string WrongWith(const std::string& bytes, ErrorKind kind = ErrorKind::kData) {
  const absl::Status status = ParseArrayFile(bytes, "mean.bin").status();
  EXPECT_EQ(KindOf(status), kind);
  return std::string(ToStd(status.message()));
}

TEST(ArrayFile, ReadsAndWritesAFileOfMxnet) {
  const std::string bytes = MeanFile();
  ASSERT_EQ(bytes.size(), 672u);
  const auto arrays = ParseArrayFile(bytes, "mean.bin");
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  ASSERT_EQ(arrays->size(), 1u);
  const NamedArray& mean = (*arrays)[0];
  EXPECT_EQ(mean.name, "mean_img");
  EXPECT_EQ(mean.array.TypeName(), "float32 (3, 8, 6)");
  for (int i = 0; i < 144; ++i) EXPECT_EQ(mean.array.data<float>()[i], 0.5F * static_cast<float>(i));
  EXPECT_EQ(*FormatArrayFile(*arrays), bytes);
}

TEST(ArrayFile, ReadsEveryVersion) {
  const std::string tail = Bytes<int32_t>({1, 0, 4}) + Bytes<int32_t>({1, 2, 3, 4, 5, 6});
  const std::string dims = Bytes<uint32_t>({2}) + Bytes<int64_t>({2, 3});
  for (const std::string& head : {Bytes<uint32_t>({0xF993fac9, 0}) + dims, Bytes<uint32_t>({0xF993faca, 0}) + dims,
                                  Bytes<uint32_t>({0xF993fac8}) + dims, Bytes<uint32_t>({2, 2, 3})}) {
    const auto arrays = ParseArrayFile(ListOf(head + tail), "a");
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    EXPECT_EQ((*arrays)[0].name, "");
    EXPECT_EQ((*arrays)[0].array.TypeName(), "int32 (2, 3)");
    EXPECT_EQ((*arrays)[0].array.data<int32_t>()[5], 6);
  }
}

TEST(ArrayFile, GivesBackWhatItWrote) {
  std::vector<NamedArray> arrays;
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kUInt8, DType::kInt8,
                            DType::kInt32, DType::kInt64, DType::kBool, DType::kBFloat16}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 4}, Shape{1, 2, 3, 4, 5}}) {
      Tensor tensor = *Tensor::Allocate(dtype, shape);
      for (size_t i = 0; i < tensor.bytes(); ++i) tensor.mutable_raw()[i] = static_cast<uint8_t>(i % 2);
      arrays.push_back({arrays.size() % 3 == 0 ? "" : Cat("array ", arrays.size()), std::move(tensor)});
    }
  }
  const auto read = ParseArrayFile(*FormatArrayFile(arrays), "a");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ((*read)[i].name, arrays[i].name);
    EXPECT_TRUE(TensorsEqual((*read)[i].array, arrays[i].array)) << i;
  }
}

TEST(ArrayFile, WritesRowMajorValuesOfAView) {
  Tensor tensor = *Tensor::Allocate(DType::kUInt8, {2, 3});
  for (uint8_t i = 0; i < 6; ++i) tensor.mutable_raw()[i] = i;
  const auto read = ParseArrayFile(*FormatArrayFile({{"", tensor.Slice(1, 1, 2)}}), "a");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)[0].array.TypeName(), "uint8 (2, 2)");
  EXPECT_EQ((*read)[0].array.raw()[2], 4);
}

TEST(ArrayFile, RefusesAFileThatIsCutOffAnywhere) {
  const std::string bytes = MeanFile();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(WrongWith(bytes.substr(0, size)), HasSubstr("mean.bin"));
  EXPECT_THAT(WrongWith(bytes + "x"), HasSubstr("mean.bin, byte 672: the names of the arrays end"));
}

TEST(ArrayFile, HoldsNoMoreThanIsThere) {
  const std::string zeros(400, '\0');
  EXPECT_THAT(WrongWith(Bytes<uint64_t>({0x112, 0, 101}) + zeros),
              HasSubstr("claims 101 arrays, more than fit into the 400 bytes that follow"));
  EXPECT_THAT(WrongWith(Bytes<uint64_t>({0x112, 0, 100}) + zeros), HasSubstr("byte 28: an array without dimensions"));
}

TEST(ArrayFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(WrongWith("a mean image, as text"), HasSubstr("not a file of arrays"));
  EXPECT_THAT(WrongWith(Bytes<uint64_t>({0x112, 0, ~uint64_t{0}})),
              HasSubstr("byte 24: the file claims 18446744073709551615 arrays"));
  const auto array = [](std::initializer_list<int64_t> dims, int32_t dtype) {
    return ListOf(Bytes<uint32_t>({0xF993fac9, 0, static_cast<uint32_t>(dims.size())}) + Bytes<int64_t>(dims) +
                  Bytes<int32_t>({1, 0, dtype}));
  };
  EXPECT_THAT(WrongWith(array({-1}, 0)), HasSubstr("the impossible dimension -1"));
  EXPECT_THAT(WrongWith(array({int64_t{1} << 40, int64_t{1} << 40}, 0)), HasSubstr("impossible dimension"));
  EXPECT_THAT(WrongWith(array({1 << 30}, 0)), HasSubstr("an array of 4294967296 bytes begins here"));
  EXPECT_THAT(WrongWith(array({1}, 99)), HasSubstr("the unknown type 99"));
  EXPECT_THAT(WrongWith(array({}, 0)), HasSubstr("without dimensions"));
  EXPECT_THAT(WrongWith(ListOf(Bytes<uint32_t>({33}))), HasSubstr("33 dimensions"));
  EXPECT_THAT(WrongWith(ListOf(Bytes<uint32_t>({0xF993fac9, 1})), ErrorKind::kUnsupported), HasSubstr("sparse"));
  const std::string good = *FormatArrayFile({{"", *Tensor::Scalar<float>(1)}});
  EXPECT_THAT(WrongWith(good.substr(0, good.size() - 8) + Bytes<uint64_t>({2, 0, 0})),
              HasSubstr("1 arrays and 2 names"));
}

TEST(ArrayFile, RefusesToWriteTexts) {
  EXPECT_EQ(KindOf(FormatArrayFile({{"a", *Tensor::CopyBytes(DType::kBytes, "x")}}).status()), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace headrace
