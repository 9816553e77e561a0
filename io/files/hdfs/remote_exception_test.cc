#include "io/files/hdfs/remote_exception.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace::hdfs {
namespace {

RemoteException Said(std::string_view name, std::string_view message) {
  return ParseRemoteException(Cat("{\"RemoteException\":{\"exception\":\"", name, "\",\"message\":\"", message,
                                  "\",\"javaClassName\":\"x\"}}"));
}

TEST(RemoteException, IsReadFromJson) {
  const RemoteException said = Said("FileNotFoundException", "File /a does not exist.\\n\\tat java");
  EXPECT_EQ(said.name, "FileNotFoundException");
  EXPECT_EQ(said.message, "File /a does not exist.");
  for (const char* const other : {"", "<html>", "[]", "{\"RemoteException\":1}", "{\"RemoteException\":{}}"}) {
    EXPECT_TRUE(ParseRemoteException(other).empty()) << other;
  }
  EXPECT_TRUE(ParseRemoteException(std::string(100000, '[')).empty());
}

TEST(RemoteException, LeavesOutATokenThatTheServerRepeats) {
  const RemoteException said = Said("IOException", "no route for /webhdfs/v1/a?op=OPEN&delegation=hidden");
  EXPECT_EQ(said.message, "no route for /webhdfs/v1/a?op=OPEN&");
}

TEST(RemoteException, SaysWhatFollows) {
  EXPECT_EQ(FaultOf(200, {}), RemoteFault::kNone);
  EXPECT_EQ(FaultOf(404, Said("FileNotFoundException", "x")), RemoteFault::kMissing);
  EXPECT_EQ(FaultOf(403, Said("StandbyException", "Operation category READ is not supported in state standby")),
            RemoteFault::kStandby);
  EXPECT_EQ(FaultOf(403, Said("RemoteException", "org.apache.hadoop.hdfs.server.namenode.SafeModeException: x")),
            RemoteFault::kNotYet);
  EXPECT_EQ(FaultOf(401, {}), RemoteFault::kLogin);
  EXPECT_EQ(FaultOf(403, Said("InvalidToken", "token can't be found in cache")), RemoteFault::kLogin);
  EXPECT_EQ(FaultOf(403, Said("IOException", "No active nodes contain this block")), RemoteFault::kNoDataNode);
  EXPECT_EQ(FaultOf(403, Said("IOException", "Offset=9 out of the range [0, 3); OPEN")), RemoteFault::kBeyondEnd);
  EXPECT_EQ(FaultOf(403, Said("AccessControlException", "Permission denied: user=a")), RemoteFault::kDenied);
  EXPECT_EQ(FaultOf(400, Said("IllegalArgumentException", "Invalid value for webhdfs parameter \\\"op\\\": X")),
            RemoteFault::kUnknownOp);
  EXPECT_EQ(FaultOf(500, {}), RemoteFault::kOther);
}

TEST(RemoteException, IsAnErrorThatSaysWhatToDo) {
  const absl::Status denied =
      RemoteError("hdfs://nn/a", 403, Said("AccessControlException", "Permission denied: user=a"));
  EXPECT_EQ(KindOf(denied), ErrorKind::kUnsupported);
  EXPECT_NE(denied.message().find("user=a"), std::string::npos);
  EXPECT_EQ(RemoteError("hdfs://nn/a", 404, Said("FileNotFoundException", "x")).message(), "hdfs://nn/a: not found");
  EXPECT_TRUE(IsBeyondRow(RemoteError("hdfs://nn/a", 403, Said("SafeModeException", "x"))));
  EXPECT_TRUE(IsBeyondRow(RemoteError("hdfs://nn/a", 500, {})));
}

}  // namespace
}  // namespace headrace::hdfs
