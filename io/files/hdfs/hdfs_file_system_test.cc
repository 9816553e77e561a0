#include "io/files/hdfs/hdfs_file_system.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "core/tensor.h"
#include "io/files/cancellation.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/hdfs/piece_read.h"
#include "io/files/hdfs/testing/served_cluster.h"
#include "io/files/http/awaited_result.h"

namespace headrace::hdfs {
namespace {

using http::FakeReply;
using http::FakeRequest;
using http::Fault;

std::string Bytes(size_t count) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

bool IsAtDataNode(const FakeRequest& request) { return request.url.find("//dn") != std::string::npos; }

FakeReply FaultReply(Fault fault) {
  FakeReply reply;
  reply.status = 0;
  reply.fault = fault;
  return reply;
}

absl::StatusOr<std::string> ReadStarted(const ServedCluster& served, const std::string& path,
                                        const ListedFile& listed) {
  http::AwaitedResult<Tensor> read;
  served.files.StartRead(path, listed, [&read](auto result) { read.Set(std::move(result)); });
  const absl::StatusOr<Tensor> bytes = read.Wait([] {});
  if (!bytes.ok()) return bytes.status();
  return std::string(bytes->bytes_value());
}

TEST(HdfsFileSystem, ReadsWholeFiles) {
  ServedCluster served;
  served.cluster.Put("/a b/ü%.bin", Bytes(1000));
  const auto read = served.files.Read("hdfs://nn/a b/ü%.bin");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bytes_value(), Bytes(1000));
  EXPECT_EQ(served.Urls("user.name=alice").size(), 4u);  // status, OPEN, the DataNode, status
}

TEST(HdfsFileSystem, ReadsListedFilesWithoutAskingFirst) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(100));
  EXPECT_EQ(*ReadStarted(served, "hdfs://nn/a", {.size = 100}), Bytes(100));
  EXPECT_EQ(served.transport.requests().size(), 2u);
  EXPECT_EQ(served.files.counters().reads, 1);
}

TEST(HdfsFileSystem, ReadsEmptyFiles) {
  ServedCluster served;
  served.cluster.Put("/a", "");
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), "");
  EXPECT_EQ(*ReadStarted(served, "hdfs://nn/a", {.size = 0}), "");
}

TEST(HdfsFileSystem, ReadsRangesOnlyWithinTheFile) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(1000));
  const auto file = served.files.Open("hdfs://nn/a");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*(*file)->Size(), 1000);
  std::string target(100, '\0');
  const absl::Span<uint8_t> span(reinterpret_cast<uint8_t*>(target.data()), target.size());
  EXPECT_EQ(*(*file)->ReadAt(500, span), 100);
  EXPECT_EQ(target, Bytes(1000).substr(500, 100));
  EXPECT_EQ(*(*file)->ReadAt(990, span), 10);
  EXPECT_EQ(*(*file)->ReadAt(1000, span), 0);
  EXPECT_EQ(*(*file)->ReadAt(5000, span), 0);
  EXPECT_FALSE((*file)->ReadAt(-1, span).ok());
  http::AwaitedResult<int64_t> read;
  (*file)->StartReadAt(10, span, [&read](auto result) { read.Set(std::move(result)); });
  EXPECT_EQ(*read.Wait([] {}), 100);
  EXPECT_EQ(target, Bytes(1000).substr(10, 100));
}

TEST(HdfsFileSystem, CutsReadsAtBlocks) {
  EXPECT_EQ(PieceBytes(0, 1000, 64), 64);
  EXPECT_EQ(PieceBytes(60, 1000, 64), 4);
  EXPECT_EQ(PieceBytes(60, 3, 64), 3);
  EXPECT_EQ(PieceBytes(0, int64_t{1} << 30, 0), 16 << 20);
  EXPECT_EQ(PieceBytes(5, int64_t{1} << 30, int64_t{128} << 20), (16 << 20) - 5);
}

TEST(HdfsFileSystem, ReadsLargeFilesByPieces) {
  ServedCluster served;
  const std::string bytes = Bytes(size_t{50} << 20);
  served.cluster.Put("/a", bytes);
  EXPECT_TRUE(*ReadStarted(served, "hdfs://nn/a", {.size = int64_t{50} << 20}) == bytes);
  EXPECT_EQ(served.Urls("//dn").size(), 4u);
}

TEST(HdfsFileSystem, PassesOverADataNodeThatIsDead) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(1000));
  served.cluster.set_rule([](const FakeRequest& request) -> std::optional<FakeReply> {
    if (request.url.find("//dn1") == std::string::npos) return std::nullopt;
    return FaultReply(Fault::kRefused);
  });
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(*ReadStarted(served, "hdfs://nn/a", {.size = 1000}), Bytes(1000));
  }
  EXPECT_FALSE(served.Urls("excludedatanodes=dn1%3A9864%2Cdn1").empty());
}

// The reply of the next DataNode that is asked, as a rule of a cluster.
FakeCluster::Rule OfOneDataNode(FakeReply reply) {
  return [reply, given = std::make_shared<bool>(false)](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request) || std::exchange(*given, true)) return std::nullopt;
    return reply;
  };
}

TEST(HdfsFileSystem, AsksAnotherDataNodeWhereOneIsSlow) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(1000));
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(ReadStarted(served, "hdfs://nn/a", {.size = 1000}).ok());
  FakeReply never;
  never.status = 0;
  never.stalls = true;
  served.cluster.set_rule(OfOneDataNode(never));
  EXPECT_EQ(*ReadStarted(served, "hdfs://nn/a", {.size = 1000}), Bytes(1000));
  EXPECT_EQ(served.files.counters().hedges, 1);
  const std::vector<std::string> asked = served.Urls("//dn");
  ASSERT_EQ(asked.size(), 202u);
  EXPECT_NE(asked[200].substr(0, asked[200].find('?')), asked[201].substr(0, asked[201].find('?')));
}

// The replies of the next two DataNodes that are asked, as a rule of a cluster.
FakeCluster::Rule OfTwoDataNodes(FakeReply first, FakeReply second) {
  return [=, given = std::make_shared<int>(0)](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request) || *given == 2) return std::nullopt;
    return (*given)++ == 0 ? first : second;
  };
}

TEST(HdfsFileSystem, ADataNodeThatCannotBeAskedTakesNothingFromASlowOne) {
  for (const Fault fault : {Fault::kTls, Fault::kNotSent}) {
    ServedCluster served;
    served.cluster.Put("/a", Bytes(1000));
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(ReadStarted(served, "hdfs://nn/a", {.size = 1000}).ok());
    FakeReply late;
    late.body = Bytes(1000);
    late.after_ns = int64_t{20} * 1'000'000'000;
    served.cluster.set_rule(OfTwoDataNodes(late, FaultReply(fault)));
    const auto read = ReadStarted(served, "hdfs://nn/a", {.size = 1000});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, Bytes(1000));
    EXPECT_EQ(served.files.counters().hedges, 1);
    EXPECT_EQ(served.Urls("//dn").size(), 202u);
  }
}

TEST(HdfsFileSystem, ASlowDataNodeThatBreaksOffIsTheOneThatIsPassedOver) {
  for (const Fault fault : {Fault::kTls, Fault::kNotSent}) {
    ServedCluster served;
    served.cluster.Put("/a", Bytes(1000));
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(ReadStarted(served, "hdfs://nn/a", {.size = 1000}).ok());
    FakeReply cut;
    cut.body = Bytes(1000);
    cut.after_ns = int64_t{20} * 1'000'000'000;
    cut.fault = Fault::kCut;
    cut.cut_at = 300;
    FakeReply lost = FaultReply(fault);
    lost.after_ns = int64_t{30} * 1'000'000'000;
    served.cluster.set_rule(OfTwoDataNodes(cut, lost));
    const auto read = ReadStarted(served, "hdfs://nn/a", {.size = 1000});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, Bytes(1000));
    const std::vector<std::string> asked = served.Urls("//dn");
    ASSERT_EQ(asked.size(), 203u);
    EXPECT_EQ(Parameter(asked[202], "offset"), "300");
    const std::string excluded = Parameter(served.Urls("//nn").back(), "excludedatanodes");
    EXPECT_TRUE(excluded.starts_with(AuthorityOf(asked[200]))) << excluded;
  }
}

TEST(HdfsFileSystem, WaitsForASlowDataNodeThatAloneHasTheBytes) {
  ServedCluster served(TwoNameNodes(), 1);
  served.cluster.Put("/a", Bytes(1000));
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(ReadStarted(served, "hdfs://nn/a", {.size = 1000}).ok());
  FakeReply late;
  late.body = Bytes(1000);
  late.after_ns = int64_t{20} * 1'000'000'000;
  served.cluster.set_rule(OfOneDataNode(late));
  EXPECT_EQ(*ReadStarted(served, "hdfs://nn/a", {.size = 1000}), Bytes(1000));
  EXPECT_EQ(served.files.counters().hedges, 0);
  EXPECT_EQ(served.Urls("//dn").size(), 201u);
}

TEST(HdfsFileSystem, GoesOnElsewhereFromTheByteThatWasReached) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(1000));
  int cuts = 0;
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request) || cuts == 2) return std::nullopt;
    FakeReply reply;
    const auto offset = static_cast<size_t>(std::stoll(Parameter(request.url, "offset")));
    reply.body = Bytes(1000).substr(offset);
    reply.fault = Fault::kCut;
    reply.cut_at = cuts++ == 0 ? 300 : 0;
    return reply;
  });
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), Bytes(1000));
  EXPECT_EQ(served.Urls("//dn").size(), 3u);
  EXPECT_EQ(Parameter(served.Urls("//dn").back(), "offset"), "300");
  EXPECT_EQ(Parameter(served.Urls("//dn").back(), "length"), "700");
}

TEST(HdfsFileSystem, AsksAllDataNodesAgainWhenNoneIsLeft) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(10));
  int refused = 0;
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request) || ++refused > 4) return std::nullopt;
    return FaultReply(Fault::kRefused);
  });
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), Bytes(10));
}

TEST(HdfsFileSystem, WaitsForTheOnlyDataNode) {
  ServedCluster served(TwoNameNodes(), 1);
  served.cluster.set_excludes(false);
  served.cluster.Put("/a", Bytes(10));
  int refused = 0;
  int64_t waited_ns = 0;
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    waited_ns = request.at_ns;
    if (!IsAtDataNode(request) || ++refused > 7) return std::nullopt;
    return FaultReply(Fault::kRefused);
  });
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), Bytes(10));
  EXPECT_GT(waited_ns, int64_t{1} * 1'000'000'000);
}

TEST(HdfsFileSystem, GivesUpOnDataNodesThatAreAllDead) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(10));
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request)) return std::nullopt;
    return FaultReply(Fault::kRefused);
  });
  const absl::Status error = served.files.Read("hdfs://nn/a").status();
  EXPECT_EQ(KindOf(error), ErrorKind::kResource);
  EXPECT_TRUE(IsBeyondRow(error));
  EXPECT_NE(error.message().find("hdfs://nn/a"), std::string::npos);
}

TEST(HdfsFileSystem, AsksTheNameNodeThatIsActive) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(10));
  served.cluster.set_rule([](const FakeRequest& request) -> std::optional<FakeReply> {
    if (request.url.find("//nn1") == std::string::npos) return std::nullopt;
    return ExceptionReply(403, "StandbyException", "Operation category READ is not supported in state standby");
  });
  EXPECT_TRUE(served.files.Stat("hdfs://nn/a").ok());
  EXPECT_TRUE(served.files.Stat("hdfs://nn/a").ok());
  EXPECT_EQ(served.Urls("//nn1").size(), 1u);  // it is remembered
}

TEST(HdfsFileSystem, PassesOverANameNodeThatDoesNotAnswer) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(10));
  served.cluster.set_rule([](const FakeRequest& request) -> std::optional<FakeReply> {
    if (request.url.find("//nn1") == std::string::npos) return std::nullopt;
    return FaultReply(Fault::kRefused);
  });
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), Bytes(10));
  EXPECT_EQ(served.Urls("//nn1").size(), 1u);
}

TEST(HdfsFileSystem, WaitsWhileTheClusterIsInSafeMode) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(10));
  int refused = 0;
  served.cluster.set_rule([&](const FakeRequest&) -> std::optional<FakeReply> {
    if (++refused > 12) return std::nullopt;
    return ExceptionReply(403, "SafeModeException", "Zero blocklocations for /a. Name node is in safe mode.");
  });
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), Bytes(10));
  served.cluster.set_rule([&](const FakeRequest&) -> std::optional<FakeReply> {
    return ExceptionReply(403, "SafeModeException", "Name node is in safe mode.");
  });
  const absl::Status error = served.files.Read("hdfs://nn/a").status();
  EXPECT_EQ(KindOf(error), ErrorKind::kResource);
  EXPECT_NE(error.message().find("safe mode"), std::string::npos) << error;
}

TEST(HdfsFileSystem, ReadsThroughHttpFs) {
  ServedCluster served;
  const std::string bytes = Bytes(1000);
  served.cluster.Put("/a", bytes);
  int cuts = 0;
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (Parameter(request.url, "op") != "OPEN") return std::nullopt;
    FakeReply reply;
    const auto offset = static_cast<size_t>(std::stoll(Parameter(request.url, "offset")));
    reply.body = bytes.substr(offset, static_cast<size_t>(std::stoll(Parameter(request.url, "length"))));
    if (cuts++ == 0) {
      reply.fault = Fault::kCut;
      reply.cut_at = 123;
    }
    return reply;
  });
  EXPECT_EQ(served.files.Read("hdfs://nn/a")->bytes_value(), bytes);
  EXPECT_EQ(Parameter(served.Urls("op=OPEN").back(), "offset"), "123");
}

TEST(HdfsFileSystem, NamesAFileThatChangedBeforeItsBytesAreGiven) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(100));
  const ListedFile listed = served.Listed("hdfs://nn/a");
  EXPECT_EQ(*ReadStarted(served, "hdfs://nn/a", listed), Bytes(100));
  const auto file = served.files.Open("hdfs://nn/a", listed);
  served.cluster.Put("/a", Bytes(200).substr(100));
  for (const absl::Status& error : {ReadStarted(served, "hdfs://nn/a", listed).status(), [&] {
                                      std::vector<uint8_t> target(10);
                                      return (*file)->ReadAt(0, absl::MakeSpan(target)).status();
                                    }()}) {
    EXPECT_EQ(KindOf(error), ErrorKind::kData);
    EXPECT_NE(error.message().find("hdfs://nn/a changed since it was listed"), std::string::npos) << error;
  }
}

TEST(HdfsFileSystem, NamesAFileThatIsShorterOrGone) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(50));
  EXPECT_EQ(KindOf(ReadStarted(served, "hdfs://nn/a", {.size = 100}).status()), ErrorKind::kData);
  served.cluster.Drop("/a");
  EXPECT_EQ(KindOf(ReadStarted(served, "hdfs://nn/a", {.size = 100}).status()), ErrorKind::kNotFound);
}

TEST(HdfsFileSystem, RefusesMoreBytesThanWereAskedFor) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(50));
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request)) return std::nullopt;
    FakeReply reply;
    reply.body = Bytes(51);
    return reply;
  });
  EXPECT_EQ(KindOf(served.files.Read("hdfs://nn/a").status()), ErrorKind::kData);
}

TEST(HdfsFileSystem, SaysWhatIsMissing) {
  ServedCluster served;
  served.cluster.Put("/photos/cat.jpg", "x");
  const absl::Status missing = served.files.Read("hdfs://nn/photos/cta.jpg").status();
  EXPECT_EQ(KindOf(missing), ErrorKind::kNotFound);
  EXPECT_NE(missing.message().find("did you mean hdfs://nn/photos/cat.jpg?"), std::string::npos) << missing;
  EXPECT_EQ(KindOf(served.files.Read("hdfs://nn/photos").status()), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(served.files.Stat("hdfs://nn/other").status()), ErrorKind::kNotFound);
}

TEST(HdfsFileSystem, TellsSizesAndVersions) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(5));
  const auto first = served.files.Stat("hdfs://nn/a");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->size, 5);
  EXPECT_NE(first->version, "");
  served.cluster.Put("/a", Bytes(5));
  EXPECT_NE(served.files.Stat("hdfs://nn/a")->version, first->version);
  EXPECT_EQ(served.files.Stat("hdfs://nn/")->type, EntryType::kFolder);
  EXPECT_FALSE(served.files.far()->conditional_reads());
}

TEST(HdfsFileSystem, RefusesToLeaveTls) {
  HdfsFileSystem::Options options = TwoNameNodes();
  options.settings.endpoint = "https://nn1:9871";
  options.settings.ca_file = "/dev/null";
  ServedCluster served(options);
  served.cluster.Put("/a", Bytes(5));
  const absl::Status error = ReadStarted(served, "hdfs://nn/a", {.size = 5}).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kData) << error;
  EXPECT_TRUE(served.Urls("//dn").empty());
}

TEST(HdfsFileSystem, EndsReadsThatAreStopped) {
  ServedCluster served;
  served.cluster.Put("/a", Bytes(5));
  std::atomic<bool> stop{false};
  served.cluster.set_rule([&](const FakeRequest& request) -> std::optional<FakeReply> {
    if (!IsAtDataNode(request)) return std::nullopt;
    stop = true;
    return FaultReply(Fault::kRefused);
  });
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(served.files.Read("hdfs://nn/a").status()), ErrorKind::kClosed);
}

// AddressSanitizer would see a write to memory that is gone.
TEST(HdfsFileSystem, EndsReadsUnderWayThatNobodyWaitsFor) {
  constexpr size_t kSize = 1000;
  FakeCluster cluster;
  cluster.Put("/a", Bytes(kSize));
  http::FakeTransport transport(
      [&](const FakeRequest& request) {
        FakeReply reply = cluster.Answer(request);
        reply.stalls = IsAtDataNode(request);
        reply.cut_at = 100;
        return reply;
      },
      http::FakeTransport::Time::kByHand);
  const HdfsFileSystem files(&transport, TwoNameNodes());
  const auto opened = files.Open("hdfs://nn/a", {.size = kSize});
  ASSERT_TRUE(opened.ok()) << opened.status();
  absl::Status whole;
  absl::Status range;
  auto target = std::make_shared<std::vector<uint8_t>>(kSize);
  const std::weak_ptr<std::vector<uint8_t>> lives = target;
  const auto cancellation = std::make_shared<Cancellation>();
  {
    const Cancellation::Scope scope(cancellation);
    files.StartRead("hdfs://nn/a", {.size = kSize}, [&](const absl::StatusOr<Tensor>& read) { whole = read.status(); });
    (*opened)->StartReadAt(0, absl::MakeSpan(*target),
                           [&range, target](const absl::StatusOr<int64_t>& read) { range = read.status(); });
  }
  target.reset();
  transport.Advance(1);
  EXPECT_EQ(transport.outstanding(), 2);
  cancellation->Cancel();
  EXPECT_FALSE(lives.expired());
  transport.Advance(1);
  EXPECT_EQ(KindOf(whole), ErrorKind::kClosed) << whole;
  EXPECT_EQ(KindOf(range), ErrorKind::kClosed) << range;
  EXPECT_EQ(transport.outstanding(), 0);
  EXPECT_EQ(transport.cancelled(), 2);
  EXPECT_TRUE(lives.expired());
}

}  // namespace
}  // namespace headrace::hdfs
