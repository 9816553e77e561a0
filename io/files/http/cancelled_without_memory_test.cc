// Each allocation fails once while reads under way are cancelled, as destructors do: the process goes on, and a read
// that could not be ended completes.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/testing/failing_allocations.h"
#include "io/files/cancellation.h"
#include "io/files/http/http_file_system.h"
#include "io/files/http/testing/fake_transport.h"

namespace headrace::http {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// What came of a read that is cancelled while the allocation number `point` fails; `failed`: there was one.
absl::Status CancelWithout(int64_t point, bool& failed) {
  const std::string file(1000, 'a');
  FakeTransport transport(
      [&](const FakeRequest& request) {
        FakeReply reply = ServeBytes(request, file, "\"1\"");
        reply.lasts_ns = kSecond;
        return reply;
      },
      FakeTransport::Time::kByHand);
  const HttpFileSystem files(&transport, {}, "");
  const auto cancellation = std::make_shared<Cancellation>();
  std::optional<absl::Status> ended;
  {
    const Cancellation::Scope scope(cancellation);
    files.StartRead("http://h/a", {1000, 0}, [&](const absl::StatusOr<Tensor>& read) { ended = read.status(); });
  }
  transport.Advance(kSecond / 2);
  EXPECT_EQ(transport.outstanding(), 1);
  FailingAllocation failing(point);
  cancellation->Cancel();
  failed = failing.End();
  transport.Advance(2 * kSecond);
  EXPECT_EQ(transport.cancelled(), failed ? 0 : 1);
  return ended.has_value() ? *ended : InternalError("the read has not ended");
}

TEST(CancelledWithoutMemory, ReadsThatCannotBeEndedComplete) {
  bool failed = true;
  int64_t points = 0;
  for (; failed; ++points) {
    const absl::Status ended = CancelWithout(points, failed);
    if (failed) {
      EXPECT_TRUE(ended.ok()) << points << ": " << ended;
    } else {
      EXPECT_EQ(KindOf(ended), ErrorKind::kClosed) << ended;
    }
  }
  EXPECT_GT(points, 1);
}

}  // namespace
}  // namespace headrace::http
