#include "io/formats/model/model_entries.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/model/testing/model_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string TensorsBytes(const std::string& metadata = "") {
  return fixture::SafetensorsBytes("{" + metadata + R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x");
}

std::string TorchFile() { return fixture::ZipBytes({{"m/extra/k", "v"}, {"m/version", "3\n"}}); }

TEST(ModelEntries, FindsTheFormatByTheBytes) {
  const TemporaryFolder folder;
  for (const std::string& bytes : {fixture::OnnxBytes({{"k", "v"}}), TensorsBytes(R"("__metadata__":{"k":"v"},)"),
                                   TorchFile(), fixture::OpenVinoText("<k value=\"v\"/>"),
                                   // An ONNX model whose version does not come first.
                                   fixture::OnnxProperty("k", "v") + fixture::OnnxHead()}) {
    const std::string path = folder.Write("model", bytes);
    EXPECT_THAT(*ReadModelEntries(path), ElementsAre(Pair("k", "v")));
    EXPECT_EQ(*ReadModelEntry(path, "k"), "v");
    EXPECT_EQ(*ReadModelEntry(path, "no"), std::nullopt);
  }
}

TEST(ModelEntries, AreSetReplacedAndRemoved) {
  const TemporaryFolder folder;
  for (const std::string& bytes : {fixture::OnnxBytes({}), TensorsBytes()}) {
    const std::string path = folder.Write("model", bytes);
    ASSERT_TRUE(WriteModelEntries(path, {{"k", "1"}, {"l", "2"}}).ok());
    ASSERT_TRUE(WriteModelEntries(path, {{"k", "3"}}).ok());
    EXPECT_THAT(*ReadModelEntries(path), UnorderedElementsAre(Pair("k", "3"), Pair("l", "2")));
    ASSERT_TRUE(WriteModelEntries(path, {{"k", std::nullopt}, {"l", std::nullopt}}).ok());
    EXPECT_EQ(BytesOf(path), bytes);
    EXPECT_FALSE(std::filesystem::exists(path + ".hrg"));
  }
}

TEST(ModelEntries, OfOtherFilesLieBesideThem) {
  const TemporaryFolder folder;
  const std::string npz = fixture::ZipBytes({{"a.npy", "x"}});
  for (const std::string& bytes : {std::string("\x1c\0\0\0TFL3", 8), std::string("GGUF\3\0\0\0", 8), npz, std::string(),
                                   std::string("<annotation/>")}) {
    const std::string path = folder.Write("model", bytes);
    const absl::Status none = ReadModelEntries(path).status();
    EXPECT_EQ(KindOf(none), ErrorKind::kUnsupported);
    EXPECT_THAT(std::string(none.message()), HasSubstr("there is no " + path + ".hrg"));
    ASSERT_TRUE(WriteModelEntries(path, {{"k", "v"}}).ok());
    EXPECT_EQ(BytesOf(path), bytes);
    EXPECT_THAT(*ReadModelEntries(path), ElementsAre(Pair("k", "v")));
    EXPECT_EQ(*ReadModelEntry(path + ".hrg", "k"), "v");
    ASSERT_TRUE(WriteModelEntries(path + ".hrg", {{"k", "w"}, {"l", "2"}}).ok());
    EXPECT_EQ(*ReadModelEntry(path, "k"), "w");
    ASSERT_TRUE(WriteModelEntries(path, {{"k", std::nullopt}, {"l", std::nullopt}}).ok());
    EXPECT_FALSE(std::filesystem::exists(path + ".hrg"));
  }
  folder.MakeFolder("saved_model");
  ASSERT_TRUE(WriteModelEntries(folder / "saved_model/", {{"k", "v"}}).ok());
  EXPECT_EQ(*ReadModelEntry(folder / "saved_model", "k"), "v");
  EXPECT_EQ(*ReadModelEntry(folder / "saved_model.hrg", "k"), "v");
}

TEST(ModelEntries, AreNotGuessedWhereBothFilesDiffer) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("m.onnx", fixture::OnnxBytes({{"k", "v"}}));
  ASSERT_TRUE(WriteModelEntries(path + ".hrg", {{"k", "v"}, {"more", "1"}}).ok());
  EXPECT_THAT(*ReadModelEntries(path), ElementsAre(Pair("k", "v"), Pair("more", "1")));
  ASSERT_TRUE(WriteModelEntries(path + ".hrg", {{"k", "w"}}).ok());
  for (const absl::Status& error : {ReadModelEntries(path).status(), ReadModelEntry(path, "k").status()}) {
    EXPECT_EQ(KindOf(error), ErrorKind::kData);
    EXPECT_THAT(std::string(error.message()), HasSubstr("m.onnx.hrg hold different texts for k"));
  }
  EXPECT_EQ(*ReadModelEntry(path, "more"), "1");
  // What is written to the model counts from then on.
  ASSERT_TRUE(WriteModelEntries(path, {{"k", "x"}}).ok());
  EXPECT_EQ(*ReadModelEntry(path, "k"), "x");
  EXPECT_THAT(*ReadModelEntries(path + ".hrg"), ElementsAre(Pair("more", "1")));
  ASSERT_TRUE(WriteModelEntries(path, {{"k", std::nullopt}, {"more", std::nullopt}}).ok());
  EXPECT_THAT(*ReadModelEntries(path), IsEmpty());
}

TEST(ModelEntries, SayWhoWritesFormatsThatAreOnlyRead) {
  const TemporaryFolder folder;
  const std::string torch = folder.Write("m.pt", TorchFile());
  const std::string openvino = folder.Write("m.xml", fixture::OpenVinoText("<k value=\"v\"/>"));
  for (const auto& [path, how] : {std::pair(torch, "_extra_files"), std::pair(openvino, "before it is converted")}) {
    for (const std::vector<ModelChange>& changes :
         {std::vector<ModelChange>{{"new", "1"}}, std::vector<ModelChange>{{"k", std::nullopt}}}) {
      const absl::Status error = WriteModelEntries(path, changes);
      EXPECT_EQ(KindOf(error), ErrorKind::kUnsupported);
      EXPECT_THAT(std::string(error.message()), HasSubstr(how));
      EXPECT_THAT(std::string(error.message()), HasSubstr(path));
    }
    ASSERT_TRUE(WriteModelEntries(path + ".hrg", {{"new", "1"}}).ok());
    EXPECT_THAT(*ReadModelEntries(path), ElementsAre(Pair("k", "v"), Pair("new", "1")));
    // The file beside it can lose its entries.
    ASSERT_TRUE(WriteModelEntries(path, {{"new", std::nullopt}}).ok());
    EXPECT_FALSE(std::filesystem::exists(path + ".hrg"));
  }
}

TEST(ModelEntries, RefuseWhatNoFormatHolds) {
  const TemporaryFolder folder;
  const std::string bytes = fixture::OnnxBytes({});
  const std::string path = folder.Write("m.onnx", bytes);
  for (const std::vector<ModelChange>& changes :
       {std::vector<ModelChange>{{"", "1"}}, std::vector<ModelChange>{{"k", "1"}, {"k", "2"}},
        std::vector<ModelChange>{{"k", "\xff"}}, std::vector<ModelChange>{{"\xff", "1"}}}) {
    EXPECT_EQ(KindOf(WriteModelEntries(path, changes)), ErrorKind::kGraph);
  }
  EXPECT_EQ(BytesOf(path), bytes);
  for (const char* const name : {"no.onnx", "no.hrg", "no/m.onnx"}) {
    EXPECT_EQ(KindOf(ReadModelEntries(folder / name).status()), ErrorKind::kNotFound);
  }
  EXPECT_EQ(KindOf(WriteModelEntries(folder / "no.onnx", {{"k", "v"}})), ErrorKind::kNotFound);
}

TEST(ModelEntries, NameTheDamagedFile) {
  const TemporaryFolder folder;
  for (const auto& [name, bytes] :
       fixture::Texts{{"m.onnx", fixture::OnnxBytes({})}, {"m.safetensors", TensorsBytes()}, {"m.pt2", TorchFile()}}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
      const std::string path = folder.Write(name, bytes.substr(0, size));
      for (const absl::Status& error : {ReadModelEntries(path).status(), WriteModelEntries(path, {{"k", "v"}})}) {
        EXPECT_FALSE(error.ok());
        EXPECT_THAT(std::string(error.message()), HasSubstr(path));
      }
      EXPECT_EQ(BytesOf(path), bytes.substr(0, size));
      EXPECT_FALSE(std::filesystem::exists(path + ".hrg"));
    }
  }
  const std::string model = folder.Write("damaged_beside.onnx", fixture::OnnxBytes({}));
  folder.Write("damaged_beside.onnx.hrg", "{");
  EXPECT_FALSE(WriteModelEntries(model, {{"k", "v"}}).ok());
  EXPECT_EQ(BytesOf(model), fixture::OnnxBytes({}));
  const std::string path = folder.Write("graph.hrg", "\x08\x02");
  EXPECT_THAT(std::string(ReadModelEntries(path).status().message()), HasSubstr("graph.hrg: it does not hold entries"));
  EXPECT_FALSE(WriteModelEntries(path, {{"k", "v"}}).ok());
}

TEST(ModelEntries, KeepPermissionsAndLeaveWhatALinkLeadsTo) {
  const TemporaryFolder folder;
  const std::string bytes = fixture::OnnxBytes({});
  const std::string path = folder.Write("m.onnx", bytes);
  chmod(path.c_str(), 0640);
  ASSERT_TRUE(WriteModelEntries(path, {{"k", "v"}}).ok());
  EXPECT_EQ(static_cast<int>(std::filesystem::status(path).permissions()), 0640);
  const std::string blob = folder.Write("blob", bytes);
  folder.Link("blob", "linked.onnx");
  ASSERT_TRUE(WriteModelEntries(folder / "linked.onnx", {{"k", "v"}}).ok());
  EXPECT_EQ(BytesOf(blob), bytes);
  EXPECT_EQ(*ReadModelEntry(folder / "linked.onnx", "k"), "v");
}

TEST(ModelEntries, ReadAFewBlocksOfAModel) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("m.onnx", fixture::OnnxBytes({{"k", "v"}}, std::string(10 << 20, 'w')));
  const CountedReads files(LocalFileSystem());
  EXPECT_EQ(*ReadModelEntry(files, path, "k"), "v");
  EXPECT_EQ(files.opens(), 1);
  EXPECT_LE(files.bytes(), 5 * 4096);
}

// Runs `work` with the call of that number failing; false: it made fewer calls.
bool FailCall(int number, const std::function<absl::Status(const FileSystem&)>& work, absl::Status& result) {
  int calls = 0;
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view, const std::string& path) -> absl::Status {
    if (calls++ != number) return absl::OkStatus();
    return MakeError(ErrorKind::kResource, Cat(path, ": injected"));
  });
  result = work(files);
  return calls > number;
}

TEST(ModelEntries, KeepTheOldFileWhereACallFails) {
  const TemporaryFolder folder;
  for (const std::string& bytes : {fixture::OnnxBytes({}), TensorsBytes(), std::string("GGUF")}) {
    const std::string path = folder.Write("model", bytes);
    int number = 0;
    absl::Status result;
    while (FailCall(
        number, [&](const FileSystem& files) { return WriteModelEntries(files, path, {{"k", "v"}}); }, result)) {
      // A failing search of the format is the file's own error, or the call is of the file beside it.
      const auto read = ReadModelEntry(path, "k");
      if (!result.ok()) {
        EXPECT_THAT(std::string(result.message()), HasSubstr("injected")) << number;
      }
      if (result.ok()) {
        EXPECT_EQ(*read, "v");
      }
      const std::string left = BytesOf(path);
      EXPECT_TRUE(left == bytes || *read == "v");
      std::filesystem::remove(path + ".hrg");
      folder.Write("model", bytes);
      ++number;
    }
    EXPECT_TRUE(result.ok()) << result;
    EXPECT_GT(number, 8);
    std::filesystem::remove(path + ".hrg");
  }
}

TEST(ModelEntries, AreErrorsWhereACallFailsThatReads) {
  const TemporaryFolder folder;
  for (const std::string& bytes : {fixture::OnnxBytes({{"k", "v"}}), TensorsBytes(R"("__metadata__":{"k":"v"},)"),
                                   TorchFile(), fixture::OpenVinoText("<k value=\"v\"/>")}) {
    const std::string path = folder.Write("model", bytes);
    ASSERT_TRUE(WriteModelEntries(path + ".hrg", {{"k", "v"}}).ok());
    int number = 0;
    absl::Status result;
    while (FailCall(
        number,
        [&](const FileSystem& files) {
          const auto read = ReadModelEntry(files, path, "k");
          if (read.ok()) {
            EXPECT_EQ(*read, "v");
          }
          return read.status();
        },
        result)) {
      EXPECT_FALSE(result.ok()) << number;
      ++number;
    }
    EXPECT_TRUE(result.ok()) << result;
  }
}

TEST(ModelEntries, OfAKilledWriterAreTheOldOnesOrTheNewOnes) {
  const TemporaryFolder folder;
  const std::string bytes = fixture::OnnxBytes({{"k", "old"}}, std::string((1 << 20) + 1, 'w'));
  bool killed = true;
  int number = 0;
  bool ended_new = false;
  for (; killed; ++number) {
    const std::string path = folder.Write("model", bytes);
    const pid_t child = fork();
    if (child == 0) {
      int calls = 0;
      const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view, const std::string&) {
        if (calls++ == number) _exit(1);
        return absl::OkStatus();
      });
      _exit(WriteModelEntries(files, path, {{"k", "new"}}).ok() ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_NE(WEXITSTATUS(status), 2);
    killed = WEXITSTATUS(status) == 1;
    const std::string left = BytesOf(path);
    ended_new = left != bytes;
    EXPECT_EQ(**ReadModelEntry(path, "k"), ended_new ? "new" : "old");
  }
  EXPECT_TRUE(ended_new);
  EXPECT_GT(number, 10);
}

TEST(ModelEntries, OfAFileThatIsWrittenToMeanwhileAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("m.onnx", fixture::OnnxBytes({}));
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    if (call == "Seal") folder.Write("m.onnx", fixture::OnnxBytes({{"other", "1"}}));
    return absl::OkStatus();
  });
  const absl::Status error = WriteModelEntries(files, path, {{"k", "v"}});
  EXPECT_EQ(KindOf(error), ErrorKind::kData);
  EXPECT_THAT(std::string(error.message()), HasSubstr("written to by another process"));
  EXPECT_THAT(*ReadModelEntries(path), ElementsAre(Pair("other", "1")));
}

}  // namespace
}  // namespace headrace
