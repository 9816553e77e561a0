#include "io/files/http/late_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "io/files/http/testing/fake_transport.h"

namespace headrace::http {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kLateSecond = 1'000'000'000;

FakeReply NoReply(const FakeRequest&) { return FakeReply(); }

TEST(LateCalls, ComeInOrderOfTheirTimesUnlessTheyAreRemoved) {
  FakeTransport transport(NoReply, FakeTransport::Time::kByHand);
  const auto late = std::make_shared<LateCalls>(&transport);
  std::vector<int> called;
  const auto call = [&](int number) { return [&called, number] { called.push_back(number); }; };
  late->Add(3 * kLateSecond, call(3));
  const LateCalls::Place removed = late->Add(2 * kLateSecond, call(2));
  late->Add(1 * kLateSecond, call(1));
  late->Add(3 * kLateSecond, call(4));
  transport.Advance(kLateSecond - 1);
  EXPECT_TRUE(called.empty());
  transport.Advance(1);
  EXPECT_THAT(called, ElementsAre(1));
  late->Remove(removed);
  transport.Advance(kLateSecond);
  EXPECT_THAT(called, ElementsAre(1));
  transport.Advance(kLateSecond);
  EXPECT_THAT(called, ElementsAre(1, 3, 4));
}

TEST(LateCalls, MayAddAndRemoveOthers) {
  FakeTransport transport(NoReply, FakeTransport::Time::kByHand);
  const auto late = std::make_shared<LateCalls>(&transport);
  std::vector<int> called;
  LateCalls::Place second;
  late->Add(kLateSecond, [&] {
    called.push_back(1);
    late->Remove(second);
    late->Add(kLateSecond, [&] { called.push_back(3); });
  });
  second = late->Add(kLateSecond, [&] { called.push_back(2); });
  transport.Advance(2 * kLateSecond);
  EXPECT_THAT(called, ElementsAre(1, 3));
}

TEST(LateCalls, HaveOneTimerWhereMostAreRemoved) {
  FakeTransport transport(NoReply, FakeTransport::Time::kByHand);
  const auto late = std::make_shared<LateCalls>(&transport);
  int called = 0;
  for (int i = 0; i < 10'000; ++i) {
    const LateCalls::Place place = late->Add(2 * kLateSecond, [&] { ++called; });
    transport.Advance(kLateSecond / 1000);
    late->Remove(place);
  }
  EXPECT_EQ(called, 0);
  EXPECT_LE(late->timers(), 6);
}

TEST(LateCalls, AreForgottenWithTheirOwner) {
  FakeTransport transport(NoReply, FakeTransport::Time::kByHand);
  auto late = std::make_shared<LateCalls>(&transport);
  bool called = false;
  late->Add(kLateSecond, [&] { called = true; });
  late.reset();
  transport.Advance(2 * kLateSecond);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace headrace::http
