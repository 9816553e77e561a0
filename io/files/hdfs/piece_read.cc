#include "io/files/hdfs/piece_read.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/hdfs/other_data_node.h"

namespace headrace::hdfs {
namespace {

constexpr int64_t kPieceBytes = int64_t{16} << 20;
// DataNodes that fail in succession, before the error is the cluster's.
constexpr int kMostDataNodes = 20;
// How often the NameNode is asked again, at most, when it names a DataNode that failed.
constexpr int kMostSkips = 6;

}  // namespace

// What is known of the call to a DataNode, also on the event thread.
struct PieceRead::AtDataNode {
  std::string url;
  bool asked = false;
  int64_t received = 0;
};

int64_t PieceBytes(int64_t offset, int64_t bytes, int64_t block_size) {
  int64_t most = kPieceBytes - offset % kPieceBytes;
  if (block_size > 0) most = std::min(most, block_size - offset % block_size);
  return std::min(bytes, most);
}

PieceRead::PieceRead(HdfsClient& client, std::string name, std::string path, int64_t offset, absl::Span<uint8_t> target)
    : NameNodeDialogue(
          client.cluster(),
          {.name = std::move(name), .path = std::move(path), .query = "op=OPEN", .offset = offset, .target = target}),
      client_(client.weak_from_this()) {}

http::Call PieceRead::Next() { return data_node_ == nullptr ? NameNodeDialogue::Next() : NextAtDataNode(); }

PieceRead::Step PieceRead::Take(absl::StatusOr<http::Reply> reply) {
  return data_node_ == nullptr ? TakeNameNode(std::move(reply)) : TakeDataNode(std::move(reply));
}

http::Call PieceRead::NextAtDataNode() {
  http::Call call;
  call.name = operation().name;
  call.purpose = http::Purpose::kRead;
  call.request.url = data_node_->url;
  call.target = operation().target;
  call.prepare_resumes = true;
  // A DataNode is asked once: the next attempt is made elsewhere, from where this one came to.
  call.prepare = [at = data_node_](http::Request&, int64_t received) {
    at->received = received;
    if (!std::exchange(at->asked, true)) return absl::OkStatus();
    return BeyondRow(ResourceError("it does not answer, or breaks off"));
  };
  call.judge = [](const http::Head&, std::string_view) { return http::Verdict::kResult; };
  call.may_hedge = true;
  call.find_hedge = [weak = client_, piece = operation(), url = data_node_->url](int64_t received,
                                                                                 http::Call::FoundHedge found) {
    const std::shared_ptr<HdfsClient> client = weak.lock();
    if (client != nullptr) FindOtherDataNode(*client, piece, received, std::string(AuthorityOf(url)), std::move(found));
  };
  return call;
}

PieceRead::Step PieceRead::TakeNameNode(absl::StatusOr<http::Reply> reply) {
  if (const std::optional<Step> step = TakeFailure(reply)) return *step;
  if (reply->head.status == 200) return TakeBytes(*reply);
  absl::StatusOr<std::string> location = RedirectOf(*reply);
  if (!location.ok()) return End(std::move(location).status());
  data_node_ = std::make_shared<AtDataNode>();
  data_node_->url = *std::move(location);
  return Step::kCall;
}

PieceRead::Step PieceRead::TakeBytes(const http::Reply& reply) {
  const auto bytes = static_cast<int64_t>(operation().target.size());
  if (reply.received == bytes) return End(http::Reply());
  return End(DataError(operation().name, ": the file ends at byte ", operation().offset + reply.received,
                       ", where it was longer when it was listed; it changed since then"));
}

void PieceRead::GoOnAfter(int64_t bytes) {
  if (bytes == 0) return;
  operation().offset += bytes;
  operation().target.remove_prefix(static_cast<size_t>(bytes));
  failures_ = 0;
}

PieceRead::Step PieceRead::Elsewhere(std::string why) {
  const std::shared_ptr<AtDataNode> failed = std::exchange(data_node_, nullptr);
  const std::string data_node(AuthorityOf(failed->url));
  GoOnAfter(failed->received);
  if (operation().target.empty()) return End(http::Reply());
  if (++failures_ > kMostDataNodes) {
    return End(BeyondRow(ResourceError(operation().name,
                                       ": the DataNodes do not give its bytes; check them and the network; "
                                       "the last that was asked is ",
                                       data_node, ": ", why)));
  }
  // The more have failed, the longer the wait before one of them is asked again.
  Exclude(data_node, std::min(failures_ + 1, kMostSkips));
  return Step::kCall;
}

PieceRead::Step PieceRead::TakeDataNode(absl::StatusOr<http::Reply> reply) {
  if (!reply.ok()) {
    const ErrorKind kind = KindOf(reply.status());
    // More bytes than were asked for, or a wrong certificate, are no better elsewhere.
    if (kind != ErrorKind::kResource) return End(std::move(reply));
    return Elsewhere(std::string(reply.status().message()));
  }
  if (reply->head.status == 200) return TakeBytes(*reply);
  const RemoteException exception = ParseRemoteException(reply->body);
  absl::Status error = RemoteError(operation().name, reply->head.status, exception);
  switch (FaultOf(reply->head.status, exception)) {
    case RemoteFault::kLogin:
      data_node_ = nullptr;
      return LoginOrEnd(std::move(error));
    case RemoteFault::kMissing:
    case RemoteFault::kBeyondEnd:
    case RemoteFault::kDenied:
      return End(std::move(error));
    default:
      return Elsewhere(std::string(error.message()));
  }
}

}  // namespace headrace::hdfs
