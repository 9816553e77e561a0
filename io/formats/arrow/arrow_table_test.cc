#include "io/formats/arrow/arrow_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/formats/arrow/testing/arrow_parts.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Tables = absl::StatusOr<std::shared_ptr<const ArrowTable>>;

// Batches of one schema, that of the first.
Tables TableOfParts(const std::vector<ArrowPart>& batches, const ArrowChoices& choices = {}) {
  HEADRACE_ASSIGN_OR_RETURN(ArrowMapping mapping, ArrowMapping::Of(*SchemaOfPart(batches[0]), choices));
  std::vector<HeldArrow> arrays;
  for (const ArrowPart& batch : batches) arrays.push_back(KeepArrow(ArrayOfPart(batch)));
  return ArrowTable::Of(std::move(mapping), arrays);
}

Tables TableOf(ArrowPart column, const ArrowChoices& choices = {}) {
  const int64_t length = column.length;
  return TableOfParts({StructPart("", length, {std::move(column)})}, choices);
}

std::string Refused(const Tables& table) { return table.ok() ? "" : std::string(ToStd(table.status().message())); }

absl::StatusOr<Tensor> RowOf(const ArrowTable& table, uint64_t row, size_t column = 0) {
  const ArrowTable::Place place = table.Find(row);
  return place.batch->column(column).Row(place.row);
}

// "int32 (2,) [1 2]", "'text'".
std::string Shown(const Tensor& tensor) {
  std::string text;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    Append(text, i == 0 ? "" : " ");
    if (IsVariableLength(tensor.dtype())) {
      Append(text, "'", tensor.bytes_at(i), "'");
    } else if (tensor.dtype() == DType::kInt32) {
      Append(text, tensor.data<int32_t>()[i]);
    } else if (tensor.dtype() == DType::kInt64) {
      Append(text, tensor.data<int64_t>()[i]);
    } else {
      Append(text, static_cast<int>(tensor.raw()[i]));
    }
  }
  return tensor.rank() == 0 ? text : Cat(ShapeName(tensor.shape()), " ", text);
}

std::vector<std::string> Rows(const Tables& table, size_t column = 0) {
  if (!table.ok()) return {std::string(ToStd(table.status().message()))};
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < (*table)->rows(); ++i) {
    const absl::StatusOr<Tensor> row = RowOf(**table, i, column);
    rows.push_back(row.ok() ? Shown(*row) : std::string(ToStd(row.status().message())));
  }
  return rows;
}

std::vector<std::string> Names(const Tables& table) {
  std::vector<std::string> names;
  for (const ArrowColumn& column : (*table)->mapping().columns()) names.push_back(column.name);
  return names;
}

TEST(ArrowTable, GivesNumbersAsViews) {
  const Tables table = TableOf(NumbersPart<int32_t>("x", "i", {3, 4, 5}));
  EXPECT_THAT(Rows(table), ElementsAre("3", "4", "5"));
  const Tensor first = *RowOf(**table, 0);
  EXPECT_EQ(RowOf(**table, 2)->raw(), first.raw() + 8);
  EXPECT_EQ(first.footprint(), 0u);
}

TEST(ArrowTable, FindsRowsInTheirBatches) {
  const auto batch = [](std::vector<int32_t> numbers) {
    return StructPart("", static_cast<int64_t>(numbers.size()), {NumbersPart("x", "i", numbers)});
  };
  const Tables table = TableOfParts({batch({1, 2}), batch({}), batch({3}), batch({4, 5, 6})});
  EXPECT_THAT(Rows(table), ElementsAre("1", "2", "3", "4", "5", "6"));
  EXPECT_EQ((*table)->Find(3).left, 3);
  EXPECT_THAT(Rows(TableOfParts({batch({})})), IsEmpty());
}

TEST(ArrowTable, AppliesTheOffsetsOfEachArray) {
  ArrowPart numbers = NumbersPart<int32_t>("x", "i", {9, 9, 9, 1, 2, 9});
  numbers.offset = 1;
  numbers.length = 5;
  ArrowPart batch = StructPart("", 2, {numbers});
  batch.offset = 2;
  EXPECT_THAT(Rows(TableOfParts({batch})), ElementsAre("1", "2"));
}

TEST(ArrowTable, GivesBoolsOfBits) {
  ArrowPart bools{.format = "b", .name = "x", .length = 3, .offset = 7};
  bools.buffers = {std::nullopt, BytesOfBits({0, 0, 0, 0, 0, 0, 0, 1, 0, 1})};
  EXPECT_THAT(Rows(TableOf(bools)), ElementsAre("1", "0", "1"));
}

TEST(ArrowTable, WidensDaysAndKeepsTheirUnit) {
  const Tables table = TableOf(NumbersPart<int32_t>("day", "tdD", {-1, 20000}));
  EXPECT_THAT(Rows(table), ElementsAre("-1", "20000"));
  EXPECT_EQ((*table)->mapping().columns()[0].dtype, DType::kInt64);
  EXPECT_EQ((*table)->mapping().columns()[0].unit, "days");
}

TEST(ArrowTable, GivesTextsOfEachLayout) {
  EXPECT_THAT(Rows(TableOf(TextsPart("x", {"a", "", "ccc"}))), ElementsAre("'a'", "''", "'ccc'"));
  const ArrowPart large{
      .format = "U", .name = "x", .length = 2, .buffers = {std::nullopt, BytesOfNumbers<int64_t>({1, 2, 4}), "abcd"}};
  EXPECT_THAT(Rows(TableOf(large)), ElementsAre("'b'", "'cd'"));
  const ArrowPart fixed{.format = "w:2", .name = "x", .length = 2, .buffers = {std::nullopt, "abcd"}};
  EXPECT_THAT(Rows(TableOf(fixed)), ElementsAre("'ab'", "'cd'"));
  std::string views = BytesOfNumbers<int32_t>({2}) + "hi" + std::string(10, '\0');
  views += BytesOfNumbers<int32_t>({13}) + "abcd" + BytesOfNumbers<int32_t>({0, 1});
  const ArrowPart viewed{.format = "vu",
                         .name = "x",
                         .length = 2,
                         .buffers = {std::nullopt, views, "-abcdefghijklm", BytesOfNumbers<int64_t>({14})}};
  EXPECT_THAT(Rows(TableOf(viewed)), ElementsAre("'hi'", "'abcdefghijklm'"));
}

TEST(ArrowTable, SaysWhichTextIsNotUtf8) {
  EXPECT_THAT(Rows(TableOf(TextsPart("x", {"a", "\xFF"})))[1], HasSubstr("column \"x\" is not UTF-8"));
  EXPECT_THAT(Rows(TableOf(TextsPart("x", {"a", "\xFF"})))[1], HasSubstr("(row 1)"));
  EXPECT_THAT(Rows(TableOf(TextsPart("x", {"\xFF"}, "z"))), ElementsAre("'\xFF'"));
}

TEST(ArrowTable, GivesListsAsRaggedRows) {
  const Tables table = TableOf(ListPart("x", {1, 3, 3, 4}, NumbersPart<int32_t>("item", "i", {9, 1, 2, 3})));
  EXPECT_THAT(Rows(table), ElementsAre("(2,) 1 2", "(0,) ", "(1,) 3"));
  EXPECT_TRUE((*table)->mapping().columns()[0].ragged());
}

TEST(ArrowTable, MakesAxesOfListsOfOneLength) {
  const ArrowPart pairs = FixedListPart("x", 2, 2, NumbersPart<int32_t>("item", "i", {1, 2, 3, 4}));
  EXPECT_THAT(Rows(TableOf(pairs)), ElementsAre("(2,) 1 2", "(2,) 3 4"));
  const ArrowPart boxes =
      ListPart("x", {0, 2, 3}, FixedListPart("item", 2, 3, NumbersPart<int32_t>("", "i", {1, 2, 3, 4, 5, 6})));
  EXPECT_THAT(Rows(TableOf(boxes)), ElementsAre("(2, 2) 1 2 3 4", "(1, 2) 5 6"));
}

TEST(ArrowTable, FindsTheLengthThatInnerListsShare) {
  const ArrowPart inner = ListPart("item", {0, 2, 4, 6}, NumbersPart<int32_t>("", "i", {1, 2, 3, 4, 5, 6}));
  const Tables table = TableOf(ListPart("x", {0, 2, 2, 3}, inner));
  EXPECT_THAT(Rows(table), ElementsAre("(2, 2) 1 2 3 4", "(0, 2) ", "(1, 2) 5 6"));
  EXPECT_THAT((*table)->mapping().columns()[0].shape, ElementsAre(ArrowColumn::kAnyLength, 2));
}

TEST(ArrowTable, RefusesUnequalListsInOneRow) {
  const ArrowPart inner = ListPart("item", {0, 2, 3}, NumbersPart<int32_t>("", "i", {1, 2, 3}));
  EXPECT_THAT(Rows(TableOf(ListPart("x", {0, 2}, inner)))[0],
              HasSubstr("column \"x\" holds lists of lists of unequal lengths"));
}

TEST(ArrowTable, NamesFieldsOfStructsWithDots) {
  const ArrowPart object =
      StructPart("object", 2, {NumbersPart<int32_t>("id", "i", {1, 2}), TextsPart("name", {"a", "b"})});
  const Tables table = TableOf(object);
  EXPECT_THAT(Names(table), ElementsAre("object.id", "object.name"));
  EXPECT_THAT(Rows(table, 1), ElementsAre("'a'", "'b'"));
}

TEST(ArrowTable, GivesOneColumnOfFilesForBytesAndPath) {
  const ArrowPart image = StructPart(
      "image", 2,
      {WithMissing(TextsPart("bytes", {"jpg", ""}, "z"), {true, false}), TextsPart("path", {"a.jpg", "b.jpg"})});
  const Tables table = TableOf(image);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Names(table), ElementsAre("image"));
  const ArrowRows& rows = (*table)->Find(0).batch->column(0);
  EXPECT_EQ(*rows.PathOf(0), std::nullopt);
  EXPECT_EQ(Shown(*rows.Row(0)), "'jpg'");
  EXPECT_EQ(*rows.PathOf(1), "b.jpg");
}

ArrowPart NullsPart(std::string name, int64_t length) {
  return {.format = "n", .name = std::move(name), .length = length, .null_count = length};
}

TEST(ArrowTable, GivesFilesWhosePathsHaveTheTypeNull) {
  const Tables table = TableOf(StructPart("image", 2, {NullsPart("path", 2), TextsPart("bytes", {"jpg", ""}, "z")}));
  EXPECT_THAT(Names(table), ElementsAre("image"));
  EXPECT_THAT(Rows(table), ElementsAre("'jpg'", "''"));
  const ArrowPart missing =
      StructPart("image", 2, {WithMissing(TextsPart("bytes", {"jpg", ""}, "z"), {true, false}), NullsPart("path", 2)});
  EXPECT_THAT(Refused(TableOf(missing)), HasSubstr("column \"image\" has no value in row 1"));
  EXPECT_THAT(Rows(TableOf(missing, {.fills = {{"image", "none"}}})), ElementsAre("'jpg'", "'none'"));
}

TEST(ArrowTable, GivesFilesWhoseBytesHaveTheTypeNull) {
  const Tables table = TableOf(StructPart("image", 2, {NullsPart("bytes", 2), TextsPart("path", {"a.jpg", "b.jpg"})}));
  ASSERT_TRUE(table.ok()) << table.status();
  const ArrowRows& rows = (*table)->Find(0).batch->column(0);
  EXPECT_EQ(*rows.PathOf(0), "a.jpg");
  EXPECT_EQ(*rows.PathOf(1), "b.jpg");
  EXPECT_FALSE(rows.slices() || rows.lends_texts());
}

TEST(ArrowTable, RefusesFilesOfNeitherBytesNorPaths) {
  EXPECT_THAT(Refused(TableOf(StructPart("image", 1, {NullsPart("bytes", 1), NullsPart("path", 1)}))),
              HasSubstr("column \"image.bytes\" has the type null"));
}

TEST(ArrowTable, MapsDictionariesByValue) {
  const auto batch = [](std::vector<int8_t> indices, const std::vector<std::string>& texts) {
    return StructPart("", static_cast<int64_t>(indices.size()), {DictionaryPart("label", indices, texts)});
  };
  const Tables table = TableOfParts({batch({1, 0}, {"cat", "dog"}), batch({0, 1}, {"dog", "cat"})});
  EXPECT_THAT(Rows(table), ElementsAre("1", "0", "1", "0"));
  EXPECT_THAT((*table)->mapping().columns()[0].classes->names(), ElementsAre("cat", "dog"));
  EXPECT_THAT(Rows(TableOfParts({batch({}, {}), batch({0}, {"dog"})})), ElementsAre("0"));
  const Tables unknown = TableOfParts({batch({1}, {"cat", "dog"}), batch({0, 1}, {"dog", "emu"})});
  EXPECT_THAT(Rows(unknown)[1], "1");
  EXPECT_THAT(Rows(unknown)[2], HasSubstr("column \"label\" holds a value that is none of its 2 classes"));
  EXPECT_THAT(Rows(unknown)[2], HasSubstr("\"emu\" (row 2)"));
  EXPECT_THAT(Rows(TableOfParts({batch({5}, {"cat"})}))[0], HasSubstr("the index 5 into a dictionary of 1 values"));
}

TEST(ArrowTable, TellsDictionariesThatShareOffsetsApart) {
  const auto batch = [](const std::vector<std::string>& texts) {
    return StructPart("", 1, {DictionaryPart("label", {0}, texts)});
  };
  ArrowOwner<ArrowArray> first = ArrayOfPart(batch({"cat", "dog"})), second = ArrayOfPart(batch({"dog", "cat"}));
  second.get()->children[0]->dictionary->buffers[1] = first.get()->children[0]->dictionary->buffers[1];
  const Tables table = ArrowTable::Of(*ArrowMapping::Of(*SchemaOfPart(batch({})), {}),
                                      {KeepArrow(std::move(first)), KeepArrow(std::move(second))});
  EXPECT_THAT(Rows(table), ElementsAre("0", "1"));
}

TEST(ArrowTable, NumbersTextsOfGivenClasses) {
  const ArrowChoices choices{.classes = {{"label", {"dog", "cat"}}}};
  EXPECT_THAT(Rows(TableOf(TextsPart("label", {"cat", "dog"}), choices)), ElementsAre("1", "0"));
  EXPECT_THAT(Rows(TableOf(TextsPart("label", {"emu"}), choices))[0], HasSubstr("none of its 2 classes"));
  EXPECT_LT(Rows(TableOf(TextsPart("label", {std::string(1 << 20, 'e')}), choices))[0].size(), 200u);
  EXPECT_THAT(Refused(TableOf(NumbersPart<int32_t>("label", "i", {1}), choices)),
              HasSubstr("holds neither texts nor a dictionary"));
}

TEST(ArrowTable, SaysWhichRowHasNoValue) {
  const ArrowPart numbers = WithMissing(NumbersPart<int32_t>("x", "i", {1, 2, 3}), {true, true, false});
  EXPECT_THAT(Refused(TableOf(numbers)), HasSubstr("column \"x\" has no value in row 2"));
  ArrowChoices fills;
  fills.fills["x"] = BytesOfNumbers<int32_t>({-1});
  EXPECT_THAT(Rows(TableOf(numbers, fills)), ElementsAre("1", "2", "-1"));
  // A bitmap of which all bits are set hinders no view.
  EXPECT_THAT(Rows(TableOf(WithMissing(NumbersPart<int32_t>("x", "i", {1, 2}), {true, true}))), ElementsAre("1", "2"));
}

TEST(ArrowTable, FillsStructsTextsAndLists) {
  ArrowPart object = WithMissing(StructPart("o", 2, {TextsPart("t", {"a", "b"})}), {true, false});
  ArrowChoices fills{.fills = {{"o.t", "none"}}};
  EXPECT_THAT(Rows(TableOf(object, fills)), ElementsAre("'a'", "'none'"));
  const ArrowPart lists = WithMissing(ListPart("x", {0, 1, 2}, NumbersPart<int32_t>("", "i", {1, 2})), {false, true});
  EXPECT_THAT(Refused(TableOf(lists)), HasSubstr("no value in row 0"));
  EXPECT_THAT(Rows(TableOf(lists, {.fills = {{"x", ""}}})), ElementsAre("(0,) ", "(1,) 2"));
  const ArrowPart element =
      ListPart("x", {0, 1, 3}, WithMissing(NumbersPart<int32_t>("", "i", {1, 2, 3}), {true, true, false}));
  EXPECT_THAT(Refused(TableOf(element)), HasSubstr("column \"x\" has no value at element 1"));
  EXPECT_THAT(Refused(TableOf(element)), HasSubstr("(row 1)"));
}

TEST(ArrowTable, FillsArraysOfListsWithEmptyLists) {
  const ArrowPart inner = ListPart("item", {0, 1, 2, 2, 4}, NumbersPart<int32_t>("", "i", {1, 2, 3, 4}));
  const ArrowPart pairs = WithMissing(FixedListPart("x", 2, 2, inner), {true, false});
  const Tables table = TableOf(pairs, {.fills = {{"x", BytesOfNumbers<int32_t>({-1})}}});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT((*table)->mapping().columns()[0].shape, ElementsAre(2, ArrowColumn::kAnyLength));
  EXPECT_THAT(Rows(table), ElementsAre("(2, 1) 1 2", "(2, 0) "));
}

TEST(ArrowTable, CountsTheValuesOfListsWithoutOverflow) {
  ArrowPart lists = NumbersPart<int32_t>("", "i", {});
  for (const int64_t size : {int64_t{0x7FFFFFFF}, int64_t{1} << 10, int64_t{1} << 30}) {
    lists = FixedListPart("x", size, 0, std::move(lists));
  }
  EXPECT_THAT(Refused(TableOf(lists)), HasSubstr("lists of more than"));
  const ArrowPart empty = FixedListPart("x", 0, 1, NumbersPart<int32_t>("", "i", {}));
  EXPECT_THAT(Rows(TableOf(empty, {.shapes = {{"x", {2, 0}}}})), ElementsAre("(2, 0) "));
  constexpr int64_t kLong = int64_t{1} << 62;
  EXPECT_THAT(Refused(TableOf(empty, {.shapes = {{"x", {kLong, kLong}}}})), HasSubstr("in lists of 0 values"));
  EXPECT_THAT(Refused(TableOf(empty, {.shapes = {{"x", {kLong, kLong, 0}}}})), HasSubstr("in lists of 0 values"));
}

TEST(ArrowTable, RefusesNamesThatAreNotUtf8) {
  EXPECT_THAT(Refused(TableOf(NumbersPart<int32_t>("\xFF", "i", {1}))), HasSubstr("name of a column is not UTF-8"));
}

TEST(ArrowTable, GivesArraysOfFixedShape) {
  const ArrowPart arrays = FixedListPart("x", 4, 1, NumbersPart<int32_t>("", "i", {1, 2, 3, 4}));
  EXPECT_THAT(Rows(TableOf(arrays, {.shapes = {{"x", {2, 2}}}})), ElementsAre("(2, 2) 1 2 3 4"));
  EXPECT_THAT(Refused(TableOf(arrays, {.shapes = {{"x", {2, 3}}}})), HasSubstr("arrays (2, 3) in lists of 4 values"));
}

TEST(ArrowTable, GivesListsOfArrays) {
  const ArrowPart arrays =
      FixedListPart("item", 4, 3, NumbersPart<int32_t>("", "i", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const Tables table = TableOf(ListPart("x", {0, 2, 3}, arrays), {.shapes = {{"x", {2, 2}}}});
  EXPECT_THAT(Rows(table), ElementsAre("(2, 2, 2) 0 1 2 3 4 5 6 7", "(1, 2, 2) 8 9 10 11"));
}

TEST(ArrowTable, ChoosesColumnsInTheirOrder) {
  const ArrowPart batch = StructPart("", 1,
                                     {NumbersPart<int32_t>("a", "i", {1}), NumbersPart<int32_t>("b", "d:3,2", {2}),
                                      StructPart("c", 1, {NumbersPart<int32_t>("d", "i", {3})})});
  EXPECT_THAT(Names(TableOfParts({batch}, {.columns = {{"c", "a"}}})), ElementsAre("c.d", "a"));
  EXPECT_THAT(Refused(TableOfParts({batch})), HasSubstr("column \"b\" holds decimals"));
  EXPECT_THAT(Refused(TableOfParts({batch}, {.columns = {{"e"}}})), HasSubstr("no such column (a, b, c.d)"));
  EXPECT_THAT(Refused(TableOfParts({batch}, {.columns = {{"a", "a"}}})), HasSubstr("names \"a\" twice"));
}

TEST(ArrowTable, RefusesNamesThatTwoChosenColumnsHave) {
  const ArrowPart batch =
      StructPart("", 1,
                 {NumbersPart<int32_t>("a.b", "i", {1}),
                  StructPart("a", 1, {NumbersPart<int32_t>("b", "i", {2}), NumbersPart<int32_t>("c", "i", {3})})});
  for (const ArrowChoices& choices : {ArrowChoices{}, ArrowChoices{.columns = {{"a.b"}}}}) {
    EXPECT_THAT(Refused(TableOfParts({batch}, choices)), HasSubstr("two columns \"a.b\"; rename one"));
  }
  EXPECT_THAT(Rows(TableOfParts({batch}, {.columns = {{"a.c"}}})), ElementsAre("3"));
  EXPECT_THAT(Refused(TableOfParts({batch}, {.columns = {{"a.c", "a.c"}}})), HasSubstr("names \"a.c\" twice"));
}

TEST(ArrowTable, TakesAnArrayThatIsNoBatch) {
  EXPECT_THAT(Names(TableOfParts({NumbersPart<int32_t>("", "i", {1, 2})})), ElementsAre("data"));
  EXPECT_THAT(Rows(TableOfParts({NumbersPart<int32_t>("", "i", {1, 2})})), ElementsAre("1", "2"));
}

TEST(ArrowTable, RefusesDamagedArrays) {
  ArrowPart numbers = NumbersPart<int32_t>("x", "i", {1, 2});
  const auto with = [&](auto change) {
    ArrowPart part = numbers;
    change(part);
    return Refused(TableOfParts({StructPart("", 2, {part})}));
  };
  EXPECT_THAT(with([](ArrowPart& part) { part.claimed_buffers = 3; }), HasSubstr("has 3 buffers; its type has 2"));
  EXPECT_THAT(with([](ArrowPart& part) { part.length = -1; }), HasSubstr("the length -1"));
  EXPECT_THAT(with([](ArrowPart& part) { part.offset = -1; }), HasSubstr("begins at the offset -1"));
  EXPECT_THAT(with([](ArrowPart& part) { part.offset = int64_t{1} << 62; }), HasSubstr("begins at the offset"));
  EXPECT_THAT(with([](ArrowPart& part) { part.length = 1; }), HasSubstr("has 1 elements, and 2 are needed"));
  EXPECT_THAT(with([](ArrowPart& part) { part.buffers[1] = std::nullopt; }), HasSubstr("lacks buffer 1"));
  EXPECT_THAT(with([](ArrowPart& part) { part.null_count = 1; }), HasSubstr("no bitmap of them"));
  EXPECT_THAT(with([](ArrowPart& part) { part.children.push_back(NumbersPart<int32_t>("", "i", {})); }),
              HasSubstr("has 1 children; its type has 0"));
  EXPECT_THAT(Refused(TableOf(ListPart("x", {0, 2, 1}, NumbersPart<int32_t>("", "i", {1, 2})))),
              HasSubstr("offsets that decrease, from 2 to 1"));
  EXPECT_THAT(Refused(TableOf(ListPart("x", {-1, 2}, NumbersPart<int32_t>("", "i", {1, 2})))),
              HasSubstr("begins at the offset -1"));
  EXPECT_THAT(Refused(TableOf(ListPart("x", {0, 3}, NumbersPart<int32_t>("", "i", {1, 2})))),
              HasSubstr("has 2 elements, and 3 are needed"));
}

TEST(ArrowTable, ReleasesEachStructOnce) {
  int schemas = 0, arrays = 0;
  const ArrowPart batch = StructPart("", 1, {NumbersPart<int32_t>("x", "i", {7})});
  Tensor row;
  {
    const ArrowOwner<ArrowSchema> schema = SchemaOfPart(batch, &schemas);
    auto table = ArrowTable::Of(*ArrowMapping::Of(*schema, {}), {KeepArrow(ArrayOfPart(batch, &arrays))});
    ASSERT_TRUE(table.ok());
    row = *RowOf(**table, 0);
  }
  EXPECT_EQ(schemas, 1);
  // A row keeps what it is a view of.
  EXPECT_EQ(arrays, 0);
  EXPECT_EQ(row.value<int32_t>(), 7);
  row = Tensor();
  EXPECT_EQ(arrays, 1);
}

TEST(ArrowTable, TellsWhenValuesChanged) {
  const auto hash = [](const std::vector<int32_t>& numbers) {
    return (*TableOf(NumbersPart("x", "i", numbers)))->Hash();
  };
  EXPECT_EQ(hash({1, 2}), hash({1, 2}));
  EXPECT_NE(hash({1, 2}), hash({1, 3}));
}

}  // namespace
}  // namespace headrace
