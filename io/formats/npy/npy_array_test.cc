#include "io/formats/npy/npy_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Npy(std::string_view header, std::string_view data, char version = 1) {
  std::string bytes = Cat("\x93NUMPY", std::string(1, version), std::string(1, '\0'));
  bytes.push_back(static_cast<char>(header.size() % 256));
  bytes.push_back(static_cast<char>(header.size() / 256));
  if (version > 1) bytes.append(2, '\0');
  return Cat(bytes, header, data);
}

std::string BytesOfFloats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

template <typename T>
std::vector<T> Values(const std::string& bytes) {
  const auto array = ParseNpy(bytes);
  EXPECT_TRUE(array.ok()) << array.status();
  if (!array.ok()) return {};
  std::vector<T> values(array->data.size() / sizeof(T));
  CopyNpy(*array, values.data());
  return values;
}

std::string Refused(const std::string& bytes) {
  const auto array = ParseNpy(bytes);
  EXPECT_EQ(KindOf(array.status()), ErrorKind::kData);
  return std::string(ToStd(array.status().message()));
}

// The header as numpy.save writes it, padded to 128 bytes in all.
const std::string kHeader =
    Cat("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", std::string(58, ' '), "\n");

TEST(NpyArray, HasTypeShapeAndElements) {
  const std::string bytes = Npy(kHeader, BytesOfFloats({0, 1, 2, 3, 4, 5}));
  const auto array = ParseNpy(bytes);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->dtype, DType::kFloat32);
  EXPECT_EQ(array->shape, Shape({2, 3}));
  EXPECT_THAT(Values<float>(bytes), ElementsAre(0, 1, 2, 3, 4, 5));
  for (const char version : {2, 3}) {
    EXPECT_THAT(Values<float>(Npy(kHeader, BytesOfFloats({0, 1, 2, 3, 4, 5}), version)), ElementsAre(0, 1, 2, 3, 4, 5));
  }
  EXPECT_THAT(Values<float>(bytes + "what follows"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(NpyArray, MayBeInFortransOrder) {
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}";
  EXPECT_THAT(Values<float>(Npy(header, BytesOfFloats({0, 3, 1, 4, 2, 5}))), ElementsAre(0, 1, 2, 3, 4, 5));
  const std::string cube = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 3)}";
  EXPECT_THAT(Values<uint8_t>(Npy(cube, std::string_view("\0\3\1\4\2\5", 6))), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(NpyArray, MayBeBigEndian) {
  const std::string header = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}";
  EXPECT_THAT(Values<int16_t>(Npy(header, std::string_view("\x01\x02\xFF\xFE", 4))), ElementsAre(0x0102, -2));
  const std::string fortran = "{'descr': '>i2', 'fortran_order': True, 'shape': (1, 2)}";
  EXPECT_THAT(Values<int16_t>(Npy(fortran, std::string_view("\x01\x02\xFF\xFE", 4))), ElementsAre(0x0102, -2));
}

TEST(NpyArray, MayHaveNoAxesOrNoElements) {
  const auto scalar = ParseNpy(Npy("{'shape': (), \"descr\": '|b1', 'fortran_order': False}", "\1"));
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->dtype, DType::kBool);
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_THAT(
      Values<uint8_t>(Npy("{'shape': (2,), 'descr': '|b1', 'fortran_order': False}", std::string_view("\0\7", 2))),
      ElementsAre(0, 1));
  const auto none =
      ParseNpy(Npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807L, 7)}", ""));
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->data.size(), 0u);
  const std::string fortran = "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 7, 9223372036854775807)}";
  EXPECT_TRUE(Values<double>(Npy(fortran, "")).empty());
}

TEST(NpyArray, RefusesOtherTypes) {
  const auto of = [](std::string_view descr) {
    return Refused(Npy(Cat("{'descr': ", descr, ", 'fortran_order': False, 'shape': (1,)}"), std::string(99, '\0')));
  };
  EXPECT_THAT(of("'|O'"), HasSubstr("pickled objects, which may run any code"));
  EXPECT_THAT(of("[('a', '<i4')]"), HasSubstr("records of several fields"));
  for (const char* type : {"'<U3'", "'|S3'", "'<M8[ns]'", "'<c16'", "'|V2'", "'<f16'", "'f4'", "'x1'"}) {
    EXPECT_THAT(of(type), HasSubstr("neither bool nor a number")) << type;
  }
}

TEST(NpyArray, RefusesDamage) {
  const std::string good = Npy(kHeader, BytesOfFloats({0, 1, 2, 3, 4, 5}));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ParseNpy(std::string_view(good).substr(0, size)).ok()) << size;
  }
  EXPECT_THAT(Refused("GIF89a, and more bytes"), HasSubstr("not an array of NumPy"));
  EXPECT_THAT(Refused(Npy(kHeader, "", 4)), HasSubstr("version 4"));
  EXPECT_THAT(Refused(Npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "")),
              HasSubstr("cut off"));
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "{'descr': '<f4', 'descr': '<f4', 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
        "{'descr': '', 'fortran_order': False, 'shape': ()}", "{'descr: 1",
        "{'descr': '<f4' 'fortran_order': False, 'shape': ()}"}) {
    EXPECT_THAT(Refused(Npy(header, std::string(99, '\0'))), HasSubstr("header of the array is damaged")) << header;
  }
  std::string axes;
  for (int i = 0; i < 40; ++i) axes += "1,";
  EXPECT_THAT(Refused(Npy(Cat("{'descr': '<f4', 'fortran_order': False, 'shape': (", axes, ")}"), "1234")),
              HasSubstr("more than 32 axes"));
}

}  // namespace
}  // namespace headrace
