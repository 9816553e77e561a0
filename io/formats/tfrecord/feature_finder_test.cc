#include "io/formats/tfrecord/feature_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/formats/tfrecord/testing/example_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kVarintType = 0;
constexpr uint32_t kFixed64Type = 1;
constexpr uint32_t kGroupType = 3;
constexpr uint32_t kEndOfGroupType = 4;
constexpr uint32_t kFixed32Type = 5;

// The entries of names, as "name: bytes" or "name: list bytes"; "name: none".
std::vector<std::string> FoundBy(FeatureFinder& finder, const std::vector<std::string>& names,
                                 const std::string& record) {
  std::vector<FeatureEntry> found(names.size());
  const absl::Status status = finder.Find(record, absl::MakeSpan(found));
  EXPECT_TRUE(status.ok()) << status;
  std::vector<std::string> texts;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view bytes = found[i].bytes;
    texts.push_back(Cat(names[i], ": ",
                        !found[i].there    ? "none"
                        : found[i].is_list ? "list "
                                           : "",
                        bytes.substr(bytes.size() - std::min<size_t>(bytes.size(), 3))));
  }
  return texts;
}

std::string FindError(const std::string& record) {
  FeatureFinder finder({"a"});
  std::vector<FeatureEntry> found(1);
  const absl::Status status = finder.Find(record, absl::MakeSpan(found));
  EXPECT_TRUE(status.ok() || KindOf(status) == ErrorKind::kData);
  return std::string(ToStd(status.message()));
}

TEST(FeatureFinder, FindsFeaturesWhateverTheirOrder) {
  const std::vector<std::string> names = {"b", "a", "missing"};
  FeatureFinder finder(names);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(FoundBy(finder, names, ExampleBytes({{"a", "aaa"}, {"b", "bbb"}, {"c", "ccc"}})),
                ElementsAre("b: bbb", "a: aaa", "missing: none"));
    EXPECT_THAT(FoundBy(finder, names, ExampleBytes({{"c", "ccc"}, {"b", "bbb"}, {"a", "aaa"}})),
                ElementsAre("b: bbb", "a: aaa", "missing: none"));
    EXPECT_THAT(FoundBy(finder, names, ""), ElementsAre("b: none", "a: none", "missing: none"));
  }
}

TEST(FeatureFinder, TakesTheLastOfEntriesOfOneName) {
  const std::vector<std::string> names = {"a"};
  FeatureFinder finder(names);
  EXPECT_THAT(FoundBy(finder, names, ExampleBytes({{"a", "one"}, {"b", "bbb"}, {"a", "two"}})), ElementsAre("a: two"));
  // Features in two pieces, as protobuf joins them.
  EXPECT_THAT(FoundBy(finder, names, ExampleBytes({{"a", "one"}}) + ExampleBytes({{"a", "two"}})),
              ElementsAre("a: two"));
  // Of several keys in an entry the last one.
  const std::string entry = FieldBytes(1, "x") + FieldBytes(2, "one") + FieldBytes(1, "a");
  EXPECT_THAT(FoundBy(finder, names, FieldBytes(1, FieldBytes(1, entry))), ElementsAre("a: \n\x01"
                                                                                       "a"));
}

TEST(FeatureFinder, FindsFeatureListsBesideTheContext) {
  const std::vector<std::string> names = {"a", "steps"};
  FeatureFinder finder(names);
  EXPECT_THAT(FoundBy(finder, names, SequenceExampleBytes({{"a", "aaa"}}, {{"steps", "sss"}})),
              ElementsAre("a: aaa", "steps: list sss"));
}

TEST(FeatureFinder, RefusesANameInBothMaps) {
  EXPECT_THAT(FindError(SequenceExampleBytes({{"a", ""}}, {{"a", ""}})), HasSubstr("a feature list, too"));
  EXPECT_EQ(FindError(SequenceExampleBytes({{"b", ""}}, {{"b", ""}})), "") << "which nobody wants";
}

TEST(FeatureFinder, PassesOverUnknownFields) {
  const std::vector<std::string> names = {"a"};
  FeatureFinder finder(names);
  const std::string group = TagBytes(9, kGroupType) + FieldBytes(1, "x") + TagBytes(8, kGroupType) +
                            TagBytes(8, kEndOfGroupType) + TagBytes(3, kFixed32Type) + "1234" +
                            TagBytes(9, kEndOfGroupType);
  const std::string unknown = TagBytes(7, kVarintType) + VarintBytes(1 << 20) + TagBytes(70'000, kFixed64Type) +
                              "12345678" + FieldBytes(3, "text") + TagBytes(1, kVarintType) + VarintBytes(5) + group;
  EXPECT_THAT(FoundBy(finder, names, unknown + ExampleBytes({{"a", "aaa"}}) + unknown), ElementsAre("a: aaa"));
}

TEST(FeatureFinder, NamesTheByteThatIsNotPartOfAMessage) {
  const std::string good = ExampleBytes({{"a", "aaa"}});
  EXPECT_EQ(FindError(good), "");
  EXPECT_THAT(FindError(good + "\x0a"), HasSubstr(Cat("begins at its byte ", good.size(), " of ", good.size() + 1)));
  for (const std::string& bad : {std::string("\0", 1), std::string("\x07"), std::string("\x0e"), TagBytes(1, 4),
                                 TagBytes(3, kGroupType), TagBytes(3, kGroupType) + TagBytes(4, kEndOfGroupType),
                                 std::string(11, '\x80'), TagBytes(2, kFixed32Type) + "123"}) {
    EXPECT_THAT(FindError(good + bad), HasSubstr(Cat("begins at its byte ", good.size()))) << bad.size();
  }
  for (size_t size = 1; size < good.size(); ++size) EXPECT_NE(FindError(good.substr(0, size)), "") << size;
  // Deeper than protobuf reads.
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += TagBytes(3, kGroupType);
  for (int i = 0; i < 200; ++i) deep += TagBytes(3, kEndOfGroupType);
  EXPECT_NE(FindError(deep), "");
}

TEST(FeatureFinder, FindsTheNamesAmongVeryMany) {
  NamedMessages features;
  for (int i = 0; i < 3000; ++i) features.emplace_back(Cat("feature ", i), Cat(1000 + i % 1000));
  const std::vector<std::string> names = {"feature 2999", "feature 0", "feature 1500"};
  FeatureFinder finder(names);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(FoundBy(finder, names, ExampleBytes(features)),
                ElementsAre("feature 2999: 999", "feature 0: 000", "feature 1500: 500"));
  }
}

TEST(ForEachFeature, GivesAllNamesInOrder) {
  std::vector<std::string> names;
  const std::string record = SequenceExampleBytes({{"b", ""}, {"a", ""}, {"b", ""}}, {{"s", ""}});
  ASSERT_TRUE(ForEachFeature(record, [&](std::string_view name, const FeatureEntry& entry) {
                names.push_back(Cat(name, entry.is_list ? " list" : ""));
              }).ok());
  EXPECT_THAT(names, ElementsAre("b", "a", "b", "s list"));
}

}  // namespace
}  // namespace headrace
