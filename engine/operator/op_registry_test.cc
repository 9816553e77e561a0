#include <gtest/gtest.h>

#include <utility>

#include "core/error.h"
#include "engine/operator/operator.h"

namespace headrace {
namespace {

ir::Declaration Named(std::string name) {
  ir::Declaration declaration;
  declaration.name = std::move(name);
  declaration.role = ir::Role::kRow;
  declaration.infer = ir::PassesSchema();
  return declaration;
}

TEST(RegisterOp, AddsAnOperatorWhileTheProcessRuns) {
  EXPECT_EQ(FindOp("added"), nullptr);
  OpFactories factories;
  factories.properties = [](const OpArguments&, OperatorProperties& properties) { properties.batch_rows = 3; };
  ASSERT_TRUE(RegisterOp(Named("added"), factories).ok());
  const OpFactories* const found = FindOp("added");
  ASSERT_NE(found, nullptr);
  OperatorProperties properties;
  found->properties({}, properties);
  EXPECT_EQ(properties.batch_rows, 3);
  EXPECT_EQ(ir::Registry::Global().Find("added")->role, ir::Role::kRow);
  // Another one changes nothing.
  const absl::Status again = RegisterOp(Named("added"), {});
  EXPECT_EQ(KindOf(again), ErrorKind::kGraph);
  EXPECT_EQ(again.message(), "the declaration of added occurs twice");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(RegisterOp(Named(Cat("other", i)), {}).ok());
  EXPECT_EQ(FindOp("added"), found);
  EXPECT_NE(found->properties, nullptr);
}

TEST(FactoriesRegistration, GivesFactoriesToAnOperatorThatIsDeclaredElsewhere) {
  const ir::DeclarationRegistration declaration(Named("declared"));
  EXPECT_NE(ir::Registry::Global().Find("declared"), nullptr);
  EXPECT_EQ(FindOp("declared"), nullptr);
  OpFactories factories;
  factories.properties = [](const OpArguments&, OperatorProperties& properties) { properties.batch_rows = 5; };
  const FactoriesRegistration registration("declared", factories);
  ASSERT_NE(FindOp("declared"), nullptr);
  EXPECT_NE(FindOp("declared")->properties, nullptr);
}

}  // namespace
}  // namespace headrace
