#include "ir/message_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace::ir {
namespace {

TEST(MessageReader, PassesAListWithoutNumbers) {
  const MessageSchema& node = *GraphSchema().Find("nodes")->message;
  // Node.inputs: of none, and of 5 and 6.
  MessageReader reader(std::string_view("\x1a\x00\x1a\x02\x05\x06", 6), node);
  std::vector<uint64_t> inputs;
  while (reader.Next()) inputs.push_back(reader.value().number);
  EXPECT_EQ(inputs, (std::vector<uint64_t>{5, 6}));
}

}  // namespace
}  // namespace headrace::ir
