#include "io/formats/mindrecord/mind_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MindSet : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, MindBytesOptions options = {}, int id = 0) const {
    options.shard_id = id;
    return folder_.Write(name, MindFileBytes({MindLabelRow(id, name)}, options));
  }
  // A set of three.
  void WriteSet(MindBytesOptions options = {}) const {
    options.shard_addresses = {"x0", "x1", "x2"};
    for (int i = 0; i < 3; ++i) Write(Cat("x", i), options, i);
  }
  std::vector<std::string> NamesOf(const std::string& name) const {
    const absl::StatusOr<std::vector<std::string>> names = NamesOfMindSet(*LocalFileSystem(), folder_ / name);
    if (!names.ok()) return {DescribeError(names.status())};
    std::vector<std::string> found;
    for (const std::string& path : *names) found.push_back(path.substr(folder_.path().size() + 1));
    return found;
  }
  std::string Difference(const std::vector<std::string>& names, MindNaming naming) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_ / name);
    return DescribeError(ReadMindSet(*LocalFileSystem(), paths, naming).status());
  }

  TemporaryFolder folder_;
};

TEST_F(MindSet, IsFoundByAnyOfItsFiles) {
  WriteSet();
  for (const char* name : {"x0", "x1", "x2"}) EXPECT_THAT(NamesOf(name), ElementsAre("x0", "x1", "x2"));
  Write("alone");
  EXPECT_THAT(NamesOf("alone"), ElementsAre("alone")) << "whatever it was called when it was written";
}

TEST_F(MindSet, IsRelativeToItsFile) {
  WriteSet();
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto names = NamesOfMindSet(*LocalFileSystem(), "x1");
  std::filesystem::current_path(before);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("x0", "x1", "x2"));
}

TEST_F(MindSet, KnowsAFileThatWasRenamed) {
  WriteSet();
  std::filesystem::rename(folder_ / "x1", folder_ / "other");
  EXPECT_THAT(NamesOf("other"), ElementsAre("x0", "other", "x2"));
  EXPECT_THAT(NamesOf("x0")[0],
              AllOf(HasSubstr(Cat(folder_ / "x1", " is missing, a file of the same set as ", folder_ / "x0")),
                    HasSubstr("in a list")));
}

TEST_F(MindSet, WasWrittenTogether) {
  MindBytesOptions options;
  Write("a", options);
  options.fields = R"({"label":{"type":"int64"},"data":{"type":"bytes"}})";
  Write("schema", options);
  options = {};
  options.version = "2.0";
  Write("version", options);
  options = {};
  options.page_size = 8192;
  Write("page_size", options);
  options = {};
  options.header_size = 3000;
  Write("header_size", options);
  options = {};
  options.index_fields = R"([{"schema_id":0,"index_field":"label"}])";
  Write("index_fields", options);
  for (const char* other : {"schema", "version", "page_size", "header_size", "index_fields"}) {
    EXPECT_THAT(Difference({"a", other}, MindNaming::kSet),
                AllOf(HasSubstr(Cat("has another ", other, " than ", folder_ / "a")), HasSubstr(folder_ / other)));
  }
  EXPECT_THAT(Difference({"a", "schema"}, MindNaming::kList), HasSubstr("another schema"));
  EXPECT_THAT(Difference({"a", "version"}, MindNaming::kList), HasSubstr("another version"));
  EXPECT_EQ(Difference({"a", "page_size", "header_size", "index_fields"}, MindNaming::kList), DescribeError({}))
      << "lists may join sets";
}

}  // namespace
}  // namespace headrace
