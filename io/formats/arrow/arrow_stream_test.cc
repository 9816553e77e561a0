#include "io/formats/arrow/arrow_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/formats/arrow/testing/arrow_parts.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ArrowPart StreamedBatch(const std::vector<int32_t>& numbers) {
  return StructPart("", static_cast<int64_t>(numbers.size()), {NumbersPart("x", "i", numbers)});
}

absl::StatusOr<std::shared_ptr<ArrowStream>> StreamOf(const std::vector<ArrowPart>& parts, std::string error = "") {
  HEADRACE_ASSIGN_OR_RETURN(ArrowMapping mapping, ArrowMapping::Of(*SchemaOfPart(parts[0]), {}));
  return ArrowStream::Of(StreamOfParts(parts, std::move(error)), std::move(mapping), KeepArrow);
}

std::vector<int64_t> Lengths(ArrowStream& stream) {
  std::vector<int64_t> lengths;
  while (true) {
    const auto batch = stream.Next();
    if (!batch.ok() || *batch == nullptr) return lengths;
    lengths.push_back((*batch)->rows());
  }
}

TEST(ArrowStream, GivesItsBatchesInOrder) {
  const auto stream = *StreamOf({StreamedBatch({1, 2}), StreamedBatch({}), StreamedBatch({3})});
  EXPECT_THAT(Lengths(*stream), ElementsAre(2, 1));
}

TEST(ArrowStream, IsClaimedOnce) {
  const auto stream = *StreamOf({StreamedBatch({1})});
  EXPECT_TRUE(stream->Claim());
  EXPECT_FALSE(stream->Claim());
}

TEST(ArrowStream, SaysWhatItsProducerSays) {
  const auto stream = *StreamOf({StreamedBatch({1})}, "the disk is gone");
  ASSERT_TRUE(stream->Next().ok());
  EXPECT_THAT(std::string(stream->Next().status().message()), HasSubstr("gave no rows: the disk is gone"));
  EXPECT_THAT(std::string(stream->Next().status().message()), HasSubstr("the disk is gone"));
}

TEST(ArrowStream, NumbersDictionariesAsItsFirstBatchHasThem) {
  const ArrowPart first = StructPart("", 1, {DictionaryPart("label", {0}, {"cat", "dog"})});
  const ArrowPart second = StructPart("", 1, {DictionaryPart("label", {0}, {"dog"})});
  const auto stream = *StreamOf({first, second});
  EXPECT_THAT(stream->mapping().columns()[0].classes->names(), ElementsAre("cat", "dog"));
  EXPECT_EQ((*stream->Next())->column(0).Row(0)->value<int64_t>(), 0);
  EXPECT_EQ((*stream->Next())->column(0).Row(0)->value<int64_t>(), 1);
}

TEST(ArrowStream, SaysThatItWasReleased) {
  const auto owner = StreamOfParts({StreamedBatch({1})});
  owner->get()->release(owner->get());
  EXPECT_THAT(std::string(SchemaOf(*owner->get()).status().message()), HasSubstr("gives its rows once"));
}

}  // namespace
}  // namespace headrace
