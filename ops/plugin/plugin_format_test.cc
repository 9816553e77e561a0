// What holds of a plugin's formats beyond what holds of every format (ops/source/split_source_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/value.h"
#include "kernels/plugin/plugin_library.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

GraphBuilder Source(const std::string& op, const std::string& pattern, GraphBuilder::Given more = {}) {
  const auto plugin = LoadPlugin("plugin/testing/reading_plugin.so");
  EXPECT_TRUE(plugin.ok()) << plugin.status();
  more.emplace_back("patterns", ir::StringsValue({pattern}));
  GraphBuilder builder;
  builder.Add(op, {}, more);
  return builder;
}

std::string Frame(const std::string& record) {
  const auto length = static_cast<uint32_t>(record.size());
  return "FRAM" + std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + record;
}

// Files that cannot be cut: a row depends on those before it.
class WholeFiles : public ::testing::Test {
 protected:
  WholeFiles() {
    for (const int count : {30, 0, 1, 50}) {
      std::string bytes;
      for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 100);
      folder_.Write(Cat("f", files_++), bytes);
      std::vector<int64_t> sums(bytes.begin(), bytes.end());
      std::partial_sum(sums.begin(), sums.end(), sums.begin());
      sums_.insert(sums_.end(), sums.begin(), sums.end());
    }
  }
  GraphBuilder Sums(GraphBuilder::Given more = {}) const {
    return Source("readops.Sums", folder_ / "f*", std::move(more));
  }

  TemporaryFolder folder_;
  int files_ = 0;
  std::vector<int64_t> sums_;
};

TEST_F(WholeFiles, AreReadFromTheirStartsFromEveryState) {
  EXPECT_EQ(RunEveryWay(Sums()).Ints(), sums_);
  const Ran shuffled = RunEveryWay(Sums({{"shuffle", ir::BoolValue(true)}, {"interleave", ir::IntValue(2)}}));
  EXPECT_THAT(shuffled.Ints(), UnorderedElementsAreArray(sums_));
}

TEST_F(WholeFiles, AreSharedAsTheyAre) {
  for (const char* sharding : {"rows", "splits", "contiguous"}) {
    for (const uint64_t world : {2, 7}) {
      std::vector<int64_t> all;
      RunSpec spec;
      spec.restart_every = 7;
      for (const Ran& ran : RunRanks(Sums({{"sharding", ir::StringValue(sharding)}}), world, spec)) {
        const std::vector<int64_t> part = ran.Ints();
        all.insert(all.end(), part.begin(), part.end());
      }
      EXPECT_THAT(all, UnorderedElementsAreArray(sums_)) << sharding << " " << world;
    }
  }
}

TEST(PluginFormat, PassesOnFaultsOfTheDisk) {
  TemporaryFolder folder;
  folder.Write("a.frames", Frame("one") + Frame("two"));
  for (const char* which : {"Open", "ReadAt", "Size"}) {
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
      return call == which ? MakeError(ErrorKind::kResource, "the disk fails") : absl::OkStatus();
    });
    GraphBuilder builder = Source("readops.Frames", folder / "*.frames");
    // It is no fault of a row.
    builder.SkipFailed(10);
    PipelineOptions options = OptionsOf({});
    options.files = &files;
    const auto ran = RunOnce(*builder.Build(), std::move(options));
    ASSERT_TRUE(ran.ok());
    EXPECT_EQ(KindOf(ran->error), ErrorKind::kResource) << which;
    EXPECT_THAT(DescribeError(ran->error), HasSubstr("the disk fails"));
    EXPECT_THAT(std::string(GetErrorField(ran->error, ErrorField::kFile)), HasSubstr("a.frames"));
  }
}

struct Fault {
  std::string name;
  std::string message;
  int64_t byte = 11;  // after the first record
};

class FaultyFormat : public ::testing::TestWithParam<Fault> {};

INSTANTIATE_TEST_SUITE_P(
    All, FaultyFormat,
    ::testing::Values(
        Fault{"find throws", "no place", 0},
        Fault{"find beyond",
              "find() of readops.Frames gives byte 34 as where a row begins from byte 0 on, in a file "
              "of 33 bytes (a fault of the plugin readops",
              0},
        Fault{"open throws", "no reader", 0}, Fault{"next throws", "frame"}, Fault{"row throws", "record"},
        Fault{"overlaps",
              "next() of readops.Frames gives a row of bytes 10 to 22, which begins before byte 11, where "
              "the rows before end (a fault of the plugin readops"},
        Fault{"empty", "gives a row of bytes 11 to 11, which are not in the file of 33 bytes (a fault of"},
        Fault{"beyond", "gives a row of bytes 11 to 34, which are not in the file of 33 bytes (a fault of"},
        Fault{"before begin", "calls allocate(), which is for apply() and read() alone, and for next() after"},
        Fault{"twice", "calls begin_row() twice for one row"}, Fault{"without begin", "gives a row without Begin()"},
        Fault{"none", "begins a row and says that there is none"},
        Fault{"no output", "next() of readops.Frames gives no output 0 and no error (a fault of the plugin readops"},
        Fault{"dtype", "gives int64 () for output 0, and its columns() says bytes ()"}));

TEST_P(FaultyFormat, IsNamedWithFileAndByte) {
  TemporaryFolder folder;
  const std::string path = folder.Write("a.frames", Frame("one") + Frame("two") + Frame("six"));
  const Ran ran =
      RunEveryWay(Source("readops.Frames", folder / "*.frames", {{"fault", ir::StringValue(GetParam().name)}}));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr(GetParam().message));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("readops.Frames"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), Cat(path, ", byte ", GetParam().byte));
}

TEST(PluginFormat, NamesAReaderThatGoesBeyondItsSplit) {
  TemporaryFolder folder;
  folder.Write("a.frames", Frame("one") + Frame("two") + Frame("six"));
  const auto error = [&](const char* fault) {
    const GraphBuilder builder =
        Source("readops.Frames", folder / "*.frames",
               {{"fault", ir::StringValue(fault)}, {"interleave", ir::IntValue(2)}, {"split_bytes", ir::IntValue(22)}});
    const auto ran = RunOnce(*builder.Build(), OptionsOf({}));
    return DescribeError(ran.ok() ? ran->error : ran.status());
  };
  EXPECT_THAT(error("never ends"),
              HasSubstr("gives a row of bytes 22 to 33, which is not of its split: that ends at byte 22"));
  EXPECT_THAT(error("find behind"), HasSubstr("gives byte 21 as where a row begins from byte 22 on"));
}

}  // namespace
}  // namespace headrace
