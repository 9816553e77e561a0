#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "ir/infer.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

GraphBuilder SourceInput(const ir::ColumnType& type) {
  GraphBuilder builder;
  builder.Add("Input", {}, {{"columns", ir::ColumnsValue({{{"image", type}}})}});
  return builder;
}

TEST(Input, GivesTheColumnsThatItDeclares) {
  const ir::ColumnType images = ir::ColumnType::Of(DType::kUInt8, {ir::kUnknownDim, ir::kUnknownDim, 3});
  const ir::Schema schema = *ir::ResultSchema(*SourceInput(images).Build());
  EXPECT_EQ(schema, (ir::Schema{{{"image", images}}}));
}

TEST(Input, RefusesAColumnThatARequestCannotGive) {
  ir::ColumnType type = ir::ColumnType::Of(DType::kBytes, {});
  type.optional = true;
  const absl::Status optional = SourceInput(type).Build().status();
  EXPECT_EQ(KindOf(optional), ErrorKind::kGraph);
  EXPECT_NE(std::string(optional.message()).find("a request gives one array"), std::string::npos) << optional;
}

TEST(Input, RefusesToBeIteratedOver) {
  const GraphBuilder builder = SourceInput(ir::ColumnType::Of(DType::kBytes, {}));
  const absl::Status error = RunOnce(*builder.Build(), OptionsOf({})).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kGraph);
  EXPECT_NE(std::string(error.message()).find("hr.inference_of"), std::string::npos) << error;
}

}  // namespace
}  // namespace headrace
