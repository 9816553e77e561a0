#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

GraphBuilder LmdbSourceOf(const std::string& name, GraphBuilder::Given attributes = {}) {
  attributes.emplace_back("path", StringValue(Cat("io/formats/lmdb/testdata/", name)));
  GraphBuilder builder;
  builder.Add("Lmdb", {}, attributes);
  return builder;
}

TEST(Lmdb, GivesEntriesInEveryWay) {
  const Ran ran = RunEveryWay(LmdbSourceOf("named.mdb", {{"database", StringValue("images")}}));
  EXPECT_THAT(ran.Texts(), ElementsAre("key='0', value='i0'", "key='1', value='i1'", "key='2', value='i2'",
                                       "key='3', value='i3'", "key='4', value='i4'"));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(5));
  EXPECT_EQ(ran.Keys(1)[4], 4u);
}

TEST(Lmdb, ReadsLongValuesAndShuffles) {
  const auto rows_of = [](GraphBuilder::Given attributes) {
    const absl::StatusOr<Ran> ran = RunOnce(*LmdbSourceOf("plain.mdb", std::move(attributes)).Build(), OptionsOf({}));
    EXPECT_TRUE(ran.ok()) << ran.status();
    return ran.ok() ? ran->Texts() : std::vector<std::string>();
  };
  const std::vector<std::string> rows = rows_of({});
  ASSERT_EQ(rows.size(), 299u);
  EXPECT_EQ(rows[99], Cat("key='key-00100', value='", std::string(9000, 'b'), "'"));
  EXPECT_EQ(rows[298], Cat("key='key-00299', value='", std::string(4080, 'e'), "'"));
  EXPECT_THAT(rows_of({{"shuffle", BoolValue(true)}}), UnorderedElementsAreArray(rows));
  EXPECT_EQ(rows_of({{"columns", StringsValue({"key"})}})[7], "key='key-00008'");
}

TEST(Lmdb, RefusesWhatItDoesNotRead) {
  EXPECT_THAT(Refusal(LmdbSourceOf("named.mdb")), HasSubstr("database="));
  EXPECT_THAT(Refusal(LmdbSourceOf("named.mdb", {{"database", StringValue("")}})), HasSubstr("database is empty"));
  EXPECT_THAT(Refusal(LmdbSourceOf("dupsort.mdb", {{"database", StringValue("several")}})), HasSubstr("dupsort"));
  EXPECT_THAT(Refusal(LmdbSourceOf("nowhere.mdb")), HasSubstr("nowhere.mdb"));
  EXPECT_THAT(Refusal(LmdbSourceOf("BUILD")), HasSubstr("BUILD"));
}

}  // namespace
}  // namespace headrace
