#include "io/formats/npy/npy_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/fixed/fixed_rows.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kNpyTestData[] = "io/formats/npy/testdata/";

std::string NpyFile(std::string_view dict, std::string_view data) {
  std::string bytes = Cat("\x93NUMPY\x01", std::string_view("\0", 1));
  bytes.push_back(static_cast<char>(dict.size() % 256));
  bytes.push_back(static_cast<char>(dict.size() / 256));
  return Cat(bytes, dict, data);
}

std::string Dict(std::string_view descr, std::string_view shape, bool fortran = false) {
  return Cat("{'descr': ", descr, ", 'fortran_order': ", fortran ? "True" : "False", ", 'shape': ", shape, "}");
}

std::string NpyRefused(const std::string& bytes) {
  const OneFile files{bytes};
  const auto table = MakeNpyTable(files, {"a.npy"});
  EXPECT_EQ(KindOf(table.status()), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(table.status(), ErrorField::kFile), "a.npy");
  return std::string(ToStd(table.status().message()));
}

// The bytes of the rows of a part, one after the other.
std::vector<std::string> RowsOf(const FileSystem& files, const FixedTable& table, size_t part) {
  const FixedRows reader(&files, std::make_shared<const FixedTable>(table));
  std::vector<uint64_t> items;
  for (uint64_t row = 0; row < table.size(); ++row) items.push_back(reader.ItemOf(part, row));
  std::vector<RandomAccessReader::Content> contents(items.size());
  absl::Status wrong;
  EXPECT_EQ(reader.Read(items, absl::MakeSpan(contents), wrong), items.size()) << wrong;
  std::vector<std::string> rows;
  for (const RandomAccessReader::Content& content : contents) rows.emplace_back(content.bytes);
  return rows;
}

TEST(NpyTable, HasTheRowsOfFilesInTheirOrder) {
  const TemporaryFolder folder;
  folder.Write("a.npy", NpyFile(Dict("'|u1'", "(2, 3)"), "abcdef"));
  folder.Write("b.npy", NpyFile(Dict("'|u1'", "(0, 3)"), ""));
  folder.Write("c.npy", NpyFile(Dict("'|u1'", "(1, 3)"), "ghi"));
  const auto table = MakeNpyTable(*LocalFileSystem(), {folder / "a.npy", folder / "b.npy", folder / "c.npy"});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 3u);
  ASSERT_EQ(table->parts().size(), 1u);
  EXPECT_EQ(table->parts()[0].fields[0].name, "data");
  EXPECT_EQ(table->parts()[0].fields[0].shape, Shape({3}));
  EXPECT_THAT(RowsOf(*LocalFileSystem(), *table, 0), ElementsAre("abc", "def", "ghi"));
}

TEST(NpyTable, WantsFilesOfOneKind) {
  const TemporaryFolder folder;
  folder.Write("a.npy", NpyFile(Dict("'|u1'", "(1, 3)"), "abc"));
  folder.Write("b.npy", NpyFile(Dict("'|i1'", "(1, 3)"), "abc"));
  folder.Write("c.npy", NpyFile(Dict("'|u1'", "(1, 2)"), "ab"));
  for (const char* name : {"b.npy", "c.npy"}) {
    const auto table = MakeNpyTable(*LocalFileSystem(), {folder / "a.npy", folder / name});
    EXPECT_THAT(std::string(ToStd(table.status().message())), AllOf(HasSubstr("a.npy"), HasSubstr("one dtype")));
    EXPECT_EQ(GetErrorField(table.status(), ErrorField::kFile), folder / name);
  }
}

TEST(NpyTable, HasTheFieldsOfRecords) {
  const auto table = MakeNpyTable(*LocalFileSystem(), {Cat(kNpyTestData, "record.npy")});
  ASSERT_TRUE(table.ok()) << table.status();
  const FixedTable::Part& part = table->parts()[0];
  EXPECT_EQ(part.row_bytes, 2 + 4 + 12 + 4);
  ASSERT_EQ(part.fields.size(), 4u);
  EXPECT_EQ(part.fields[1].name, "score");
  EXPECT_EQ(part.fields[1].offset, 2);
  EXPECT_EQ(part.fields[2].storage, FixedStorage::kUtf32);
  EXPECT_EQ(part.fields[2].value_bytes, 12);
  EXPECT_EQ(part.fields[3].storage, FixedStorage::kPaddedBytes);
}

TEST(NpyTable, LeavesOutWhatIsBetweenFields) {
  const OneFile files{
      NpyFile(Dict("[('a', '|u1'), ('', '|V3'), (('title', 'b'), '>f4', (2,)), ]", "(1,)"), std::string(12, 'x'))};
  const auto table = MakeNpyTable(files, {"a.npy"});
  ASSERT_TRUE(table.ok()) << table.status();
  const FixedTable::Part& part = table->parts()[0];
  ASSERT_EQ(part.fields.size(), 2u);
  EXPECT_EQ(part.fields[1].name, "b");
  EXPECT_EQ(part.fields[1].offset, 4);
  EXPECT_EQ(part.fields[1].shape, Shape({2}));
  EXPECT_TRUE(part.fields[1].swapped);
}

TEST(NpyTable, RefusesWhatHasNoRowsInOnePlace) {
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<f4'", "(2, 2)", true), std::string(16, 'x'))),
              HasSubstr("numpy.ascontiguousarray"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<f4'", "()"), "abcd")), HasSubstr("no axis"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<f4'", "(2, 0)"), "")), HasSubstr("no elements"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("[('a', '|u1')]", "(1, 1)"), "a")), HasSubstr("reshape(-1)"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("[('a', [('b', '|u1')])]", "(1,)"), "a")), HasSubstr("itself a record"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'|O'", "(1,)"), "a")), HasSubstr("pickled objects"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<c8'", "(1,)"), std::string(8, 'a'))), HasSubstr("<c8"));
  // With one axis of more than one element both orders are the same.
  const OneFile files{NpyFile(Dict("'|u1'", "(3, 1)", true), "abc")};
  EXPECT_TRUE(MakeNpyTable(files, {"a.npy"}).ok());
}

TEST(NpyTable, WantsTheBytesOfTheArrayAndNoMore) {
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<f4'", "(2, 2)"), std::string(15, 'x'))), HasSubstr("cut off"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<f4'", "(2, 2)"), std::string(17, 'x'))), HasSubstr("more bytes follow"));
  EXPECT_THAT(NpyRefused(NpyFile(Dict("'<f8'", "(4294967296, 4294967296)"), "x")), HasSubstr("cut off"));
  EXPECT_THAT(NpyRefused("\x93NUMPY\x02"), HasSubstr("not an array"));
  EXPECT_THAT(NpyRefused("GIF89a"), HasSubstr("not an array"));
}

TEST(NpyTable, ReadsOnlyTheRowsThatAreAskedFor) {
  const TemporaryFolder folder;
  folder.Write("a.npy", NpyFile(Dict("'|u1'", "(1000, 1000)"), std::string(1'000'000, 'x')));
  const CountedReads files(LocalFileSystem());
  const auto table = MakeNpyTable(files, {folder / "a.npy"});
  ASSERT_TRUE(table.ok()) << table.status();
  const FixedRows reader(&files, std::make_shared<const FixedTable>(*table));
  RandomAccessReader::Content content;
  absl::Status wrong;
  ASSERT_EQ(reader.Read({700}, absl::MakeSpan(&content, 1), wrong), 1u);
  EXPECT_EQ(content.bytes, std::string(1000, 'x'));
  EXPECT_LT(files.bytes(), 2000);
}

TEST(NpzTable, HasAPartForEachArray) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string path = Cat(kNpyTestData, name);
    const auto table = MakeNpzTable(*LocalFileSystem(), path, {});
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->size(), 5u);
    ASSERT_EQ(table->parts().size(), 3u);
    EXPECT_EQ(table->parts()[0].fields[0].name, "image");
    EXPECT_EQ(table->parts()[2].fields[2].name, "record.word");
    EXPECT_EQ(table->held_bytes() > 0, name[0] == 'd');
    EXPECT_EQ(RowsOf(*LocalFileSystem(), *table, 0)[1], std::string("\6\7\10\11\12\13"));
    EXPECT_EQ(RowsOf(*LocalFileSystem(), *table, 1)[3], std::string_view("\0\0\x0B\xB8", 4));
    const auto one = MakeNpzTable(*LocalFileSystem(), path, {false, {"record.id"}});
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_EQ(one->parts().size(), 1u);
    const auto fields = FindNpzFields(*LocalFileSystem(), path, {});
    ASSERT_TRUE(fields.ok()) << fields.status();
    EXPECT_EQ(fields->size(), 6u);
    const auto arrays = FindNpzArrays(*LocalFileSystem(), path);
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    EXPECT_THAT(*arrays, ElementsAre("image", "label", "record"));
    const auto none = MakeNpzTable(*LocalFileSystem(), path, {false, {"label", "imag"}});
    EXPECT_THAT(std::string(ToStd(none.status().message())),
                HasSubstr("no array for the column \"imag\" (arrays: image, label, record)"));
  }
}

TEST(NpzTable, KnowsTheColumnsOfAnArray) {
  EXPECT_TRUE(IsNpzColumnOf("a", "a"));
  EXPECT_TRUE(IsNpzColumnOf("a.x", "a"));
  EXPECT_FALSE(IsNpzColumnOf("ab", "a"));
  EXPECT_FALSE(IsNpzColumnOf("a", "ab"));
  EXPECT_EQ(ListNpzArrays({"a", "b"}), "a, b");
  EXPECT_EQ(ListNpzArrays(std::vector<std::string>(13, "a")), "a, a, a, a, a, a, a, a, a, a, a, a, …");
}

// What is damaged may be read as something else, as nothing covers the bytes that are stored.
void ReadDamaged(const std::string& bytes) {
  const OneFile files{bytes};
  FindNpzFields(files, "a.npz", {}).status().IgnoreError();
  const auto table = MakeNpzTable(files, "a.npz", {});
  if (!table.ok()) return;
  for (size_t part = 0; part < table->parts().size(); ++part) {
    for (const std::string& row : RowsOf(files, *table, part)) {
      EXPECT_EQ(static_cast<int64_t>(row.size()), table->parts()[part].row_bytes);
    }
  }
}

TEST(NpzTable, SurvivesDamageAtEveryByte) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto read = LocalFileSystem()->Read(Cat(kNpyTestData, name));
    ASSERT_TRUE(read.ok()) << read.status();
    const std::string good(reinterpret_cast<const char*>(read->raw()), read->bytes());
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 0xFF);
      ReadDamaged(bytes);
      const OneFile cut{good.substr(0, at)};
      EXPECT_FALSE(MakeNpzTable(cut, "a.npz", {}).ok()) << at;
    }
  }
}

}  // namespace
}  // namespace headrace
