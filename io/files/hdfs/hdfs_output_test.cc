#include "io/files/hdfs/hdfs_output.h"

#include <gtest/gtest.h>

#include <optional>

#include "core/error.h"
#include "io/files/hdfs/testing/served_cluster.h"

namespace headrace::hdfs {
namespace {

using http::FakeReply;
using http::FakeRequest;
using http::Fault;

using Paths = std::vector<std::string>;

std::string LongText(size_t bytes) {
  std::string text(bytes, 'a');
  for (size_t i = 0; i < bytes; i += 97) text[i] = static_cast<char>('b' + i % 23);
  return text;
}

std::unique_ptr<OutputStream> MustMake(absl::StatusOr<std::unique_ptr<OutputStream>> stream) {
  EXPECT_TRUE(stream.ok()) << stream.status();
  return stream.ok() ? *std::move(stream) : nullptr;
}

TEST(HdfsOutput, WritesFilesOfAnyLength) {
  for (const size_t bytes : {size_t{0}, size_t{5}, size_t{16} << 20, (size_t{40} << 20) + 7}) {
    ServedCluster served;
    const std::string text = LongText(bytes);
    ASSERT_TRUE(served.files.Write("hdfs://nn/f/a", {text}).ok());
    EXPECT_TRUE(served.cluster.Get("/f/a") == text) << bytes;
    EXPECT_EQ(served.cluster.paths(), Paths{"/f/a"});
  }
}

TEST(HdfsOutput, GivesTheNameWhenAllIsThere) {
  ServedCluster served;
  served.cluster.Put("/f/a", "old");
  const auto stream = MustMake(served.files.Create("hdfs://nn/f/a", {}));
  ASSERT_TRUE(stream->Append({"new", "er"}).ok());
  EXPECT_EQ(stream->size(), 5);
  ASSERT_TRUE(stream->Flush().ok());
  EXPECT_EQ(served.cluster.Get("/f/a"), "old");
  EXPECT_EQ(served.cluster.paths().size(), 2u);
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(served.cluster.Get("/f/a"), "newer");
  EXPECT_EQ(served.cluster.paths().size(), 1u);
}

TEST(HdfsOutput, LeavesNothingWithoutCommit) {
  ServedCluster served;
  {
    const auto stream = MustMake(served.files.Create("hdfs://nn/f/a", {}));
    ASSERT_TRUE(stream->Append({"new"}).ok());
    ASSERT_TRUE(stream->Flush().ok());
  }
  EXPECT_TRUE(served.cluster.paths().empty());
}

TEST(HdfsOutput, WritesAHeadAgain) {
  ServedCluster served;
  const std::string text = LongText(size_t{20} << 20);
  const auto stream = MustMake(served.files.Create("hdfs://nn/a", {.head = 8}));
  ASSERT_TRUE(stream->Append({"????????", text}).ok());
  ASSERT_TRUE(stream->Flush().ok());
  ASSERT_TRUE(stream->Rewrite(2, "head").ok());
  EXPECT_FALSE(stream->Rewrite(5, "beyond").ok());
  EXPECT_EQ(stream->size(), 8 + (20 << 20));
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_TRUE(served.cluster.Get("/a") == "??head??" + text);
}

TEST(HdfsOutput, GoesOnWithADraftThatWasLeft) {
  ServedCluster served;
  const OutputOptions options = {.draft = ".draft"};
  {
    const auto stream = MustMake(served.files.Create("hdfs://nn/a", options));
    ASSERT_TRUE(stream->Append({"123456"}).ok());
    ASSERT_TRUE(stream->Keep().ok());
  }
  EXPECT_EQ(served.cluster.Get("/a.draft"), "123456");
  EXPECT_EQ(KindOf(served.files.Resume("hdfs://nn/a", options, 7).status()), ErrorKind::kData);
  EXPECT_EQ(KindOf(served.files.Resume("hdfs://nn/b", options, 0).status()), ErrorKind::kNotFound);
  const auto stream = MustMake(served.files.Resume("hdfs://nn/a", options, 4));
  ASSERT_TRUE(stream->Append({"xy"}).ok());
  ASSERT_TRUE(stream->Commit().ok());
  EXPECT_EQ(served.cluster.Get("/a"), "1234xy");
  EXPECT_FALSE(served.cluster.Get("/a.draft").has_value());
}

TEST(HdfsOutput, SendsWhatADataNodeDidNotTake) {
  for (const size_t taken : {0, 3, 10}) {
    ServedCluster served;
    const std::string text = LongText(size_t{17} << 20);
    int cuts = 0;
    served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
      const bool upload = request.url.find("//dn") != std::string::npos;
      if (!upload || ++cuts % 2 == 0) return std::nullopt;
      // A part of it is there, and then the connection breaks.
      const std::string before = Parameter(request.url, "op") == "APPEND" ? text.substr(0, size_t{16} << 20) : "";
      const std::string path = request.url.substr(request.url.find("/v1") + 3);
      if (taken > 0) served.cluster.Put(path.substr(0, path.find('?')), before + request.body.substr(0, taken));
      FakeReply reply;
      reply.status = 0;
      reply.fault = Fault::kCut;
      return reply;
    });
    ASSERT_TRUE(served.files.Write("hdfs://nn/a", {text}).ok()) << taken;
    EXPECT_TRUE(served.cluster.Get("/a") == text) << taken;
  }
}

TEST(HdfsOutput, RefusesADraftOfAnotherLength) {
  ServedCluster served;
  const auto stream = MustMake(served.files.Create("hdfs://nn/a", {.draft = ".draft"}));
  ASSERT_TRUE(stream->Append({"123"}).ok());
  ASSERT_TRUE(stream->Flush().ok());
  served.cluster.Put("/a.draft", "12");
  EXPECT_FALSE(stream->Commit().ok());
  EXPECT_FALSE(served.cluster.Get("/a").has_value());
  EXPECT_FALSE(stream->Append({"4"}).ok());
}

TEST(HdfsOutput, KnowsARenameWhoseReplyWasLost) {
  ServedCluster served;
  int renames = 0;
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (Parameter(request.url, "op") != "RENAME" || ++renames != 1) return std::nullopt;
    served.cluster.set_rule({});
    EXPECT_EQ(served.cluster.Answer(request).status, 200);
    FakeReply reply;
    reply.status = 0;
    reply.fault = Fault::kCut;
    return reply;
  });
  ASSERT_TRUE(served.files.Write("hdfs://nn/a", {"123"}).ok());
  EXPECT_EQ(served.cluster.Get("/a"), "123");
}

TEST(HdfsOutput, SaysWhenHdfsRefusesTheName) {
  ServedCluster served;
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (Parameter(request.url, "op") != "RENAME") return std::nullopt;
    FakeReply reply;
    reply.body = "{\"boolean\":false}";
    return reply;
  });
  EXPECT_EQ(KindOf(served.files.Write("hdfs://nn/a", {"123"})), ErrorKind::kUnsupported);
  EXPECT_TRUE(served.cluster.paths().empty());
}

TEST(HdfsOutput, WritesNoFolder) {
  ServedCluster served;
  served.cluster.MakeFolder("/f");
  EXPECT_EQ(KindOf(served.files.Create("hdfs://nn/f", {}).status()), ErrorKind::kNotFound);
}

TEST(HdfsOutput, RemovesFilesAlone) {
  ServedCluster served;
  served.cluster.Put("/f/a", "x");
  EXPECT_TRUE(served.files.Remove("hdfs://nn/f/a").ok());
  EXPECT_TRUE(served.files.Remove("hdfs://nn/f/a").ok());
  EXPECT_TRUE(served.cluster.paths().empty());
  EXPECT_FALSE(served.files.Remove("hdfs://nn/f").ok());
}

TEST(HdfsOutput, MayBeOfThisUserAlone) {
  ServedCluster served;
  ASSERT_TRUE(served.files.Write("hdfs://nn/a", {"x"}, {.own = true}).ok());
  EXPECT_FALSE(served.Urls("permission=600").empty());
}

}  // namespace
}  // namespace headrace::hdfs
