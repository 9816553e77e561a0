#include "io/files/hdfs/hdfs_client.h"

#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace::hdfs {
namespace {

Operation StatusOperation(const std::string& name, const std::string& path) {
  return {.name = name, .path = path, .query = "op=GETFILESTATUS"};
}

absl::StatusOr<HdfsStatus> StatusOfReply(const std::string& name, absl::StatusOr<http::Reply> reply) {
  if (!reply.ok()) return std::move(reply).status();
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

void HdfsClient::Start(std::shared_ptr<Dialogue> dialogue, EndedBy cancellation,
                       std::function<void(absl::Status)> done) {
  Go(std::move(dialogue), cancellation, std::move(done));
}

void HdfsClient::Go(std::shared_ptr<Dialogue> dialogue, const EndedBy& cancellation,
                    std::function<void(absl::Status)> done) {
  if (cancellation != nullptr && cancellation->cancelled()) return done(StopSignal::Error());
  http::Call call = dialogue->Next();
  auto take = [this, dialogue, cancellation, done](absl::StatusOr<http::Reply> reply) {
    switch (dialogue->Take(std::move(reply))) {
      case Dialogue::Step::kCall:
        return Go(dialogue, cancellation, done);
      case Dialogue::Step::kLogin:
        return login_.StartRenew(dialogue->pass(), [this, dialogue, cancellation, done](absl::Status renewed) {
          if (!renewed.ok()) return done(std::move(renewed));
          Go(dialogue, cancellation, done);
        });
      case Dialogue::Step::kEnd:
        return done(absl::OkStatus());
    }
  };
  const http::HttpClient::Id id = client_.Start(std::move(call), std::move(take));
  if (cancellation != nullptr && id != 0) cancellation->Add([this, id] { client_.Cancel(id); });
}

void HdfsClient::Ask(std::shared_ptr<Dialogue> dialogue, std::function<void()> done) {
  client_.Start(dialogue->Next(),
                [self = shared_from_this(), dialogue, done = std::move(done)](absl::StatusOr<http::Reply> reply) {
                  dialogue->Take(std::move(reply));
                  done();
                });
}

absl::StatusOr<HdfsStatus> HdfsClient::Status(const std::string& name, const std::string& path) {
  NameNodeDialogue dialogue(&cluster_, StatusOperation(name, path));
  HEADRACE_RETURN_IF_ERROR(Run(dialogue));
  return StatusOfReply(name, std::move(dialogue.result()));
}

void HdfsClient::StartStatus(const std::string& name, const std::string& path, EndedBy cancellation,
                             std::function<void(absl::StatusOr<HdfsStatus>)> done) {
  auto dialogue = std::make_shared<NameNodeDialogue>(&cluster_, StatusOperation(name, path));
  Start(dialogue, std::move(cancellation), [dialogue, name, done = std::move(done)](absl::Status ended) {
    if (!ended.ok()) return done(std::move(ended));
    done(StatusOfReply(name, std::move(dialogue->result())));
  });
}

}  // namespace headrace::hdfs
