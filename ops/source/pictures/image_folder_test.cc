#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

// Two classes: cat with 1 and 2, dog with a/3, b and c.
class ImageFolder : public ::testing::Test {
 protected:
  ImageFolder() {
    folder_.Write("dog/c.jpg", "dog c");
    folder_.Write("dog/b.PNG", "dog b");
    folder_.Write("dog/a/3.jpeg", "dog 3");
    folder_.Write("dog/notes.txt", "no image");
    folder_.Write("cat/2.jpg", "cat 2");
    folder_.Write("cat/1.jpg", "cat 1");
  }

  GraphBuilder Source(GraphBuilder::Given attributes = {}) const {
    attributes.push_back({"root", StringValue(folder_.path())});
    GraphBuilder builder;
    builder.Add("ImageFolder", {}, attributes);
    return builder;
  }

  TemporaryFolder folder_;
};

TEST_F(ImageFolder, GivesImagesWithLabelsInOrder) {
  const Ran ran = RunEveryWay(Source());
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch),
                ElementsAre("image='cat 1', label=0", "image='cat 2', label=0", "image='dog 3', label=1",
                            "image='dog b', label=1", "image='dog c', label=1"));
    EXPECT_THAT(ran.Keys(epoch), ElementsAre(0, 1, 2, 3, 4));
  }
  EXPECT_EQ(ran.rows[0].columns[0].dtype(), DType::kBytes);
  EXPECT_EQ(ran.rows[0].columns[1].dtype(), DType::kInt32);
}

TEST_F(ImageFolder, GivesTheColumnsAskedFor) {
  const Ran ran = RunEveryWay(Source({{"columns", StringsValue({"index", "path", "label"})}}));
  EXPECT_EQ(ran.Texts(1)[2], Cat("index=2, path='", folder_ / "dog/a/3.jpeg", "', label=1"));
}

TEST_F(ImageFolder, ReadsNoFileWhoseBytesNobodyWants) {
  const auto graph = Source({{"columns", StringsValue({"label"})}}).Build();
  auto pipeline = Pipeline::Make(*graph, OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  std::filesystem::remove_all(folder_ / "dog");
  ResultRow row;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE((*pipeline)->Next(std::chrono::seconds(1), row).ok());
}

TEST_F(ImageFolder, ShufflesAnewEachEpochAndKeepsIdentities) {
  for (int i = 0; i < 20; ++i) folder_.Write(Cat("cat/more", i, ".jpg"), Cat("more ", i));
  const Ran plain = RunEveryWay(Source());
  const Ran ran = RunEveryWay(Source({{"shuffle", BoolValue(true)}}));
  EXPECT_THAT(ran.Texts(0), UnorderedElementsAreArray(plain.Texts(0)));
  EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(plain.Texts(0)));
  EXPECT_NE(ran.Texts(0), plain.Texts(0));
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
  for (const RanRow& row : ran.rows) EXPECT_EQ(row.text, plain.rows[row.id.key].text) << "a key is the real index";
  RunSpec other_seed;
  other_seed.seed = 8;
  EXPECT_NE(RunEveryWay(Source({{"shuffle", BoolValue(true)}}), other_seed).Texts(0), ran.Texts(0));
}

TEST_F(ImageFolder, ShardsRows) {
  const std::vector<Ran> ranks = RunRanks(Source({{"shuffle", BoolValue(true)}}), 2);
  std::set<uint64_t> keys;
  for (const Ran& rank : ranks) {
    for (const uint64_t key : rank.Keys(1)) EXPECT_TRUE(keys.insert(key).second) << key;
  }
  EXPECT_EQ(keys.size(), 5u);
  EXPECT_EQ(ranks[0].Keys(1).size(), 3u);
}

TEST_F(ImageFolder, TakesItsClassesFromAMap) {
  const Ran ran = RunEveryWay(Source({{"classes", ir::PairsValue({{"dog", "7"}})}}));
  EXPECT_THAT(ran.Texts(), ElementsAre("image='dog 3', label=7", "image='dog b', label=7", "image='dog c', label=7"));
  EXPECT_THAT(Refusal(Source({{"classes", ir::PairsValue({{"dog", "seven"}})}})),
              HasSubstr("classes gives \"dog\" the label 'seven'"));
  EXPECT_THAT(Refusal(Source({{"classes", ir::PairsValue({{"cow", "1"}})}})), HasSubstr("cow"));
}

TEST_F(ImageFolder, KeepsItsListingWhereAsked) {
  const GraphBuilder builder = Source({{"listing", StringValue(folder_ / "list")}});
  EXPECT_EQ(RunEveryWay(builder).Texts(0).size(), 5u);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "list"));
  folder_.Write("cat/3.jpg");
  EXPECT_EQ(RunEveryWay(builder).Texts(0).size(), 5u) << "a saved listing is believed";
  EXPECT_EQ(RunEveryWay(Source()).Texts(0).size(), 6u);
}

TEST_F(ImageFolder, TellsWhenTheDataChanged) {
  const Fingerprint before = RunEveryWay(Source()).fingerprints.at(0);
  EXPECT_EQ(before.count, 5u);
  EXPECT_EQ(RunEveryWay(Source()).fingerprints.at(0).hash, before.hash);
  folder_.Write("dog/c.jpg", "another dog");
  EXPECT_NE(RunEveryWay(Source()).fingerprints.at(0).hash, before.hash);
}

TEST_F(ImageFolder, NamesAFileThatIsGoneAfterTheRowsBefore) {
  const auto graph = Source().Build();
  auto pipeline = Pipeline::Make(*graph, OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  std::filesystem::remove(folder_ / "dog/a/3.jpeg");
  ResultRow row;
  EXPECT_TRUE((*pipeline)->Next(std::chrono::seconds(1), row).ok());
  EXPECT_TRUE((*pipeline)->Next(std::chrono::seconds(1), row).ok());
  const absl::Status error = (*pipeline)->Next(std::chrono::seconds(1), row).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kNotFound);
  EXPECT_EQ(GetErrorField(error, ErrorField::kFile), folder_ / "dog/a/3.jpeg");
  EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "ImageFolder[0]");
}

TEST_F(ImageFolder, NamesAFileThatIsNoImageAfterTheBatchesBefore) {
  std::filesystem::remove_all(folder_ / "cat");
  std::filesystem::remove_all(folder_ / "dog");
  for (const char* name : {"a", "b", "c", "e"}) {
    std::filesystem::create_directories(folder_ / "photos");
    std::filesystem::copy_file("examples/photos/animals/cat-eyes.jpg", folder_ / Cat("photos/", name, ".jpg"));
  }
  folder_.Write("photos/d.jpg", "no image at all");
  GraphBuilder builder = Source();
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  builder.Add("batch", {1}, {{"size", ir::IntValue(2)}});
  RunSpec spec;
  spec.little_memory = 1 << 20;
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(ran.rows.size(), 1u);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_THAT(GetErrorField(ran.error, ErrorField::kFile), HasSubstr(folder_ / "photos/d.jpg"));
}

TEST_F(ImageFolder, RefusesWhatCannotBe) {
  GraphBuilder missing;
  missing.Add("ImageFolder", {}, {{"root", StringValue(folder_ / "cta")}});
  EXPECT_THAT(Refusal(missing), AllOf(HasSubstr(folder_ / "cta"), HasSubstr("not found"), HasSubstr("test.py:1")));
  EXPECT_THAT(Refusal(Source({{"columns", StringsValue({"imgae"})}})), HasSubstr("did you mean \"image\"?"));
  EXPECT_THAT(Refusal(Source({{"columns", StringsValue({})}})), HasSubstr("columns is empty"));
  folder_.MakeFolder("empty");
  EXPECT_THAT(Refusal(Source()), AllOf(HasSubstr(folder_ / "empty"), HasSubstr("holds no images")));
  EXPECT_EQ(Refusal(Source({{"allow_empty", BoolValue(true)}})), "");
}

}  // namespace
}  // namespace headrace
