#include "io/formats/model/safetensors_file.h"

#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/model/testing/model_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Numbers, orders and blanks that a library would not write again so.
constexpr std::string_view kTensors =
    R"("b" : {"shape":[1, 2.0e0],"dtype":"U8","data_offsets":[0,2], "x": 1.50},"a":{"dtype":"U8","shape":[1],"data_offsets":[2,3]})";

absl::StatusOr<std::vector<ModelEntry>> ReadTensorsFile(const std::string& bytes, WantedKey key = {}) {
  const OneFile files(bytes);
  const auto file = files.Open("m.safetensors").value();
  return ReadSafetensorsEntries(*file, static_cast<int64_t>(bytes.size()), key);
}

std::string ErrorOfTensorsFile(const std::string& bytes) {
  const absl::Status error = ReadTensorsFile(bytes).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kData);
  return std::string(error.message());
}

std::string ChangedTensorsFile(const std::string& bytes, const std::vector<ModelChange>& changes) {
  const OneFile files(bytes);
  const auto file = files.Open("m.safetensors").value();
  const auto pieces = ChangeSafetensorsEntries(*file, static_cast<int64_t>(bytes.size()), changes);
  EXPECT_TRUE(pieces.ok()) << pieces.status();
  if (!pieces.value().has_value()) return bytes;
  std::string changed;
  for (const FilePiece& piece : (*pieces)->pieces()) {
    changed +=
        bytes.substr(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.end - piece.begin)) + piece.text;
  }
  return changed;
}

std::string WithMetadata(std::string_view metadata) {
  return fixture::SafetensorsBytes("{\"__metadata__\":" + std::string(metadata) + "," + std::string(kTensors) + "}",
                                   "xyz");
}

std::string WithoutMetadata() { return fixture::SafetensorsBytes("{" + std::string(kTensors) + "}", "xyz"); }

TEST(SafetensorsFile, ReadsMetadataTheLastOfAKey) {
  const std::string bytes = WithMetadata(R"({"format":"pt", "k":"1","k" : "\u00e9\n"})");
  EXPECT_THAT(*ReadTensorsFile(bytes), ElementsAre(Pair("format", "pt"), Pair("k", "é\n")));
  EXPECT_THAT(*ReadTensorsFile(bytes, "k"), ElementsAre(Pair("k", "é\n")));
  EXPECT_THAT(*ReadTensorsFile(bytes, "no"), IsEmpty());
  EXPECT_THAT(*ReadTensorsFile(WithoutMetadata()), IsEmpty());
  EXPECT_THAT(*ReadTensorsFile(WithMetadata("null")), IsEmpty());
  EXPECT_THAT(*ReadTensorsFile(fixture::SafetensorsBytes("{}", "")), IsEmpty());
}

TEST(SafetensorsFile, ReadsTextsOfAnyLength) {
  const std::string value(17 << 20, 'v');
  EXPECT_THAT(*ReadTensorsFile(WithMetadata("{\"k\":\"" + value + "\"}")), ElementsAre(Pair("k", value)));
}

TEST(SafetensorsFile, KeepsAllOtherBytes) {
  const std::string bytes = WithMetadata(R"({"format" : "p\u0074","k":"1","a":"b","k":"2"})");
  EXPECT_EQ(ChangedTensorsFile(bytes, {{"k", "\"new\"\n"}}),
            WithMetadata(R"({"format" : "p\u0074","a":"b","k":"\"new\"\n"})"));
  EXPECT_EQ(ChangedTensorsFile(bytes, {{"k", std::nullopt}, {"z", "1"}}),
            WithMetadata(R"({"format" : "p\u0074","a":"b","z":"1"})"));
  EXPECT_EQ(ChangedTensorsFile(bytes, {{"no", std::nullopt}}), bytes);
  EXPECT_EQ(ChangedTensorsFile(WithMetadata("{}"), {{"k", "v"}}), WithMetadata(R"({"k":"v"})"));
  EXPECT_EQ(ChangedTensorsFile(WithMetadata("null"), {{"k", "v"}}), WithMetadata(R"({"k":"v"})"));
}

TEST(SafetensorsFile, AddsMetadataAndTakesItAway) {
  const std::string added = ChangedTensorsFile(WithoutMetadata(), {{"k", "v"}});
  EXPECT_EQ(added, WithMetadata(R"({"k":"v"})"));
  EXPECT_EQ(ChangedTensorsFile(added, {{"k", std::nullopt}}), WithoutMetadata());
  const std::string empty = fixture::SafetensorsBytes("{}", "");
  const std::string only = fixture::SafetensorsBytes(R"({"__metadata__":{"k":"v"}})", "");
  EXPECT_EQ(ChangedTensorsFile(empty, {{"k", "v"}}), only);
  EXPECT_EQ(ChangedTensorsFile(only, {{"k", std::nullopt}}), empty);
}

TEST(SafetensorsFile, ChangesMetadataWhereverItStands) {
  const auto with = [](const std::string& members) {
    return fixture::SafetensorsBytes(R"({ "a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})" + members, "x");
  };
  const std::string last = with(R"( , "__metadata__" : {"k":"v"} })");
  EXPECT_EQ(ChangedTensorsFile(last, {{"k", "w"}}), with(R"( , "__metadata__" : {"k":"w"} })"));
  EXPECT_EQ(ChangedTensorsFile(last, {{"k", std::nullopt}}), with(" }"));
  const std::string more = R"("b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})";
  const std::string amid = with(R"(, "__metadata__":{"k":"v"}, )" + more);
  EXPECT_EQ(ChangedTensorsFile(amid, {{"k", std::nullopt}}), with(", " + more));
}

TEST(SafetensorsFile, BeginsDataAtMultiplesOfEight) {
  for (size_t length = 0; length < 17; ++length) {
    const std::string changed = ChangedTensorsFile(WithoutMetadata(), {{"k", std::string(length, 'v')}});
    EXPECT_EQ((changed.size() - 3) % 8, 0u);
    EXPECT_TRUE(changed.ends_with("xyz"));
    EXPECT_THAT(*ReadTensorsFile(changed), ElementsAre(Pair("k", std::string(length, 'v'))));
  }
}

TEST(SafetensorsFile, TellsWhereAFileIsCutOff) {
  const std::string bytes = WithMetadata(R"({"k":"v"})");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ErrorOfTensorsFile(bytes.substr(0, size)), HasSubstr("cut off")) << size;
  }
  EXPECT_THAT(ErrorOfTensorsFile(bytes + "x"), HasSubstr("1 bytes after its tensors"));
}

TEST(SafetensorsFile, SurvivesEveryDamagedByte) {
  const std::string bytes = WithMetadata(R"({"k":"v","l":"w"})");
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto read = ReadTensorsFile(damaged);
      if (!read.ok()) {
        EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
      }
      // Whatever was read can be changed, and the rest stays.
      if (read.ok()) {
        EXPECT_TRUE(ReadTensorsFile(ChangedTensorsFile(damaged, {{"new", "x"}})).ok()) << damaged;
      }
    }
  }
}

TEST(SafetensorsFile, RefusesHeadersOfOtherForms) {
  EXPECT_THAT(ErrorOfTensorsFile(WithMetadata(R"({"k":1})")),
              HasSubstr("the value of k in __metadata__ is not a text"));
  EXPECT_THAT(ErrorOfTensorsFile(WithMetadata("[]")), HasSubstr("an object was expected"));
  EXPECT_THAT(ErrorOfTensorsFile(WithMetadata(R"({},"__metadata__":{})")), HasSubstr("twice"));
  EXPECT_THAT(ErrorOfTensorsFile(fixture::SafetensorsBytes(R"({"a":1})", "")), HasSubstr("the tensor a"));
  EXPECT_THAT(ErrorOfTensorsFile(fixture::SafetensorsBytes(R"({"a":{}})", "")), HasSubstr("data_offsets"));
  for (const char* const offsets : {"[]", "[0]", "[1,0]", "[-1,0]", "[0,1,2]", "[0,0.5]", "{}", "[0,1"}) {
    ErrorOfTensorsFile(fixture::SafetensorsBytes(R"({"a":{"data_offsets":)" + std::string(offsets) + "}}", "x"));
  }
  EXPECT_THAT(ErrorOfTensorsFile(fixture::NumberBytes<uint64_t>(100'000'001) + "{}"), HasSubstr("100000001 bytes"));
  EXPECT_THAT(ErrorOfTensorsFile(fixture::NumberBytes<uint64_t>(2) + "[]"), HasSubstr("does not begin with {"));
}

TEST(SafetensorsFile, MakesNoHeaderThatTheLibraryRefuses) {
  const std::string bytes = WithoutMetadata();
  const OneFile files(bytes);
  const auto file = files.Open("m.safetensors").value();
  const auto changed =
      ChangeSafetensorsEntries(*file, static_cast<int64_t>(bytes.size()), {{"k", std::string(100'000'000, 'v')}});
  EXPECT_EQ(KindOf(changed.status()), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace headrace
