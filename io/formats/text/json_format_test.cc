#include "io/formats/text/json_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/testing/read_records.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kLargeBlock = size_t{1} << 16;

// The first byte of each element, and the element.
using JsonElements = std::vector<std::pair<int64_t, std::string>>;

JsonElements ElementsOf(const ReadRecords& read) {
  JsonElements elements;
  for (const ReadRecord& record : read.records) elements.emplace_back(record.offset, record.content);
  return elements;
}

// Of a whole file, the same whatever the size of blocks, and from each record on.
ReadRecords ReadJson(const std::string& bytes) {
  const JsonFormat format;
  const OneFile file(bytes);
  const ReadRecords whole = ReadSplit(format, file, "f", Split(), 0, kLargeBlock);
  for (const size_t block_bytes : {1, 3, 7, 64}) {
    const ReadRecords other = ReadSplit(format, file, "f", Split(), 0, block_bytes);
    EXPECT_EQ(ElementsOf(other), ElementsOf(whole)) << bytes;
    EXPECT_EQ(other.error.message(), whole.error.message()) << bytes;
    EXPECT_EQ(other.failed, whole.failed) << bytes;
    for (size_t i = 0; i < whole.records.size(); ++i) {
      const ReadRecords rest = ReadSplit(format, file, "f", Split(), other.records[i].after, block_bytes);
      EXPECT_EQ(rest.records.size(), whole.records.size() - i - 1) << bytes;
      EXPECT_EQ(rest.error.message(), whole.error.message()) << bytes;
    }
  }
  return whole;
}

JsonElements ReadGood(const std::string& bytes) {
  const ReadRecords read = ReadJson(bytes);
  EXPECT_TRUE(read.error.ok()) << read.error;
  return ElementsOf(read);
}

TEST(JsonFormat, GivesTheElementsOfAnArray) {
  EXPECT_EQ(ReadGood("[{\"a\": 1}, {\"a\": 2}]"), (JsonElements{{1, "{\"a\": 1}"}, {11, "{\"a\": 2}"}}));
  EXPECT_EQ(ReadGood("[]"), (JsonElements{}));
  EXPECT_EQ(ReadGood(" \r\n[ \t\n ]\n\n"), (JsonElements{}));
  EXPECT_EQ(ReadGood("\n[\n  {\n  },\n  {}\n]\n"), (JsonElements{{5, "{\n  }"}, {14, "{}"}}));
  EXPECT_EQ(ReadGood("\xEF\xBB\xBF[{}]"), (JsonElements{{4, "{}"}}));
  EXPECT_EQ(
      ReadGood("[{\"a\": [[], {\"b\": \"]}\\\"},\"}]},[1,[2]],\"x,]\",3 , null]"),
      (JsonElements{
          {1, "{\"a\": [[], {\"b\": \"]}\\\"},\"}]}"}, {30, "[1,[2]]"}, {38, "\"x,]\""}, {44, "3"}, {48, "null"}}));
}

TEST(JsonFormat, GivesTheLinesOfOtherFiles) {
  EXPECT_EQ(ReadGood("{\"a\": 1}\r\n[2]\n"), (JsonElements{{0, "{\"a\": 1}"}, {10, "[2]"}}));
  EXPECT_EQ(ReadGood(""), (JsonElements{}));
  EXPECT_EQ(ReadGood("\n{}"), (JsonElements{{0, ""}, {1, "{}"}})) << "a blank line";
  EXPECT_EQ(ReadGood(" \n"), (JsonElements{{0, " "}}));
  const std::string spaces(kJsonArrayBytes, ' ');
  EXPECT_EQ(ReadGood(spaces + "[]").size(), 1u) << "an array begins sooner";
  EXPECT_THAT(ReadGood(spaces.substr(1) + "[]"), IsEmpty());
  const JsonFormat format;
  EXPECT_EQ(ElementsOf(ReadEveryWay(format, "{}\n{\"a\": 1}\n\n{}")),
            (JsonElements{{0, "{}"}, {3, "{\"a\": 1}"}, {12, ""}, {13, "{}"}}))
      << "in splits";
}

TEST(JsonFormat, ReadsAnArrayInOneSplit) {
  const JsonFormat format;
  const auto is_one = [&](const std::string& bytes) { return *format.IsOneSplit(OneFile(bytes), "f"); };
  EXPECT_TRUE(is_one("\n\n [{}]"));
  EXPECT_FALSE(is_one("{}\n[]\n"));
  EXPECT_FALSE(is_one(""));
  EXPECT_TRUE(is_one(Compress(Compression::kGzip, "{}\n")));
}

TEST(JsonFormat, DecompressesArrays) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string bytes = Compress(compression, "[{\"a\": 1},\n {\"a\": 2}]\n");
    EXPECT_EQ(ReadGood(bytes), (JsonElements{{1, "{\"a\": 1}"}, {12, "{\"a\": 2}"}}));
  }
}

TEST(JsonFormat, ReadsAFileOnce) {
  std::string bytes = "[";
  for (int i = 0; i < 1000; ++i) Append(bytes, i == 0 ? "" : ",", "{\"a\": ", i, "}");
  bytes += "]";
  const OneFile file(bytes);
  const CountedReads counted(&file);
  EXPECT_EQ(ReadSplit(JsonFormat(), counted, "f", Split(), 0, 512).records.size(), 1000u);
  EXPECT_LE(counted.bytes(), static_cast<int64_t>(bytes.size()) + 1);
}

// The message, and how many elements come before it.
std::pair<std::string, size_t> WrongJson(const std::string& bytes) {
  const ReadRecords read = ReadJson(bytes);
  EXPECT_EQ(KindOf(read.error), ErrorKind::kData) << bytes;
  return {std::string(ToStd(read.error.message())), read.records.size()};
}

TEST(JsonFormat, SaysWhereAnArrayIsDamaged) {
  const auto is = [](const std::string& bytes, const std::string& message, size_t before) {
    const auto [wrong, elements] = WrongJson(bytes);
    EXPECT_THAT(wrong, HasSubstr(message)) << bytes;
    EXPECT_EQ(elements, before) << bytes;
  };
  for (const char* cut : {"[", " [ ", "[{", "[{\"a\": \"]", "[{\"a\": \"\\", "[{}", "[{} ", "[3"}) {
    is(cut, Cat("the file ends at byte ", std::string_view(cut).size(), " within the array"), 0);
  }
  is("[{}, ", "the file ends at byte 5 within the array", 0);
  is("[{}, {}", "the file ends at byte 7 within the array", 1);
  is("[{}, {} {}]", "a comma, or the bracket that ends the array, is missing in front of byte 8", 1);
  is("[{}{}]", "is missing in front of byte 3", 0);
  is("[{}, ]", "no element comes after the comma at byte 3", 0);
  is("[{},, {}]", "no element begins at byte 4", 1);
  is("[, {}]", "no element begins at byte 1", 0);
  is("[}]", "no element begins at byte 1", 0);
  is("[{}] {}", "the array ends at byte 3, and the file goes on at byte 5", 1);
  is("[{}]\n[{}]\n", "the array ends at byte 3, and the file goes on at byte 5", 1);
  is("[]x", "the array ends at byte 1, and the file goes on at byte 2", 0);
}

TEST(JsonFormat, LimitsElements) {
  const JsonFormat format(20);
  const auto read = [&](const std::string& bytes, size_t block_bytes) {
    return ReadSplit(format, OneFile(bytes), "f", Split(), 0, block_bytes);
  };
  const std::string longest = "\"" + std::string(18, 'x') + "\"";
  for (const size_t block_bytes : {size_t{8}, size_t{64}, kLargeBlock}) {
    EXPECT_TRUE(read("[" + longest + "]", block_bytes).error.ok());
    EXPECT_THAT(ToStd(read("[1, \"x" + longest.substr(1) + "]", block_bytes).error.message()),
                HasSubstr("an element of the array is longer than 20 bytes"));
  }
  EXPECT_THAT(ToStd(read("[" + std::string(100'000, '['), 64).error.message()), HasSubstr("longer than 20 bytes"));
}

TEST(JsonFormat, CutsNestedListsOfAnyDepth) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const ReadRecords read = ReadSplit(JsonFormat(), OneFile("[" + deep + ", {}]"), "f", Split(), 0, kLargeBlock);
  ASSERT_TRUE(read.error.ok()) << read.error;
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_EQ(read.records[0].content, deep);
}

}  // namespace
}  // namespace headrace
