#include "engine/exec/sealed_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

proto::State Example() {
  proto::State state;
  state.set_graph_high(0x0123456789abcdef);
  state.set_seed(7);
  state.set_epoch(3);
  state.set_delivered(9);
  for (const uint64_t checkpoint : {0u, 1u, 300u}) state.add_checkpoint(checkpoint);
  state.set_skip_rows(2);
  state.set_world(1);
  state.set_even("off");
  return state;
}

std::string Refusal(std::string_view bytes) {
  const absl::StatusOr<proto::State> state = OpenState(bytes);
  EXPECT_EQ(KindOf(state.status()), ErrorKind::kState);
  return std::string(state.status().message());
}

TEST(SealedState, HoldsTheState) {
  const absl::StatusOr<proto::State> state = OpenState(SealState(Example()));
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->SerializeAsString(), Example().SerializeAsString());
}

TEST(SealedState, IsRefusedWhereOneBitChanged) {
  const std::string bytes = SealState(Example());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(Refusal(damaged), "") << bit;
  }
}

TEST(SealedState, IsRefusedWhereBytesAreMissingOrAdded) {
  const std::string bytes = SealState(Example());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(Refusal(bytes.substr(0, size)), "") << size;
  EXPECT_THAT(Refusal(bytes + std::string("\x20\x01")), HasSubstr("or it is damaged"));
  EXPECT_THAT(Refusal(bytes + bytes), HasSubstr("or it is damaged"));
  EXPECT_THAT(Refusal("no state"), HasSubstr("this is not a state that Headrace took, or it is damaged (8 bytes)"));
}

TEST(SealedState, OfAnotherFormatSaysSo) {
  // What format 1 began with.
  EXPECT_THAT(Refusal(std::string("\x08\x01\x11\0\0\0\0\0\0\0\0", 11)),
              HasSubstr("format 1, of a Headrace whose operators drew other random numbers"));
  EXPECT_THAT(Refusal("\x08\x05"), HasSubstr("format 5, newer than this Headrace knows (4): upgrade Headrace"));
}

TEST(SealedState, OfNumbersThatCannotBeIsRefused) {
  proto::State state = Example();
  state.set_world(0);
  EXPECT_THAT(Refusal(SealState(state)), HasSubstr("shard 0 of 0"));
  state = Example();
  state.set_rank(1);
  EXPECT_THAT(Refusal(SealState(state)), HasSubstr("shard 1 of 1 took it: there is no such shard"));
  state = Example();
  state.set_skip_rows(10);
  EXPECT_THAT(Refusal(SealState(state)), HasSubstr("10 of 9 rows were delivered last"));
}

}  // namespace
}  // namespace headrace
