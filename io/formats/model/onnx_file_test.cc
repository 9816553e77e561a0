#include "io/formats/model/onnx_file.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/varint.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/model/testing/model_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::StatusOr<std::vector<ModelEntry>> ReadOnnx(const std::string& bytes, WantedKey key = {}) {
  const OneFile files(bytes);
  const auto file = files.Open("model.onnx").value();
  return ReadOnnxEntries(*file, static_cast<int64_t>(bytes.size()), key);
}

std::string BytesOfPieces(const std::string& old, const FilePieces& pieces) {
  std::string bytes;
  for (const FilePiece& piece : pieces.pieces()) {
    bytes += old.substr(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.end - piece.begin)) + piece.text;
  }
  return bytes;
}

// The bytes of the changed file; those of the old one where nothing changes.
std::string ChangedOnnx(const std::string& bytes, const std::vector<ModelChange>& changes) {
  const OneFile files(bytes);
  const auto file = files.Open("model.onnx").value();
  const auto pieces = ChangeOnnxEntries(*file, static_cast<int64_t>(bytes.size()), changes);
  EXPECT_TRUE(pieces.ok()) << pieces.status();
  return pieces.value().has_value() ? BytesOfPieces(bytes, **pieces) : bytes;
}

TEST(OnnxFile, ReadsPropertiesTheLastOfAKey) {
  const std::string bytes = fixture::OnnxBytes({{"author", "a"}, {"k", "first"}, {"k", "last"}, {"", "nameless"}});
  EXPECT_THAT(*ReadOnnx(bytes), ElementsAre(Pair("author", "a"), Pair("k", "last"), Pair("", "nameless")));
  EXPECT_THAT(*ReadOnnx(bytes, "k"), ElementsAre(Pair("k", "last")));
  EXPECT_THAT(*ReadOnnx(bytes, "no"), IsEmpty());
  // Fields may come in any order, and of one in an entry the last counts.
  const std::string turned = fixture::BytesField(14, fixture::BytesField(2, "old") + fixture::VarintField(9, 1) +
                                                         fixture::BytesField(1, "k") + fixture::BytesField(2, "new")) +
                             fixture::OnnxHead();
  EXPECT_THAT(*ReadOnnx(turned), ElementsAre(Pair("k", "new")));
  // Without a value it is empty.
  EXPECT_THAT(*ReadOnnx(fixture::OnnxHead() + fixture::BytesField(14, fixture::BytesField(1, "k"))),
              ElementsAre(Pair("k", "")));
}

TEST(OnnxFile, ReadsLongEntries) {
  const std::string key(5000, 'k');
  const std::string value(100'000, 'v');
  EXPECT_THAT(*ReadOnnx(fixture::OnnxBytes({{"a", "b"}, {key, value}}), key), ElementsAre(Pair(key, value)));
}

TEST(OnnxFile, PassesOverFieldsOfLaterVersions) {
  const std::string later = fixture::BytesField(26, "devices") + fixture::VarintField(900, 3) +
                            std::string("\xf9\x01", 2) + std::string(8, 'x') + std::string("\xfd\x01", 2) +
                            std::string(4, 'x');
  EXPECT_THAT(*ReadOnnx(fixture::OnnxHead() + later + fixture::OnnxProperty("k", "v")), ElementsAre(Pair("k", "v")));
}

TEST(OnnxFile, ReadsNoWeights) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("m.onnx", fixture::OnnxBytes({{"k", "v"}}, std::string(10 << 20, 'w')));
  const CountedReads files(LocalFileSystem());
  const auto file = files.Open(path).value();
  EXPECT_THAT(*ReadOnnxEntries(*file, file->Size().value(), "k"), ElementsAre(Pair("k", "v")));
  EXPECT_LE(files.bytes(), 3 * 4096);
}

// A file of which the graph has so many bytes, most of them a hole.
std::string WriteSparseOnnx(const TemporaryFolder& folder, int64_t graph, const std::string& after) {
  std::string head = fixture::VarintField(1, 8) + "\x3a";
  PutVarint(head, static_cast<uint64_t>(graph));
  const std::string path = folder.Write("big.onnx", head);
  std::filesystem::resize_file(path, head.size() + static_cast<uint64_t>(graph));
  std::ofstream(path, std::ios::binary | std::ios::app) << fixture::BytesField(8, "") << after;
  return path;
}

TEST(OnnxFile, ReadsAndChangesFilesOfMoreThanTwoGigabytes) {
  const TemporaryFolder folder;
  const std::string path = WriteSparseOnnx(folder, int64_t{5} << 30, fixture::OnnxProperty("k", "v"));
  const auto file = LocalFileSystem()->Open(path).value();
  const int64_t size = file->Size().value();
  EXPECT_THAT(*ReadOnnxEntries(*file, size, {}), ElementsAre(Pair("k", "v")));
  const FilePieces pieces = ChangeOnnxEntries(*file, size, {{"k", "w"}}).value().value();
  ASSERT_EQ(pieces.pieces().size(), 2u);
  EXPECT_EQ(pieces.pieces()[0].end, size - static_cast<int64_t>(fixture::OnnxProperty("k", "v").size()));
  EXPECT_EQ(pieces.pieces()[1].text, fixture::OnnxProperty("k", "w"));
}

TEST(OnnxFile, MakesNoFileThatLibrariesCannotRead) {
  const TemporaryFolder folder;
  const std::string path = WriteSparseOnnx(folder, INT32_MAX - 100, fixture::OnnxProperty("k", "v"));
  const auto file = LocalFileSystem()->Open(path).value();
  const auto changed = ChangeOnnxEntries(*file, file->Size().value(), {{"k", std::string(1000, 'x')}});
  EXPECT_EQ(KindOf(changed.status()), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(changed.status().message()), HasSubstr("external data"));
  EXPECT_TRUE(ChangeOnnxEntries(*file, file->Size().value(), {{"k", "w"}}).ok());
}

TEST(OnnxFile, KeepsAllOtherBytes) {
  const std::string head = fixture::OnnxHead();
  const std::string author = fixture::OnnxProperty("author", "a");
  const std::string functions = fixture::BytesField(25, "f");
  const auto k = [](std::string_view value) { return fixture::OnnxProperty("k", value); };
  const std::string bytes = k("1") + head + author + k("2") + functions + k("3");
  EXPECT_EQ(ChangedOnnx(bytes, {{"k", "new"}}), head + author + functions + k("new"));
  EXPECT_EQ(ChangedOnnx(bytes, {{"k", std::nullopt}}), head + author + functions);
  EXPECT_EQ(ChangedOnnx(bytes, {{"no", std::nullopt}}), bytes);
  EXPECT_EQ(ChangedOnnx(bytes, {{"x", "y"}, {"author", std::nullopt}}),
            k("1") + head + k("2") + functions + k("3") + fixture::OnnxProperty("x", "y"));
}

TEST(OnnxFile, TellsWhereAFileIsCutOff) {
  const std::string head = fixture::OnnxHead();
  const std::string bytes = head + fixture::OnnxProperty("a", "1") + fixture::OnnxProperty("b", "2");
  // A message may end after each field, and be a model with fewer properties.
  const std::set<size_t> whole = {head.size(), head.size() + fixture::OnnxProperty("a", "1").size(), bytes.size()};
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto read = ReadOnnx(bytes.substr(0, size));
    EXPECT_EQ(read.ok(), whole.contains(size)) << size;
    if (!read.ok()) {
      EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
    }
  }
  EXPECT_THAT(std::string(ReadOnnx(head.substr(0, head.size() - 1)).status().message()),
              HasSubstr("the field 8 (opset_import) at byte"));
}

TEST(OnnxFile, SurvivesEveryDamagedByte) {
  const std::string bytes = fixture::OnnxBytes({{"a", "1"}, {"b", "2"}});
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int change = 1; change < 256; ++change) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto read = ReadOnnx(damaged);
      if (!read.ok()) {
        EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
      }
      for (const auto& [key, value] : read.value_or(std::vector<ModelEntry>())) {
        EXPECT_NE(damaged.find(value), std::string::npos);
      }
    }
  }
}

TEST(OnnxFile, RefusesWhatIsNotAModel) {
  const std::string graph = fixture::BytesField(7, "");
  const std::string opsets = fixture::BytesField(8, "");
  for (const std::string& bytes :
       {std::string(), graph, fixture::VarintField(1, 8) + opsets, fixture::VarintField(1, 8) + graph,
        fixture::VarintField(1, 0) + graph + opsets, fixture::VarintField(1, 100'000) + graph + opsets,
        // As MindSpore has its version, and as groups were.
        fixture::BytesField(1, "0.1") + graph + opsets, fixture::OnnxHead() + "\x1b\x1c",
        fixture::OnnxHead() + std::string("\x00\x00", 2), fixture::OnnxHead() + "\x0f",
        fixture::OnnxHead() + fixture::VarintField(14, 1),
        fixture::OnnxHead() + fixture::BytesField(14, fixture::VarintField(1, 1))}) {
    EXPECT_EQ(KindOf(ReadOnnx(bytes).status()), ErrorKind::kData);
  }
  // Models of the first versions have no sets of operators.
  EXPECT_TRUE(ReadOnnx(fixture::VarintField(1, 2) + graph).ok());
}

TEST(OnnxFile, ReadsBoundedNumbersOfFields) {
  std::string bytes = fixture::OnnxHead();
  for (int i = 0; i < (1 << 20); ++i) bytes += std::string("\x28\x00", 2);
  EXPECT_THAT(std::string(ReadOnnx(bytes).status().message()), HasSubstr("fields"));
}

TEST(OnnxFile, BeginsWithItsVersion) {
  EXPECT_TRUE(BeginsAsOnnx(fixture::OnnxHead()));
  EXPECT_FALSE(BeginsAsOnnx(""));
  EXPECT_FALSE(BeginsAsOnnx("\x08"));
  EXPECT_FALSE(BeginsAsOnnx(std::string("\x08\x00", 2)));
  EXPECT_FALSE(BeginsAsOnnx("GGUF"));
}

}  // namespace
}  // namespace headrace
