#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "core/error.h"
#include "io/files/http/http_client.h"
#include "io/files/http/reach_for.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CaFile : public ::testing::Test {
 protected:
  CaFile() {
    for (const char* const name : {"AWS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"}) unsetenv(name);
  }
  std::string Made(const std::string& name) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << "certificates";
    return path;
  }
  const TemporaryFolder folder_;
};

TEST_F(CaFile, TheGivenOneIsFirst) {
  const std::string given = Made("given");
  setenv("AWS_CA_BUNDLE", Made("aws").c_str(), 1);
  EXPECT_EQ(*FindCaFile(given), given);
  const absl::Status missing = FindCaFile(folder_.path() + "/none").status();
  EXPECT_EQ(KindOf(missing), ErrorKind::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("ca_file="));
  EXPECT_THAT(std::string(missing.message()), Not(HasSubstr("none")));
}

TEST_F(CaFile, TheEnvironmentIsNextInItsOrder) {
  const std::string curl = Made("curl");
  const std::string ssl = Made("ssl");
  setenv("CURL_CA_BUNDLE", curl.c_str(), 1);
  EXPECT_EQ(*FindCaFile(""), curl);
  setenv("SSL_CERT_FILE", ssl.c_str(), 1);
  EXPECT_EQ(*FindCaFile(""), ssl);
  setenv("AWS_CA_BUNDLE", (folder_.path() + "/none").c_str(), 1);
  EXPECT_THAT(std::string(FindCaFile("").status().message()), HasSubstr("AWS_CA_BUNDLE"));
}

TEST_F(CaFile, ReachesHaveWhatTheSettingsSay) {
  StorageSettings settings;
  settings.ca_file = Made("given");
  settings.proxy = "http://proxy:3128";
  settings.timeout = 1.5;
  settings.connections = 7;
  const absl::StatusOr<Reach> reach = ReachFor(settings, true);
  ASSERT_TRUE(reach.ok()) << reach.status();
  EXPECT_EQ(*reach, (Reach{settings.ca_file, settings.proxy, 7, 1500, 1500}));
  settings.ca_file = folder_.path() + "/none";
  EXPECT_FALSE(ReachFor(settings, false).ok());
  EXPECT_EQ(ReachFor({}, false)->idle_ms, 60'000);
}

}  // namespace
}  // namespace headrace::http
