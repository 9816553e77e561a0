#include "ir/passes/commute_shuffle.h"

#include <gtest/gtest.h>

#include "ir/dump.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

std::string Commuted(const GraphBuilder& builder) { return GraphDump(*CommuteShuffle(builder.Canonical())); }

GraphBuilder::Given WindowCommuteShuffle(int64_t window) { return {{"window", IntValue(window)}}; }
GraphBuilder::Given SizeCommuteShuffle(int64_t size) { return {{"size", IntValue(size)}}; }

TEST(CommuteShuffle, ShufflesEncodedImages) {
  GraphBuilder builder;
  builder.Add("encoded");
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  builder.Add("map", {1});
  builder.Step("Resize", {"image"}, {"image"}, SizeCommuteShuffle(256));
  builder.Add("shuffle", {2}, WindowCommuteShuffle(100));
  EXPECT_EQ(Commuted(builder),
            "#0  encoded()\n"
            "#1  shuffle(#0, name=None, seed=None, window=100)  salt 12448176966133054717\n"
            "#2  map(#1, workers=None)\n"
            "      image = Decode(image)\n"
            "#3  map(#2, workers=None)\n"
            "      image = Resize(image; interpolation='bilinear', size=(256, 256))\n");
}

TEST(CommuteShuffle, ShufflesWholeImagesEncoded) {
  GraphBuilder builder;
  builder.Add("encoded");
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  builder.Add("shuffle", {1}, WindowCommuteShuffle(100));
  EXPECT_NE(Commuted(builder).find("shuffle(#0"), std::string::npos) << Commuted(builder);
}

TEST(CommuteShuffle, HoldsWhatIsSmaller) {
  GraphBuilder thumbnails;
  thumbnails.Add("encoded");
  thumbnails.Add("map", {0});
  thumbnails.Step("Decode", {"image"}, {"image"}).Step("Resize", {"image"}, {"image"}, SizeCommuteShuffle(32));
  thumbnails.Add("shuffle", {1}, WindowCommuteShuffle(100));
  EXPECT_EQ(Commuted(thumbnails), GraphDump(thumbnails.Canonical()));
  GraphBuilder upper;
  upper.Add("pictures");
  upper.Add("map", {0});
  upper.Step("Resize", {"image"}, {"image"}, SizeCommuteShuffle(32));
  upper.Add("map", {1});
  upper.Step("Resize", {"image"}, {"image"}, SizeCommuteShuffle(64));
  upper.Add("shuffle", {2}, WindowCommuteShuffle(100));
  EXPECT_EQ(Commuted(upper),
            "#0  pictures(columns=None)\n"
            "#1  map(#0, workers=None)\n"
            "      image = Resize(image; interpolation='bilinear', size=(32, 32))\n"
            "#2  shuffle(#1, name=None, seed=None, window=100)  salt 12448176966133054717\n"
            "#3  map(#2, workers=None)\n"
            "      image = Resize(image; interpolation='bilinear', size=(64, 64))\n");
}

TEST(CommuteShuffle, LeavesCallsInOrder) {
  for (const bool ordered : {false, true}) {
    GraphBuilder builder;
    builder.Add("numbers");
    builder.Add("map", {0});
    builder.Step("Call", {"value"}, {"more"}, {{"function", ReferenceValue("f")}, {"ordered", BoolValue(ordered)}});
    builder.Add("shuffle", {1}, WindowCommuteShuffle(100));
    EXPECT_EQ(Commuted(builder) == GraphDump(builder.Canonical()), ordered);
  }
}

TEST(CommuteShuffle, LeavesMapsThatTwoUseAndRowsThatTravelTogether) {
  GraphBuilder shared;
  shared.Add("numbers");
  shared.Add("map", {0});
  shared.Step("Negate", {"value"}, {"more"});
  shared.Add("shuffle", {1}, WindowCommuteShuffle(5));
  shared.Add("rename", {1}, {{"mapping", PairsValue({{"value", "a"}, {"square", "b"}, {"more", "c"}})}});
  shared.Add("zip", {2, 3});
  EXPECT_EQ(Commuted(shared), GraphDump(shared.Canonical()));
  GraphBuilder together;
  together.Add("numbers");
  together.Add("split", {0});
  together.Add("map", {1});
  together.Step("Negate", {"value"}, {"more"});
  together.Add("shuffle", {2}, WindowCommuteShuffle(5));
  EXPECT_EQ(Commuted(together), GraphDump(together.Canonical()));
}

}  // namespace
}  // namespace headrace::ir
