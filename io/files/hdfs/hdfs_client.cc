#include "io/files/hdfs/hdfs_client.h"

#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace::hdfs {
namespace {

Operation StatusOperation(const std::string& name, const std::string& path) {
  return {.name = name, .path = path, .query = "op=GETFILESTATUS"};
}

absl::StatusOr<HdfsStatus> StatusOfReply(const std::string& name, const absl::StatusOr<http::Reply>& reply) {
  HEADRACE_RETURN_IF_ERROR(reply.status());
  absl::StatusOr<HdfsStatus> status = ParseFileStatus(reply->body);
  if (!status.ok()) return Reworded(status.status(), Cat(name, ": ", ToStd(status.status().message())));
  return status;
}

}  // namespace

HdfsClient::HdfsClient(http::Transport* transport, http::Reach reach, std::vector<std::string> name_nodes,
                       LoginSettings login)
    : name_nodes_(std::move(name_nodes)),
      client_(transport, std::move(reach)),
      login_(std::move(login), &client_, &name_nodes_),
      cluster_{&name_nodes_, &login_, transport} {}

absl::Status HdfsClient::Run(Dialogue& dialogue) {
  while (true) {
    if (StopSignal::Raised()) return StopSignal::Error();
    switch (dialogue.Take(client_.Run(dialogue.Next()))) {
      case Dialogue::Step::kCall:
        break;
      case Dialogue::Step::kLogin:
        HEADRACE_RETURN_IF_ERROR(login_.Renew(dialogue.pass()));
        break;
      case Dialogue::Step::kEnd:
        return absl::OkStatus();
    }
  }
}

void HdfsClient::Start(std::shared_ptr<Dialogue> dialogue, std::function<void(absl::Status)> done) {
  Go(std::move(dialogue), std::move(done));
}

void HdfsClient::Go(std::shared_ptr<Dialogue> dialogue, std::function<void(absl::Status)> done) {
  http::Call call = dialogue->Next();
  client_.Start(std::move(call), [this, dialogue, done](absl::StatusOr<http::Reply> reply) {
    switch (dialogue->Take(std::move(reply))) {
      case Dialogue::Step::kCall:
        return Go(dialogue, done);
      case Dialogue::Step::kLogin:
        return login_.StartRenew(dialogue->pass(), [this, dialogue, done](absl::Status renewed) {
          if (!renewed.ok()) return done(std::move(renewed));
          Go(dialogue, done);
        });
      case Dialogue::Step::kEnd:
        return done(absl::OkStatus());
    }
  });
}

absl::StatusOr<HdfsStatus> HdfsClient::Status(const std::string& name, const std::string& path) {
  NameNodeDialogue dialogue(&cluster_, StatusOperation(name, path));
  HEADRACE_RETURN_IF_ERROR(Run(dialogue));
  return StatusOfReply(name, dialogue.result());
}

void HdfsClient::StartStatus(const std::string& name, const std::string& path,
                             std::function<void(absl::StatusOr<HdfsStatus>)> done) {
  auto dialogue = std::make_shared<NameNodeDialogue>(&cluster_, StatusOperation(name, path));
  Start(dialogue, [dialogue, name, done = std::move(done)](absl::Status ended) {
    if (!ended.ok()) return done(std::move(ended));
    done(StatusOfReply(name, dialogue->result()));
  });
}

}  // namespace headrace::hdfs
