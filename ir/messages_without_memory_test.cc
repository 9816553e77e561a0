// Each allocation fails once while messages with a oneof are copied, parsed and changed: none is left half made, which
// its destructor would not survive.
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>

#include "core/testing/failing_allocations.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

// Too long to be kept within a std::string.
constexpr char kLong[] = "a text that takes memory of its own";

ir::proto::Node NodeOfAllKinds() {
  ir::proto::Node node;
  node.add_attributes()->mutable_value()->mutable_integers()->add_values(3);
  node.add_attributes()->mutable_value()->mutable_texts()->add_values(kLong);
  ir::proto::Call* const call = node.add_attributes()->mutable_value()->mutable_expression()->mutable_call();
  call->add_arguments()->mutable_literal()->set_text(kLong);
  call->add_arguments()->set_column(kLong);
  return node;
}

void FailEachAllocation(const std::function<void()>& body) {
  bool failed = true;
  int64_t points = 0;
  for (; failed; ++points) {
    FailingAllocation failing(points);
    try {
      body();
    } catch (const std::bad_alloc&) {
    }
    failed = failing.End();
  }
  EXPECT_GT(points, 1);
}

TEST(MessagesWithoutMemory, CopiesAreNotHalfMade) {
  const ir::proto::Node node = NodeOfAllKinds();
  FailEachAllocation([&] { ir::proto::Node copy(node); });
  FailEachAllocation([&] {
    ir::proto::Node copy;
    copy = node;
  });
}

TEST(MessagesWithoutMemory, ParsedMessagesAreNotHalfMade) {
  const std::string bytes = NodeOfAllKinds().SerializeAsString();
  FailEachAllocation([&] {
    ir::proto::Node parsed;
    parsed.ParseFromString(bytes);
  });
}

TEST(MessagesWithoutMemory, AReplacedMemberIsNotDeletedTwice) {
  FailEachAllocation([] {
    ir::proto::Value value;
    value.mutable_integers()->add_values(3);
    value.mutable_texts()->add_values(kLong);
    value.set_real(0.5);
    value.mutable_expression()->mutable_literal()->set_text(kLong);
    value.mutable_expression()->set_column(kLong);
  });
}

}  // namespace
}  // namespace headrace
