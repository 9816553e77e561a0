#include "io/formats/tfrecord/feature_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/formats/tfrecord/testing/example_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// An entry of a map with this value.
std::string EntryWith(const std::string& value) { return FieldBytes(1, "name") + FieldBytes(2, value); }

FeatureValues ValuesOfEntry(const std::string& entry, bool is_list = false) {
  FeatureValues values;
  EXPECT_EQ(values.Read({true, is_list, entry}), nullptr);
  return values;
}

std::vector<float> FloatsOf(const FeatureValues& values) {
  std::vector<float> floats(values.count());
  values.CopyFloats(floats.data());
  return floats;
}

TEST(FeatureValues, AreReadPackedAndNot) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> ints = {0, 127, 128, -1, kLeast, kMost, 300};
  const std::vector<float> floats = {0.5f, -0.0f, 1e30f};
  for (const Packing packing : {Packing::kPacked, Packing::kSingle}) {
    const std::string int_entry = EntryWith(Int64Feature(ints, packing));
    const FeatureValues of_ints = ValuesOfEntry(int_entry);
    EXPECT_EQ(of_ints.kind(), FeatureKind::kInt64s);
    EXPECT_THAT(of_ints.ints(), ElementsAreArray(ints));
    EXPECT_EQ(of_ints.count(), ints.size());
    const std::string float_entry = EntryWith(FloatFeature(floats, packing));
    const FeatureValues of_floats = ValuesOfEntry(float_entry);
    EXPECT_EQ(of_floats.kind(), FeatureKind::kFloats);
    EXPECT_EQ(FloatsOf(of_floats), floats);
    EXPECT_TRUE(std::signbit(FloatsOf(of_floats)[1]));
  }
  const std::string text_entry = EntryWith(BytesFeature({"one", "", "three"}));
  const FeatureValues of_texts = ValuesOfEntry(text_entry);
  EXPECT_EQ(of_texts.kind(), FeatureKind::kBytes);
  EXPECT_THAT(of_texts.texts(), ElementsAre("one", "", "three"));
}

TEST(FeatureValues, OfAnEmptyListHaveItsKind) {
  const std::string ints = EntryWith(Int64Feature({})), floats = EntryWith(FloatFeature({})),
                    texts = EntryWith(BytesFeature({}));
  EXPECT_EQ(ValuesOfEntry(ints).kind(), FeatureKind::kInt64s);
  EXPECT_EQ(ValuesOfEntry(floats).kind(), FeatureKind::kFloats);
  EXPECT_EQ(ValuesOfEntry(texts).kind(), FeatureKind::kBytes);
  for (const std::string& entry : {ints, floats, texts}) EXPECT_EQ(ValuesOfEntry(entry).count(), 0u);
  EXPECT_EQ(ValuesOfEntry(EntryWith("")).kind(), FeatureKind::kNone);
  EXPECT_EQ(ValuesOfEntry(FieldBytes(1, "name")).kind(), FeatureKind::kNone);
}

TEST(FeatureValues, OfPiecesAreJoined) {
  // In one message Feature, and in two.
  const std::string one = EntryWith(Int64Feature({1, 2}) + Int64Feature({3}, Packing::kSingle));
  EXPECT_THAT(ValuesOfEntry(one).ints(), ElementsAre(1, 2, 3));
  const std::string two = EntryWith(Int64Feature({1, 2})) + FieldBytes(2, Int64Feature({3}));
  EXPECT_THAT(ValuesOfEntry(two).ints(), ElementsAre(1, 2, 3));
  // One list whose numbers are packed and single.
  const std::string mixed = EntryWith(FieldBytes(3, TagBytes(1, 0) + VarintBytes(1) + FieldBytes(1, "\x02\x03")));
  EXPECT_THAT(ValuesOfEntry(mixed).ints(), ElementsAre(1, 2, 3));
}

TEST(FeatureValues, OfSeveralKindsAreThoseOfTheLast) {
  const std::string entry = EntryWith(Int64Feature({1, 2}) + BytesFeature({"a"}) + FloatFeature({0.5f, 2}));
  const FeatureValues values = ValuesOfEntry(entry);
  EXPECT_EQ(values.kind(), FeatureKind::kFloats);
  EXPECT_THAT(FloatsOf(values), ElementsAre(0.5f, 2.0f));
  EXPECT_FALSE(values.other_kind().has_value());
  const std::string again = EntryWith(Int64Feature({1, 2}) + FloatFeature({0.5f}) + Int64Feature({7}));
  EXPECT_THAT(ValuesOfEntry(again).ints(), ElementsAre(7));
}

TEST(FeatureValues, OfAFeatureListAreThoseOfItsSteps) {
  const std::string even =
      EntryWith(FeatureListBytes({Int64Feature({1, 2}), Int64Feature({3, 4}), Int64Feature({5, 6})}));
  const FeatureValues values = ValuesOfEntry(even, true);
  EXPECT_THAT(values.ints(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(values.steps(), 3u);
  EXPECT_EQ(values.in_step(), 2u);
  const std::string uneven = EntryWith(FeatureListBytes({BytesFeature({"a"}), BytesFeature({}), BytesFeature({"b"})}));
  EXPECT_THAT(ValuesOfEntry(uneven, true).texts(), ElementsAre("a", "b"));
  EXPECT_EQ(ValuesOfEntry(uneven, true).in_step(), std::nullopt);
  const std::string empty = EntryWith("");
  EXPECT_EQ(ValuesOfEntry(empty, true).steps(), 0u);
  EXPECT_EQ(ValuesOfEntry(empty, true).in_step(), 0u);
  const std::string kinds = EntryWith(FeatureListBytes({"", Int64Feature({1}), FloatFeature({1})}));
  EXPECT_EQ(ValuesOfEntry(kinds, true).kind(), FeatureKind::kInt64s);
  EXPECT_EQ(ValuesOfEntry(kinds, true).other_kind(), FeatureKind::kFloats);
}

TEST(FeatureValues, SayWhereTheyAreDamaged) {
  FeatureValues values;
  const std::string ints = EntryWith(FieldBytes(3, FieldBytes(1, "\x01\x80")));
  EXPECT_EQ(values.Read({true, false, ints}), ints.data() + ints.size() - 1);
  const std::string floats = EntryWith(FieldBytes(2, FieldBytes(1, "12345")));
  EXPECT_EQ(values.Read({true, false, floats}), floats.data() + floats.size() - 5);
  const std::string longer = EntryWith(FieldBytes(3, FieldBytes(1, std::string(11, '\x80'))));
  EXPECT_EQ(values.Read({true, false, longer}), longer.data() + longer.size() - 11);
  const std::string list = EntryWith(FieldBytes(1, "\x0a"));
  EXPECT_EQ(values.Read({true, false, list}), list.data() + list.size() - 1);
  const std::string steps = EntryWith("\x0a\x05");
  EXPECT_EQ(values.Read({true, true, steps}), steps.data() + steps.size() - 2);
  const std::string good = EntryWith(Int64Feature({4}));
  EXPECT_EQ(values.Read({true, false, good}), nullptr) << "nothing is left of the one before";
  EXPECT_THAT(values.ints(), ElementsAre(4));
}

TEST(FeatureValues, NameTheirKind) {
  EXPECT_EQ(FeatureKindName(FeatureKind::kBytes), "bytes");
  EXPECT_EQ(FeatureKindName(FeatureKind::kFloats), "float32");
  EXPECT_EQ(FeatureKindName(FeatureKind::kInt64s), "int64");
}

}  // namespace
}  // namespace headrace
