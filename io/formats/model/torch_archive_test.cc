#include "io/formats/model/torch_archive.h"

#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/files/testing/one_file.h"
#include "io/formats/model/testing/model_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::StatusOr<std::optional<std::vector<ModelEntry>>> ReadTorch(const std::string& bytes, WantedKey key = {}) {
  const OneFile files(bytes);
  const auto file = files.Open("m.pt").value();
  return ReadTorchEntries(*file, static_cast<int64_t>(bytes.size()), key);
}

std::string TorchBytes() {
  return fixture::ZipBytes({{"m/extra/a", "stored"},
                            {"m/data.pkl", "pickle"},
                            {"m/extra/folder/b", std::string(1000, 'd'), true},
                            {"m/code/extra/c", "not an entry"},
                            {"extra/d", "not in the folder"},
                            {"m/version", "3\n"}});
}

TEST(TorchArchive, ReadsExtraFilesStoredAndDeflated) {
  EXPECT_THAT(**ReadTorch(TorchBytes()), ElementsAre(Pair("a", "stored"), Pair("folder/b", std::string(1000, 'd'))));
  EXPECT_THAT(**ReadTorch(TorchBytes(), "a"), ElementsAre(Pair("a", "stored")));
  EXPECT_THAT(**ReadTorch(TorchBytes(), "no"), IsEmpty());
  EXPECT_THAT(**ReadTorch(fixture::ZipBytes({{"m/archive_format", "pt2"}, {"m/extra/k", ""}})),
              ElementsAre(Pair("k", "")));
}

TEST(TorchArchive, LeavesOtherArchives) {
  EXPECT_FALSE(ReadTorch(fixture::ZipBytes({{"a.npy", "x"}, {"extra/k", "y"}}))->has_value());
  EXPECT_FALSE(ReadTorch(fixture::ZipBytes({}))->has_value());
}

TEST(TorchArchive, RefusesTwoEntriesOfOneKey) {
  const auto read = ReadTorch(fixture::ZipBytes({{"m/version", "3"}, {"m/extra/k", "1"}, {"n/extra/k", "2"}}));
  EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("two entries k"));
}

TEST(TorchArchive, RefusesArchivesThatAreCutOff) {
  const std::string bytes = TorchBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(KindOf(ReadTorch(bytes.substr(0, size)).status()), ErrorKind::kData) << size;
  }
}

TEST(TorchArchive, NeverGivesADamagedEntry) {
  const std::string bytes = TorchBytes();
  const std::vector<ModelEntry> entries = **ReadTorch(bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto read = ReadTorch(damaged);
      if (!read.ok() || !read->has_value()) continue;
      for (const auto& [key, value] : **read) {
        // Names have no checksum.
        EXPECT_TRUE(value == entries[0].second || value == entries[1].second || value.empty() ||
                    value == "not in the folder" || value == "not an entry" || value == "pickle" || value == "3\n")
            << at;
      }
    }
  }
}

TEST(TorchArchive, RefusesMembersThatClaimTooMuch) {
  std::string bytes = fixture::ZipBytes({{"m/version", "3"}, {"m/extra/k", "v"}});
  // Both sizes in the directory's last entry, of a stored member.
  const size_t entry = bytes.rfind("PK\1\2");
  bytes.replace(entry + 20, 8, fixture::NumberBytes<uint32_t>(700 << 20) + fixture::NumberBytes<uint32_t>(700 << 20));
  EXPECT_EQ(KindOf(ReadTorch(bytes).status()), ErrorKind::kData);
}

}  // namespace
}  // namespace headrace
