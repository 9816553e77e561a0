#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"
#include "ops/source/arrays/npz_fields.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::StringsValue;
using ir::StringValue;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder Npz(const std::string& name, const std::vector<std::string>& fields, GraphBuilder::Given attributes = {}) {
  attributes.emplace_back("path", StringValue(Cat("io/formats/npy/testdata/", name)));
  attributes.emplace_back("fields", StringsValue(fields));
  GraphBuilder builder;
  builder.Add("Npz", {}, attributes);
  return builder;
}

TEST(NpzSource, GivesTheMembersThatAreChosen) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::vector<std::string> fields = {"image uint8 (2, 3)", "label int32 ()"};
    EXPECT_THAT(RunEveryWay(Npz(name, fields, {{"columns", StringsValue({"label"})}})).Texts(),
                ElementsAre("label=0", "label=1000", "label=2000", "label=3000", "label=4000"));
    EXPECT_THAT(RunEveryWay(Npz(name, {"record.id int16 ()"})).Texts()[4], "record.id=4");
    EXPECT_THAT(RunEveryWay(Npz(name, fields)).Texts()[1], HasSubstr("label=1000"));
  }
}

TEST(FindNpzFieldTexts, NamesAColumnWithoutAnArray) {
  const std::string path = "io/formats/npy/testdata/stored.npz";
  const std::vector<std::string> known = {"label", "record.id"};
  const auto texts = FindNpzFieldTexts(*LocalFileSystem(), path, &known);
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_THAT(*texts, Contains("label int32 ()"));
  const std::vector<std::string> unknown = {"label", "imag"};
  const absl::Status refused = FindNpzFieldTexts(*LocalFileSystem(), path, &unknown).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kGraph);
  EXPECT_EQ(GetErrorField(refused, ErrorField::kFile), path);
  EXPECT_EQ(ToStd(refused.message()), "no column \"imag\"; did you mean \"image\"? (arrays: image, label, record)");
}

}  // namespace
}  // namespace headrace
