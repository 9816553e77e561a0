#include "io/formats/mindrecord/msg_pack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {
namespace {

using Kind = MsgPackValue::Kind;

std::string BytesOf(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

MsgPackValue Taken(const std::string& bytes) {
  MsgPackReader reader(bytes);
  MsgPackValue value;
  EXPECT_TRUE(reader.Take(value) && reader.at_end());
  return value;
}

TEST(MsgPack, TakesNumbersInEachForm) {
  struct Form {
    std::string bytes;
    Kind kind;
    int64_t whole;
  };
  const std::vector<Form> forms = {
      {BytesOf({0x00}), Kind::kUnsigned, 0},
      {BytesOf({0x7f}), Kind::kUnsigned, 127},
      {BytesOf({0xff}), Kind::kNegative, -1},
      {BytesOf({0xe0}), Kind::kNegative, -32},
      {BytesOf({0xcc, 0xff}), Kind::kUnsigned, 255},
      {BytesOf({0xcd, 0x01, 0x00}), Kind::kUnsigned, 256},
      {BytesOf({0xce, 0xff, 0xff, 0xff, 0xff}), Kind::kUnsigned, 4294967295},
      {BytesOf({0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), Kind::kUnsigned, INT64_MAX},
      {BytesOf({0xd0, 0x80}), Kind::kNegative, -128},
      {BytesOf({0xd0, 0x05}), Kind::kUnsigned, 5},
      {BytesOf({0xd1, 0x80, 0x00}), Kind::kNegative, -32768},
      {BytesOf({0xd2, 0x80, 0x00, 0x00, 0x00}), Kind::kNegative, INT32_MIN},
      {BytesOf({0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0}), Kind::kNegative, INT64_MIN},
  };
  for (const Form& form : forms) {
    const MsgPackValue value = Taken(form.bytes);
    EXPECT_EQ(value.kind, form.kind) << form.whole;
    EXPECT_EQ(static_cast<int64_t>(value.whole), form.whole);
  }
  EXPECT_EQ(Taken(BytesOf({0xca, 0x3f, 0x00, 0x00, 0x00})).real32, 0.5f);
  EXPECT_EQ(Taken(BytesOf({0xcb, 0xc0, 0x04, 0, 0, 0, 0, 0, 0})).real64, -2.5);
}

TEST(MsgPack, TakesTexts) {
  EXPECT_EQ(Taken(BytesOf({0xa2, 'a', 0x00})).text, std::string("a\0", 2));
  EXPECT_EQ(Taken(BytesOf({0xd9, 1, 'b'})).text, "b");
  EXPECT_EQ(Taken(BytesOf({0xda, 0, 1, 'c'})).text, "c");
  EXPECT_EQ(Taken(BytesOf({0xdb, 0, 0, 0, 1, 'd'})).text, "d");
  for (const int tag : {0xa1, 0xd9, 0xda, 0xdb}) {
    std::string bytes = tag == 0xa1 ? BytesOf({tag}) : BytesOf({tag, 0, 0, 0}).substr(0, 1 + (1 << (tag - 0xd9)) - 1);
    if (tag != 0xa1) bytes.push_back(1);
    bytes.push_back('x');
    MsgPackReader reader(bytes);
    std::string_view text;
    EXPECT_TRUE(reader.TakeText(text)) << tag;
    EXPECT_EQ(text, "x");
  }
}

TEST(MsgPack, PassesOverEverythingElse) {
  const std::vector<std::string> others = {
      BytesOf({0xc0}),
      BytesOf({0xc2}),
      BytesOf({0xc3}),
      BytesOf({0xc4, 2, 1, 2}),
      BytesOf({0xc5, 0, 1, 1}),
      BytesOf({0xc6, 0, 0, 0, 1, 1}),
      BytesOf({0xc7, 1, 9, 1}),
      BytesOf({0xc8, 0, 1, 9, 1}),
      BytesOf({0xc9, 0, 0, 0, 1, 9, 1}),
      BytesOf({0xd4, 9, 1}),
      BytesOf({0xd5, 9, 1, 2}),
      BytesOf({0xd8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
      BytesOf({0x92, 1, 0x91, 2}),
      BytesOf({0xdc, 0, 1, 0xc0}),
      BytesOf({0xdd, 0, 0, 0, 1, 0xc0}),
      BytesOf({0x81, 0xa1, 'k', 0x90}),
      BytesOf({0xde, 0, 1, 1, 2}),
      BytesOf({0xdf, 0, 0, 0, 1, 1, 2}),
  };
  for (const std::string& bytes : others) {
    EXPECT_EQ(Taken(bytes).kind, Kind::kOther);
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      MsgPackReader reader(std::string_view(bytes).substr(0, cut));
      MsgPackValue value;
      EXPECT_FALSE(reader.Take(value));
    }
  }
}

TEST(MsgPack, NestsWithoutAStack) {
  std::string deep(1 << 20, static_cast<char>(0x91));
  deep.push_back(1);
  EXPECT_EQ(Taken(deep).kind, Kind::kOther);
}

TEST(MsgPack, RefusesWhatClaimsTooMuch) {
  for (const std::string& bytes :
       {BytesOf({0xdd, 0xff, 0xff, 0xff, 0xff, 1, 2}), BytesOf({0xdb, 0xff, 0xff, 0xff, 0xff}), BytesOf({0xc1}),
        BytesOf({0xdf, 0xff, 0xff, 0xff, 0xff, 1})}) {
    MsgPackReader reader(bytes);
    MsgPackValue value;
    EXPECT_FALSE(reader.Take(value));
  }
}

TEST(MsgPack, TakesHeadsOfMaps) {
  for (const std::string& bytes : {BytesOf({0x83}), BytesOf({0xde, 0, 3}), BytesOf({0xdf, 0, 0, 0, 3})}) {
    MsgPackReader reader(bytes);
    uint32_t entries = 0;
    EXPECT_TRUE(reader.TakeMap(entries));
    EXPECT_EQ(entries, 3u);
  }
  MsgPackReader list(std::string_view("\x93"));
  uint32_t entries = 0;
  EXPECT_FALSE(list.TakeMap(entries));
}

}  // namespace
}  // namespace headrace
