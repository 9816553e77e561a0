#include "ops/source/tar/tar_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/tar/testing/tar_bytes.h"
#include "ops/source/declared_fields.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct DeclaredColumn {
  std::string text;  // "cls int64 ()"
  TarReading reading;
  std::vector<std::string> names;
  std::string key = {};
  std::optional<std::string> missing = {};
};

std::vector<TarField> FieldsOfTest(const std::vector<DeclaredColumn>& declared) {
  std::vector<TarField> fields;
  for (const DeclaredColumn& each : declared) {
    fields.push_back({**ParseTypedName(each.text), each.reading, each.names, each.key, each.missing});
  }
  return fields;
}

std::string BytesOfSample(const TarFiles& files) {
  std::string bytes;
  for (const auto& [name, data] : files) bytes += TarMemberBytes(name, data);
  return bytes;
}

struct MadeRows {
  std::vector<std::string> texts;
  std::string error;
};

// Of samples that are in one block, up to the first that fails.
MadeRows Make(const std::vector<DeclaredColumn>& declared, const std::vector<TarFiles>& samples, size_t step = 1) {
  const std::vector<TarField> fields = FieldsOfTest(declared);
  std::string bytes;
  RecordBlock block;
  for (const TarFiles& files : samples) {
    const std::string sample = BytesOfSample(files);
    block.records.push_back({static_cast<int64_t>(bytes.size()), static_cast<uint32_t>(bytes.size()),
                             static_cast<uint32_t>(sample.size())});
    bytes += sample;
  }
  block.buffer = BufferPool::Current().Allocate(bytes.size() + 1);
  std::memcpy(block.buffer->data(), bytes.data(), bytes.size());
  block.bytes = block.buffer->data();
  block.path = std::make_shared<const std::string>("a.tar");
  const std::unique_ptr<RecordColumns> columns = MakeTarColumns(fields);
  columns->Expect(samples.size());
  absl::Status wrong;
  const size_t wanted = (samples.size() - 1) / step + 1;
  const size_t added = columns->Add(block, 0, step, wanted, wrong);
  MadeRows made;
  made.error = std::string(ToStd(wrong.message()));
  EXPECT_EQ(added == wanted, wrong.ok());
  if (added == 0) return made;
  Block rows;
  const absl::Status taken = columns->Take(rows);
  EXPECT_TRUE(taken.ok()) << taken;
  ir::Schema schema;
  for (const TarField& field : fields) schema.columns.push_back(field.column);
  for (size_t i = 0; i < added; ++i) {
    std::vector<Tensor> row;
    for (const BlockColumn& column : rows.columns) {
      EXPECT_EQ(column.rows(), static_cast<int>(added));
      row.push_back(column.row(static_cast<int>(i)));
    }
    EXPECT_TRUE(ir::FitsSchema(schema, row));
    made.texts.push_back(RowText(schema, row));
  }
  return made;
}

std::string Npy(std::string_view descr, std::string_view shape, std::string_view data) {
  const std::string header = Cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }\n");
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes.push_back(static_cast<char>(header.size()));
  bytes.push_back('\0');
  return Cat(bytes, header, data);
}

const DeclaredColumn kJpg = {"jpg bytes ()", TarReading::kBytes, {"jpg"}};

TEST(TarColumns, GiveBytes) {
  const std::string large(2000, 'x');
  EXPECT_THAT(Make({kJpg}, {{{"0.jpg", "a"}}, {{"1.JPG", large}, {"1.txt", "no"}}, {{"2.jpg", ""}}}).texts,
              ElementsAre("jpg='a'", Cat("jpg='", large, "'"), "jpg=''"));
  EXPECT_THAT(Make({kJpg}, {{{"0.jpg", large}}, {{"1.jpg", large}}, {{"2.jpg", large}}, {{"3.jpg", large}}}, 3).texts,
              ElementsAre(Cat("jpg='", large, "'"), Cat("jpg='", large, "'")));
}

TEST(TarColumns, TakeTheFirstFieldThatIsThere) {
  const DeclaredColumn image = {"jpg;png bytes ()", TarReading::kBytes, {"jpg", "png"}};
  EXPECT_THAT(Make({image}, {{{"0.png", "a"}}, {{"1.png", "b"}, {"1.jpg", "c"}}}).texts,
              ElementsAre("jpg;png='a'", "jpg;png='c'"));
  EXPECT_THAT(Make({image}, {{{"0.gif", "a"}}}).error, HasSubstr("has no field \"jpg\" or \"png\"; it has gif"));
}

TEST(TarColumns, GiveNumbersAndTexts) {
  const std::vector<DeclaredColumn> columns = {{"cls int32 ()", TarReading::kText, {"cls"}},
                                               {"txt string ()", TarReading::kText, {"txt"}},
                                               {"ok bool ()", TarReading::kText, {"ok"}},
                                               {"x float32 ()", TarReading::kText, {"x"}}};
  EXPECT_THAT(Make(columns, {{{"0.cls", " 12\n"}, {"0.txt", "h\xC3\xA9\n"}, {"0.ok", "true"}, {"0.x", "1.5\r\n"}},
                             {{"1.cls", "-3"}, {"1.txt", ""}, {"1.ok", "0"}, {"1.x", "\t2e1 "}}})
                  .texts,
              ElementsAre("cls=12, txt='h\xC3\xA9\n', ok=1, x=1.5", "cls=-3, txt='', ok=0, x=20"));
  const auto error_of = [](const DeclaredColumn& column, const std::string& data) {
    return Make({column}, {{{"a/0.f", data}}}).error;
  };
  for (const char* data : {"", "x", "1.5", "1 2", "0x1"}) {
    EXPECT_THAT(error_of({"f int64 ()", TarReading::kText, {"f"}}, data),
                AllOf(HasSubstr("the field \"f\" of the sample \"a/0\" is"), HasSubstr("its type is int64 ()"),
                      HasSubstr("decode={")))
        << data;
  }
  EXPECT_THAT(error_of({"f uint8 ()", TarReading::kText, {"f"}}, "256"), HasSubstr("256"));
  EXPECT_THAT(error_of({"f string ()", TarReading::kText, {"f"}}, "\xFF"), HasSubstr("is not UTF-8"));
}

TEST(TarColumns, GiveKeysOfObjects) {
  const std::vector<DeclaredColumn> columns = {{"json.a int64 ()", TarReading::kJsonKey, {"json"}, "a"},
                                               kJpg,
                                               {"json.b string (None,)", TarReading::kJsonKey, {"json"}, "b"}};
  EXPECT_THAT(
      Make(columns, {{{"0.json", R"({"a": 1, "b": ["x", "y"], "c": null})"}, {"0.jpg", "j"}},
                     {{"1.jpg", "k"}, {"1.json", R"({"b": [], "a": -2})"}}})
          .texts,
      ElementsAre("json.a=1, jpg='j', json.b=string (2,) ['x' 'y']", "json.a=-2, jpg='k', json.b=string (0,) []"));
  const auto error_of = [&](const std::string& json) {
    return Make(columns, {{{"0.json", json}, {"0.jpg", "j"}}}).error;
  };
  EXPECT_THAT(error_of("{"),
              AllOf(HasSubstr("the field \"json\" of the sample \"0\""), HasSubstr("the field is not JSON")));
  EXPECT_THAT(error_of("[]"), HasSubstr("it must be an object"));
  EXPECT_THAT(error_of(R"({"b": []})"),
              AllOf(HasSubstr("the field has no \"a\""), HasSubstr("missing={\"json.a\": 0}")));
  EXPECT_THAT(
      error_of(R"({"a": 1.5, "b": []})"),
      AllOf(HasSubstr("stated by decode={…}"), HasSubstr("state decode={\"json\": {\"a\": \"float64\", …}, …}")));
}

TEST(TarColumns, GiveValuesOfJson) {
  const DeclaredColumn box = {"box.json float32 (None, 2)", TarReading::kJson, {"box.json"}};
  EXPECT_THAT(Make({box}, {{{"0.box.json", "[[1, 2]]"}}, {{"1.box.json", "[]"}}}).texts,
              ElementsAre("box.json=float32 (1, 2) [1 2]", "box.json=float32 (0, 2) []"));
  EXPECT_THAT(Make({box}, {{{"0.box.json", "{}"}}}).error,
              AllOf(HasSubstr("the sample \"0\""), HasSubstr("the column's type is float32 (None, 2)")));
  EXPECT_THAT(Make({box}, {{{"0.box.json", "null"}}}).error, HasSubstr("is null"));
}

TEST(TarColumns, GiveArraysOfNumpy) {
  const float values[] = {1, 2, 3};
  const std::string_view data(reinterpret_cast<const char*>(values), sizeof(values));
  const DeclaredColumn fixed = {"emb.npy float32 (3,)", TarReading::kNpy, {"emb.npy"}};
  const DeclaredColumn ragged = {"emb.npy float32 (None,)", TarReading::kNpy, {"emb.npy"}};
  const std::vector<TarFiles> samples = {{{"0.emb.npy", Npy("<f4", "(3,)", data)}},
                                         {{"1.emb.npy", Npy("<f4", "(3,)", data)}}};
  for (const DeclaredColumn& column : {fixed, ragged}) {
    EXPECT_THAT(Make({column}, samples).texts,
                ElementsAre("emb.npy=float32 (3,) [1 2 3]", "emb.npy=float32 (3,) [1 2 3]"));
    EXPECT_THAT(
        Make({column}, {{{"0.emb.npy", Npy("<i4", "(3,)", data)}}}).error,
        AllOf(HasSubstr("the field \"emb.npy\" of the sample \"0\" is int32 (3,)"), HasSubstr("its type is float32")));
    EXPECT_THAT(Make({column}, {{{"0.emb.npy", Npy("|O", "(3,)", data)}}}).error, HasSubstr("pickled objects"));
    EXPECT_THAT(Make({column}, {{{"0.emb.npy", "GIF"}}}).error, HasSubstr("is damaged: it is not an array of NumPy"));
  }
  EXPECT_THAT(Make({fixed}, {{{"0.emb.npy", Npy("<f4", "(2,)", data)}}}).error, HasSubstr("is float32 (2,)"));
  EXPECT_THAT(Make({ragged}, {{{"0.emb.npy", Npy("<f4", "(2,)", data)}}}).texts,
              ElementsAre("emb.npy=float32 (2,) [1 2]"));
}

TEST(TarColumns, GiveWhatTheSampleIs) {
  const std::vector<DeclaredColumn> columns = {{"__key__ string ()", TarReading::kKey, {}},
                                               {"__url__ string ()", TarReading::kUrl, {}},
                                               {"__fields__ string (None,)", TarReading::kNames, {}}};
  EXPECT_THAT(Make(columns, {{{"d/0.B", "1"}, {"d/0.a.c", "2"}}, {{"1.x", "3"}}}).texts,
              ElementsAre("__key__='d/0', __url__='a.tar', __fields__=string (2,) ['b' 'a.c']",
                          "__key__='1', __url__='a.tar', __fields__=string (1,) ['x']"));
}

TEST(TarColumns, GiveWhatStandsForMissingFields) {
  const std::vector<DeclaredColumn> columns = {{"jpg bytes ()", TarReading::kBytes, {"jpg"}, "", "\"\\u00ff\\u0000x\""},
                                               {"cls int64 ()", TarReading::kText, {"cls"}, "", "-1"},
                                               {"x float32 ()", TarReading::kText, {"x"}, "", "NaN"},
                                               {"txt string ()", TarReading::kText, {"txt"}, "", "\"none\""},
                                               {"json.a int64 ()", TarReading::kJsonKey, {"json"}, "a", "7"},
                                               {"box.json int32 (None,)", TarReading::kJson, {"box.json"}, "", "[]"},
                                               {"n.npy int16 (2,)", TarReading::kNpy, {"n.npy"}, "", "[1, 2]"}};
  EXPECT_THAT(
      Make(columns, {{{"0.y", ""}}, {{"1.json", R"({"a": null})"}, {"1.box.json", "null"}}}).texts,
      ElementsAre(Cat("jpg='\xFF", std::string(1, '\0'),
                      "x', cls=-1, x=nan, txt='none', json.a=7, box.json=int32 (0,) [], n.npy=int16 (2,) [1 2]"),
                  Cat("jpg='\xFF", std::string(1, '\0'),
                      "x', cls=-1, x=nan, txt='none', json.a=7, box.json=int32 (0,) [], n.npy=int16 (2,) [1 2]")));
}

TEST(TarColumns, NameASampleThatLacksAField) {
  TarFiles files;
  for (int i = 0; i < 30; ++i) files.emplace_back(Cat("0.f", i), "");
  EXPECT_THAT(Make({kJpg}, {files}).error, AllOf(HasSubstr("the sample \"0\" has no field \"jpg\"; it has f0, f1"),
                                                 HasSubstr("f19 and 10 more"), HasSubstr("missing={\"jpg\": b\"\"}")));
}

TEST(TarColumns, NameAFieldThatComesTwice) {
  EXPECT_THAT(Make({kJpg}, {{{"0.jpg", ""}, {"0.a.txt", ""}, {"0.A.TXT", ""}}}).error,
              HasSubstr("the sample \"0\" has the field \"a.txt\" twice"));
  TarFiles many;
  for (int i = 0; i < 20'000; ++i) many.emplace_back(Cat("0.f", i), "");
  many.emplace_back("0.jpg", "x");
  EXPECT_EQ(Make({kJpg}, {many}).error, "");
  many.emplace_back("0.f19999", "x");
  EXPECT_THAT(Make({kJpg}, {many}).error, HasSubstr("the field \"f19999\" twice"));
}

TEST(TarColumns, KeepTheRowsBeforeOneThatFails) {
  const std::vector<DeclaredColumn> columns = {kJpg, {"cls int64 ()", TarReading::kText, {"cls"}}};
  const MadeRows made = Make(
      columns, {{{"0.jpg", "a"}, {"0.cls", "1"}}, {{"1.jpg", "b"}, {"1.cls", "x"}}, {{"2.jpg", "c"}, {"2.cls", "3"}}});
  EXPECT_THAT(made.texts, ElementsAre("jpg='a', cls=1"));
  EXPECT_THAT(made.error, HasSubstr("the sample \"1\""));
}

}  // namespace
}  // namespace headrace
