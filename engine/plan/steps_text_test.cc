#include "engine/plan/steps_text.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/value.h"

namespace headrace {
namespace {

// Columns and functions have the names that files and users gave them.
TEST(StepsText, IsOnePrintableLine) {
  ir::proto::Node map;
  ir::proto::Step& step = *map.add_steps();
  step.set_kernel("Call");
  step.add_inputs("a");
  step.add_outputs("a\n\x1B[31m");
  ir::proto::Attribute& function = *step.add_attributes();
  function.set_name("function");
  *function.mutable_value() = ir::ReferenceValue("b\u202E.py:f#0");
  EXPECT_EQ(StepsText(map.steps()), "a\\n\\x1b[31m: function b\\u202e.py:f");
}

}  // namespace
}  // namespace headrace
