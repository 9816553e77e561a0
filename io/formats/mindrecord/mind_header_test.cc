#include "io/formats/mindrecord/mind_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two blob pages, whose scalars lie in one raw page between them.
constexpr char kHeaderText[] =
    R"({"header_size":2048,"index_fields":[{"index_field":"n","schema_id":0}],"page":[)"
    R"({"page_id":0,"page_type":"BLOB_DATA","page_type_id":0,"start_row_id":0,"end_row_id":2,"page_size":40,)"
    R"("row_group_ids":[{"id":0,"offset":0}],"shard_id":1},)"
    R"({"page_id":1,"page_type":"RAW_DATA","page_type_id":7,"start_row_id":0,"end_row_id":0,"page_size":100,)"
    R"("row_group_ids":[{"id":0,"offset":0},{"id":1,"offset":60}],"shard_id":1},)"
    R"({"page_id":2,"page_type":"BLOB_DATA","page_type_id":1,"start_row_id":2,"end_row_id":5,"page_size":50,)"
    R"("row_group_ids":[{"id":0,"offset":0}],"shard_id":1}],)"
    R"("page_size":4096,"compression_size":3,"schema":[{"desc":"d","schema":{"z":{"type":"bytes"},)"
    R"("n":{"type":"int64"},"v":{"type":"float32","shape":[2,-1]}},"blob_fields":["z","v"]}],)"
    R"("shard_addresses":["x0","x1"],"shard_id":1,"statistics":null,"version":"3.0"})";

std::string HeaderWith(std::string_view from, std::string_view to) {
  return absl::StrReplaceAll(kHeaderText, {{ToAbsl(from), ToAbsl(to)}});
}

std::string RefusalOf(std::string_view text) {
  const absl::StatusOr<MindHeader> header = ParseMindHeader(text);
  return header.ok() ? "" : DescribeError(header.status());
}

TEST(MindHeader, HasFieldsAndRowGroups) {
  const absl::StatusOr<MindHeader> header = ParseMindHeader(kHeaderText);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_TRUE(header->packed);
  EXPECT_THAT(header->fields, ElementsAre(MindField{"n", DType::kInt64}, MindField{"v", DType::kFloat32, true, {2, -1}},
                                          MindField{"z", DType::kBytes}));
  EXPECT_THAT(header->blob_fields, ElementsAre(2, 1)) << "in the order of frames";
  EXPECT_THAT(header->index_fields, ElementsAre("n"));
  EXPECT_THAT(header->shard_addresses, ElementsAre("x0", "x1"));
  EXPECT_EQ(header->shard_id, 1);
  EXPECT_EQ(header->rows, 5);
  EXPECT_THAT(header->page_bytes, ElementsAre(40, 100, 50));
  constexpr int64_t kPages = 2048;
  EXPECT_THAT(header->groups,
              ElementsAre(MindRowGroup{0, 2, kPages + 4096, kPages + 4096 + 60, kPages, kPages + 40},
                          MindRowGroup{2, 3, kPages + 4096 + 60, kPages + 4096 + 100, kPages + 8192, kPages + 8242}));
}

TEST(MindHeader, TakesKeysInAnyOrderAndOthersToo) {
  const absl::StatusOr<MindHeader> plain = ParseMindHeader(kHeaderText);
  std::string other = HeaderWith("{\"header_size\":2048,", "{\"new\":[{\"page\":[{}],\"x\":[[1.5,null,true]]}],");
  other.insert(other.size() - 1, ",\"header_size\":2048");
  const absl::StatusOr<MindHeader> reordered = ParseMindHeader(other);
  ASSERT_TRUE(plain.ok() && reordered.ok()) << reordered.status();
  EXPECT_EQ(*plain, *reordered);
}

TEST(MindHeader, KnowsVersionTwoAndFilesWithoutRows) {
  std::string text = HeaderWith("\"3.0\"", "\"2.0\"");
  const size_t begin = text.find("\"page\":["), end = text.find("],\"page_size\":4096");
  text.replace(begin, end + 1 - begin, "\"page\":null");
  const absl::StatusOr<MindHeader> header = ParseMindHeader(text);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_FALSE(header->packed);
  EXPECT_EQ(header->rows, 0);
  EXPECT_TRUE(header->groups.empty());
}

TEST(MindHeader, NamesWhatIsWrong) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("the header is not JSON: what is wrong begins at its byte 0"));
  EXPECT_THAT(RefusalOf("{\"version\":\"3.0\""), HasSubstr("not JSON"));
  EXPECT_THAT(RefusalOf("[]"), HasSubstr("not an object"));
  EXPECT_THAT(RefusalOf(Cat(kHeaderText, "x")), HasSubstr("not JSON"));
  const std::vector<std::vector<std::string>> wrongs = {
      {"\"3.0\"", "\"4.0\"", "version \"4.0\""},
      {"\"3.0\"", "3", "version \"\""},
      {"\"header_size\":2048", "\"header_size\":\"2048\"", "header_size is -1"},
      {"\"page_size\":4096", "\"page_size\":300000000000", "page_size is 300000000000"},
      {"\"int64\"", "\"number\"", "\"n\" has the type \"number\""},
      {"\"int64\"", "\"string\",\"shape\":[2]", "\"n\" has a shape"},
      {"[2,-1]", "[-1,-1]", "the shape of the field \"v\""},
      {"[2,-1]", "[]", "the shape of the field \"v\""},
      {"[2,-1]", "[0]", "the shape of the field \"v\""},
      {"[2,-1]", "[2.5]", "the shape of the field \"v\""},
      {"[2,-1]", "[1099511627776,1099511627776]", "the shape of the field \"v\""},
      {"[\"z\",\"v\"]", "[\"z\"]", "blob_fields lacks 1 fields"},
      {"[\"z\",\"v\"]", "[\"z\",\"v\",\"n\"]", "blob_fields names \"n\""},
      {"[\"z\",\"v\"]", "[\"z\",\"v\",\"z\"]", "blob_fields names \"z\""},
      {"\"z\":{\"type\":\"bytes\"}", "\"n\":{\"type\":\"bytes\"}", "the field \"n\" twice"},
      {"\"x1\"", "\"../x1\"", "shard_addresses has \"../x1\""},
      {"\"x1\"", "\"..\"", "shard_addresses has \"..\""},
      {"\"page_id\":2", "\"page_id\":3", "page 2 of the header has the page_id 3"},
      {"\"page_id\":2,", "", "too little of page 2"},
      {"\"RAW_DATA\"", "\"DATA\"", "page 1 has the type \"DATA\""},
      {"\"page_size\":50", "\"page_size\":5000", "page 2 has 5000 bytes, and page_size is 4096"},
      {"\"page_type_id\":1", "\"page_type_id\":0", "two blob pages have the page_type_id 0"},
      {"\"page_type_id\":1", "\"page_type_id\":9", "no raw page has the row group 9"},
      {"{\"id\":1,\"offset\":60}", "{\"id\":0,\"offset\":60}", "the row group 0 is in page 1 and again in page 1"},
      {"\"offset\":60", "\"offset\":101", "page 1 of 100 bytes has a row group at byte 101"},
      {"\"start_row_id\":2", "\"start_row_id\":3", "begin with 3, where row 2 comes next"},
      {"\"start_row_id\":2", "\"start_row_id\":1", "begin with 1, where row 2 comes next"},
      {"\"end_row_id\":5", "\"end_row_id\":1", "page 2 has the rows 2 to 1"},
      {"\"end_row_id\":5", "\"end_row_id\":50", "page 2 claims 48 rows"},
  };
  for (const auto& wrong : wrongs) {
    EXPECT_THAT(RefusalOf(HeaderWith(wrong[0], wrong[1])), HasSubstr(wrong[2])) << wrong[0] << " to " << wrong[1];
  }
}

TEST(MindHeader, IsNotNestedOnTheStack) {
  const std::string deep(1 << 20, '[');
  EXPECT_THAT(RefusalOf(Cat("{\"x\":", deep)), HasSubstr("not JSON"));
}

}  // namespace
}  // namespace headrace
