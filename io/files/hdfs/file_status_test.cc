#include "io/files/hdfs/file_status.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace::hdfs {
namespace {

constexpr std::string_view kFile =
    "{\"accessTime\":0,\"blockSize\":65536,\"childrenNum\":0,\"fileId\":16390,\"group\":\"g\",\"length\":24930,"
    "\"modificationTime\":1320173277227,\"owner\":\"o\",\"pathSuffix\":\"a.patch\",\"permission\":\"644\","
    "\"replication\":1,\"storagePolicy\":0,\"type\":\"FILE\"}";
constexpr std::string_view kFolder =
    "{\"length\":0,\"pathSuffix\":\"b\",\"type\":\"DIRECTORY\",\"modificationTime\":5}";

TEST(FileStatus, IsRead) {
  const auto status = ParseFileStatus(Cat("{\"FileStatus\":", kFile, "}"));
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->type, EntryType::kFile);
  EXPECT_EQ(status->size, 24930);
  EXPECT_EQ(status->block_size, 65536);
  EXPECT_EQ(VersionOf(*status), "1320173277227.16390");
  const FileStat stat = StatOf(*status);
  EXPECT_EQ(stat.version, "1320173277227.16390");
  EXPECT_EQ(stat.changed_ns, 1320173277227'000'000);
}

TEST(FileStatus, ListsWholeFoldersAndParts) {
  const std::string list = Cat("{\"FileStatuses\":{\"FileStatus\":[", kFile, ",", kFolder, "]}}");
  const auto whole = ParseListing(list);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_EQ(whole->entries.size(), 2u);
  EXPECT_EQ(whole->remaining, 0);
  EXPECT_EQ(whole->entries[1].name, "b");
  EXPECT_EQ(whole->entries[1].type, EntryType::kFolder);
  EXPECT_EQ(VersionOf(whole->entries[1]), "");
  const auto part = ParseListing(Cat("{\"DirectoryListing\":{\"partialListing\":", list, ",\"remainingEntries\":7}}"));
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(part->entries.size(), 2u);
  EXPECT_EQ(part->remaining, 7);
  EXPECT_TRUE(ParseListing("{\"FileStatuses\":{\"FileStatus\":[]}}")->entries.empty());
}

TEST(FileStatus, RefusesWhatIsNotOne) {
  for (const std::string& json :
       {std::string(), std::string("{}"), std::string("[]"), std::string("{\"FileStatuses\":{\"FileStatus\":["),
        std::string("{\"FileStatuses\":{\"FileStatus\":[{\"pathSuffix\":\"a/b\",\"type\":\"FILE\",\"length\":1}]}}"),
        std::string("{\"FileStatuses\":{\"FileStatus\":[{\"pathSuffix\":\"..\",\"type\":\"DIRECTORY\"}]}}"),
        std::string("{\"FileStatuses\":{\"FileStatus\":[{\"pathSuffix\":\"a\",\"type\":\"FILE\",\"length\":-1}]}}"),
        std::string(100000, '[')}) {
    EXPECT_EQ(KindOf(ParseListing(json).status()), ErrorKind::kData) << json.substr(0, 100);
    EXPECT_FALSE(ParseFileStatus(json).ok());
  }
}

}  // namespace
}  // namespace headrace::hdfs
