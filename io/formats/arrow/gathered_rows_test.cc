#include "io/formats/arrow/gathered_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/formats/arrow/arrow_table.h"
#include "io/formats/arrow/testing/arrow_parts.h"

namespace headrace {
namespace {

std::shared_ptr<const ArrowTable> TableToGather(const std::vector<ArrowPart>& columns,
                                                const ArrowChoices& choices = {}) {
  std::vector<HeldArrow> arrays;
  std::optional<ArrowMapping> mapping;
  for (const ArrowPart& column : columns) {
    const ArrowPart batch = StructPart("", column.length, {column});
    if (!mapping.has_value()) mapping = *ArrowMapping::Of(*SchemaOfPart(batch), choices);
    arrays.push_back(KeepArrow(ArrayOfPart(batch)));
  }
  return *ArrowTable::Of(*std::move(mapping), arrays);
}

std::vector<RowOfArrow> RowsToGather(const ArrowTable& table, const std::vector<uint64_t>& rows) {
  std::vector<RowOfArrow> found;
  for (const uint64_t row : rows) {
    const ArrowTable::Place place = table.Find(row);
    found.push_back({&place.batch->column(0), place.row});
  }
  return found;
}

Tensor RowOfGathered(const GatheredRows& gathered, size_t row) {
  if (!gathered.splits.has_value()) return gathered.values.Index(static_cast<int64_t>(row));
  const int64_t* const split = gathered.splits->data<int64_t>() + row;
  return gathered.values.Slice(0, split[0], split[1] - split[0]);
}

// Whether the gathered rows are those that each batch gives by itself.
void ExpectGathered(const std::vector<ArrowPart>& columns, const ArrowChoices& choices = {}) {
  const auto table = TableToGather(columns, choices);
  const std::vector<uint64_t> order = {4, 0, 3, 3, 1, 2, 0};
  const std::vector<RowOfArrow> rows = RowsToGather(*table, order);
  const std::optional<GatheredRows> gathered = GatherArrowRows(rows);
  ASSERT_TRUE(gathered.has_value());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(TensorsEqual(RowOfGathered(*gathered, i), *rows[i].rows->Row(rows[i].row))) << i;
  }
}

bool Gathers(const std::vector<ArrowPart>& columns, const std::vector<uint64_t>& rows,
             const ArrowChoices& choices = {}) {
  const auto table = TableToGather(columns, choices);
  return GatherArrowRows(RowsToGather(*table, rows)).has_value();
}

TEST(GatheredRows, CopiesNumbersOfSeveralBatches) {
  ExpectGathered({NumbersPart<int32_t>("x", "i", {3, 4}), NumbersPart<int32_t>("x", "i", {5, 6, 7})});
  ExpectGathered({NumbersPart<int64_t>("x", "l", {3, 4, 5, 6, 7})});
  ExpectGathered({NumbersPart<int16_t>("x", "s", {3, 4}), NumbersPart<int16_t>("x", "s", {5, 6, 7})});
}

TEST(GatheredRows, AppliesTheOffsetsOfEachArray) {
  ArrowPart numbers = NumbersPart<int32_t>("x", "i", {9, 1, 2, 3, 4, 5, 9});
  numbers.offset = 1;
  numbers.length = 5;
  ExpectGathered({numbers});
  ArrowPart lists = ListPart("x", {0, 1, 3, 3, 4, 6, 7}, NumbersPart<int32_t>("item", "i", {9, 8, 1, 2, 3, 4, 5}));
  lists.offset = 1;
  lists.length = 5;
  ExpectGathered({lists});
}

TEST(GatheredRows, CopiesListsOfOneLength) {
  ExpectGathered({FixedListPart("x", 2, 2, NumbersPart<int32_t>("item", "i", {1, 2, 3, 4})),
                  FixedListPart("x", 2, 3, NumbersPart<int32_t>("item", "i", {5, 6, 7, 8, 9, 10}))});
}

TEST(GatheredRows, JoinsListsOfAnyLength) {
  ExpectGathered({ListPart("x", {0, 2, 2}, NumbersPart<int32_t>("item", "i", {1, 2})),
                  ListPart("x", {0, 1, 4, 4}, NumbersPart<int32_t>("item", "i", {3, 4, 5, 6}))});
  ExpectGathered({ListPart("x", {0, 1, 1, 2, 2, 3},
                           FixedListPart("item", 2, 3, NumbersPart<int32_t>("item", "i", {1, 2, 3, 4, 5, 6})))});
}

TEST(GatheredRows, CopiesTexts) {
  ExpectGathered({TextsPart("x", {"a", ""}), TextsPart("x", {"ccc", "d", "ee"})});
  ExpectGathered({TextsPart("x", {"a", "", "ccc", "d", "ee"}, "z")});
}

TEST(GatheredRows, LeavesOtherRowsToBeMadeOneByOne) {
  const ArrowPart numbers = NumbersPart<int32_t>("x", "i", {3, 4});
  const ArrowPart missing = WithMissing(NumbersPart<int32_t>("x", "i", {5, 6}), {true, false});
  const ArrowChoices filled = {.fills = {{"x", std::string(4, '\1')}}};
  EXPECT_TRUE(Gathers({numbers, numbers}, {0, 3}, filled));
  EXPECT_TRUE(Gathers({numbers, missing}, {1, 0}, filled));
  EXPECT_FALSE(Gathers({numbers, missing}, {0, 2}, filled));
  EXPECT_FALSE(Gathers({NumbersPart<int32_t>("x", "tdD", {1, 2})}, {1, 0}));
  EXPECT_FALSE(Gathers({ListPart("x", {0, 1, 2}, TextsPart("item", {"a", "b"}))}, {1, 0}));
}

TEST(GatheredRows, LeavesATextThatIsNotUtf8ToItsRow) {
  const std::vector<ArrowPart> texts = {TextsPart("x", {"a", "\xff", "c"})};
  EXPECT_TRUE(Gathers(texts, {2, 0}));
  EXPECT_FALSE(Gathers(texts, {2, 1}));
}

}  // namespace
}  // namespace headrace
