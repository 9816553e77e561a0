#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/source/mds/mds_columns.h"
#include "ops/source/mds/mds_fields.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::string MdsTestFolder(const std::string& name) { return Cat("io/formats/mds/testdata/", name); }

GraphBuilder MdsSourceOf(const std::string& folder, GraphBuilder::Given attributes = {}) {
  attributes.emplace_back("path", StringValue(folder));
  const auto fields = FindMdsFields(*LocalFileSystem(), folder, nullptr);
  EXPECT_TRUE(fields.ok()) << fields.status();
  attributes.emplace_back("fields", StringsValue(fields.ok() ? *fields : std::vector<std::string>{"id int64 ()"}));
  GraphBuilder builder;
  builder.Add("Mds", {}, attributes);
  return builder;
}

TEST(Mds, HasTheTypesOfItsEncodings) {
  for (const char* name : {"plain", "zstd"}) {
    const auto fields = FindMdsFields(*LocalFileSystem(), MdsTestFolder(name), nullptr);
    ASSERT_TRUE(fields.ok()) << fields.status();
    EXPECT_THAT(*fields, ElementsAre("arr int16 (None, None)", "blob bytes ()", "emb float32 (3,)", "id int64 ()",
                                     "label int32 ()", "meta string ()", "score float64 ()", "text string ()"));
  }
  const std::vector<std::string> chosen = {"text", "id"};
  EXPECT_THAT(*FindMdsFields(*LocalFileSystem(), MdsTestFolder("plain"), &chosen),
              ElementsAre("text string ()", "id int64 ()"));
  const std::vector<std::string> wrong = {"txt"};
  const auto none = FindMdsFields(*LocalFileSystem(), MdsTestFolder("plain"), &wrong);
  EXPECT_THAT(std::string(ToStd(none.status().message())), HasSubstr("did you mean \"text\""));
}

TEST(Mds, GivesSamplesInEveryWay) {
  const GraphBuilder::Given columns = {{"columns", StringsValue({"id", "label", "text"})}};
  const Ran ran = RunEveryWay(MdsSourceOf(MdsTestFolder("plain"), columns));
  ASSERT_EQ(ran.Texts().size(), 12u);
  EXPECT_EQ(ran.Texts()[1], "id=1, label=-1, text='té1'");
  EXPECT_EQ(ran.Keys(1)[11], 11u);
  EXPECT_EQ(RunEveryWay(MdsSourceOf(MdsTestFolder("zstd"), columns)).Texts(), ran.Texts());
  EXPECT_EQ(RunEveryWay(MdsSourceOf(MdsTestFolder("plain"))).Texts(),
            RunEveryWay(MdsSourceOf(MdsTestFolder("zstd"))).Texts());
  GraphBuilder::Given shuffled = columns;
  shuffled.emplace_back("shuffle", BoolValue(true));
  EXPECT_THAT(RunEveryWay(MdsSourceOf(MdsTestFolder("zstd"), shuffled)).Texts(),
              UnorderedElementsAreArray(ran.Texts()));
}

TEST(Mds, NamesTheSampleThatIsDamaged) {
  const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(MdsTestFolder("plain"))) {
    const auto read = LocalFileSystem()->Read(entry.path().string());
    ASSERT_TRUE(read.ok()) << read.status();
    std::string bytes(reinterpret_cast<const char*>(read->raw()), read->bytes());
    if (entry.path().filename() == "shard.00001.mds") {
      // The size of the first column of the shard's first sample.
      uint32_t begin = 0;
      std::memcpy(&begin, bytes.data() + 4, sizeof(begin));
      bytes[begin] = static_cast<char>(bytes[begin] + 1);
    }
    folder.Write(entry.path().filename().string(), bytes);
  }
  const Ran damaged = RunEveryWay(MdsSourceOf(folder.path()));
  EXPECT_EQ(damaged.Texts().size(), 3u);
  EXPECT_THAT(DescribeError(damaged.error), HasSubstr("shard.00001.mds"));
}

TEST(MdsColumns, ReadNumbersInWords) {
  const MdsColumns columns({{"n", "str_int"}},
                           {{0, *ParseMdsEncoding("str_int"), ir::ColumnType::Of(DType::kInt64, {})}});
  const auto read = [&](std::string_view words) -> std::optional<int64_t> {
    const std::string bytes = Cat(std::string(1, static_cast<char>(words.size())), std::string(3, '\0'), words);
    const MdsSample sample{nullptr, bytes};
    absl::InlinedVector<BlockColumn, 2> made;
    absl::Status wrong;
    if (columns.Make({&sample, 1}, made, wrong) == 0) return std::nullopt;
    return made[0].row(0).value<int64_t>();
  };
  EXPECT_EQ(read("-12"), -12);
  EXPECT_EQ(read("+12"), 12);
  for (const char* words : {"", "+", "+-12", "1.5", "12 ", "9223372036854775808"}) {
    EXPECT_EQ(read(words), std::nullopt) << words;
  }
}

TEST(SplitMdsSample, WantsSizesThatMakeTheSample) {
  const std::vector<MdsColumn> columns = {{"a", "int32", 4}, {"b", "bytes"}};
  std::vector<std::string_view> parts(2);
  const std::string good("\2\0\0\0abcdxy", 10);
  ASSERT_TRUE(SplitMdsSample(columns, good, absl::MakeSpan(parts)).ok());
  EXPECT_THAT(parts, ElementsAre("abcd", "xy"));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(SplitMdsSample(columns, good.substr(0, size), absl::MakeSpan(parts)).ok()) << size;
  }
  EXPECT_FALSE(SplitMdsSample(columns, good + "z", absl::MakeSpan(parts)).ok());
}

}  // namespace
}  // namespace headrace
