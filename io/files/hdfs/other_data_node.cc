#include "io/files/hdfs/other_data_node.h"

#include <memory>
#include <utility>

#include "core/text.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/hdfs/name_node_dialogue.h"

namespace headrace::hdfs {
namespace {

// A redirect has few bytes; a gateway that gives the file itself is not asked.
constexpr int64_t kMostOfRedirect = int64_t{64} << 10;

class OtherDataNode : public NameNodeDialogue {
 public:
  OtherDataNode(const Cluster* cluster, Operation open, std::string slow)
      : NameNodeDialogue(cluster, std::move(open)), slow_(std::move(slow)) {
    Exclude(slow_, 0);
  }

  http::Call Next() override {
    http::Call call = NameNodeDialogue::Next();
    // Later it would be of no use.
    call.most_attempts = 1;
    return call;
  }

  Step Take(absl::StatusOr<http::Reply> reply) override {
    if (reply.ok() && reply->head.status < 400) {
      absl::StatusOr<std::string> location = RedirectOf(*reply);
      if (location.ok() && AuthorityOf(*location) != slow_) url_ = *std::move(location);
    }
    return End(std::move(reply));
  }

  // "": there is none.
  const std::string& url() const { return url_; }

 private:
  const std::string slow_;
  std::string url_;
};

}  // namespace

void FindOtherDataNode(HdfsClient& client, const Operation& piece, int64_t received, const std::string& slow,
                       http::Call::FoundHedge found) {
  const int64_t left = static_cast<int64_t>(piece.target.size()) - received;
  // Without a target, as no bytes are wanted of the NameNode.
  Operation open = {.name = piece.name,
                    .path = piece.path,
                    .query = Cat(piece.query, "&offset=", piece.offset + received, "&length=", left),
                    .most_body = kMostOfRedirect};
  const auto other = std::make_shared<OtherDataNode>(client.cluster(), std::move(open), slow);
  client.Ask(other, [other, found = std::move(found)] {
    if (other->url().empty()) return;
    http::Request request;
    request.url = other->url();
    found(std::move(request));
  });
}

}  // namespace headrace::hdfs
