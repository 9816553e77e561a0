#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "core/error.h"
#include "io/files/http/http_client.h"
#include "io/files/http/testing/fake_transport.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::http {
namespace {

using ::testing::HasSubstr;

TEST(LoadedTransport, AMissingLibrarySaysHowToBuildIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/libheadrace_far.so";
  setenv("HEADRACE_FAR_LIBRARY", path.c_str(), 1);
  const absl::Status missing = LoadedTransport().status();
  EXPECT_EQ(KindOf(missing), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("./quickstart --far"));
  EXPECT_THAT(std::string(missing.message()), HasSubstr(path));
  std::ofstream(path) << "not a library";
  const absl::Status damaged = LoadedTransport().status();
  EXPECT_EQ(KindOf(damaged), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(damaged.message()), HasSubstr("cannot be loaded"));
  unsetenv("HEADRACE_FAR_LIBRARY");
}

TEST(LoadedTransport, TestsGiveTheirOwn) {
  FakeTransport transport([](const FakeRequest&) { return FakeReply(); });
  SetTransportForTest(&transport);
  EXPECT_EQ(*LoadedTransport(), &transport);
  SetTransportForTest(nullptr);
}

}  // namespace
}  // namespace headrace::http
