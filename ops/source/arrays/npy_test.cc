#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::StringsValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::string ArrayFile(std::string_view descr, std::string_view shape, std::string_view data) {
  const std::string dict = Cat("{'descr': ", descr, ", 'fortran_order': False, 'shape': ", shape, "}");
  std::string bytes = Cat("\x93NUMPY\x01", std::string_view("\0", 1));
  bytes.push_back(static_cast<char>(dict.size() % 256));
  bytes.push_back(static_cast<char>(dict.size() / 256));
  return Cat(bytes, dict, data);
}

class NpySource : public ::testing::Test {
 protected:
  GraphBuilder Npy(const std::vector<std::string>& names, const std::vector<std::string>& fields,
                   GraphBuilder::Given attributes = {}) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_ / name);
    attributes.emplace_back("paths", StringsValue(paths));
    attributes.emplace_back("fields", StringsValue(fields));
    GraphBuilder builder;
    builder.Add("Npy", {}, attributes);
    return builder;
  }
  TemporaryFolder folder_;
};

TEST_F(NpySource, GiveTheRowsOfFilesInEveryWay) {
  folder_.Write("a.npy", ArrayFile("'|u1'", "(3,)", "\1\2\3"));
  folder_.Write("b.npy", ArrayFile("'|u1'", "(2,)", "\4\5"));
  const Ran ran = RunEveryWay(Npy({"a.npy", "b.npy"}, {"data uint8 ()"}));
  EXPECT_THAT(ran.Texts(), ElementsAre("data=1", "data=2", "data=3", "data=4", "data=5"));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(5));
  EXPECT_EQ(ran.Keys(1)[4], 4u);
  const Ran shuffled = RunEveryWay(Npy({"a.npy", "b.npy"}, {"data uint8 ()"}, {{"shuffle", BoolValue(true)}}));
  EXPECT_THAT(shuffled.Texts(), UnorderedElementsAreArray(ran.Texts()));
}

TEST_F(NpySource, AreInTheMachinesByteOrder) {
  folder_.Write("a.npy", ArrayFile("'>i2'", "(2, 2)", std::string_view("\0\1\0\2\1\0\xFF\xFE", 8)));
  folder_.Write("b.npy", ArrayFile("'|b1'", "(3,)", std::string_view("\0\1\7", 3)));
  EXPECT_THAT(RunEveryWay(Npy({"a.npy"}, {"data int16 (2,)"})).Texts(),
              ElementsAre("data=int16 (2,) [1 2]", "data=int16 (2,) [256 -2]"));
  EXPECT_THAT(RunEveryWay(Npy({"b.npy"}, {"data bool ()"})).Texts(), ElementsAre("data=0", "data=1", "data=1"));
}

TEST_F(NpySource, HaveTextsAndBytes) {
  folder_.Write("a.npy", ArrayFile("'<U2'", "(2,)", std::string_view("w\0\0\0\xE9\0\0\0x\0\0\0\0\0\0\0", 16)));
  folder_.Write("b.npy", ArrayFile("'|S3'", "(2,)", std::string_view("a\0babc", 6)));
  folder_.Write("c.npy", ArrayFile("'<U1'", "(2,)", std::string_view("w\0\0\0\0\xD8\0\0", 8)));
  EXPECT_THAT(RunEveryWay(Npy({"a.npy"}, {"data string ()"})).Texts(), ElementsAre("data='wé'", "data='x'"));
  const Ran bytes = RunEveryWay(Npy({"b.npy"}, {"data bytes ()"}));
  EXPECT_THAT(bytes.Texts()[1], HasSubstr("abc"));
  const Ran damaged = RunEveryWay(Npy({"c.npy"}, {"data string ()"}));
  EXPECT_THAT(damaged.Texts(), ElementsAre("data='w'"));
  EXPECT_THAT(DescribeError(damaged.error), AllOf(HasSubstr("not a character"), HasSubstr("c.npy")));
}

TEST_F(NpySource, AreOfTheTypesOfThePipeline) {
  folder_.Write("a.npy", ArrayFile("'<i2'", "(1,)", "ab"));
  EXPECT_THAT(Refusal(Npy({"a.npy"}, {"data int32 ()"})), HasSubstr("make the pipeline again"));
  EXPECT_THAT(Refusal(Npy({"b.npy"}, {"data int32 ()"})), HasSubstr("b.npy"));
}

}  // namespace
}  // namespace headrace
