#include "io/files/files_in_turn.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/cancellation.h"
#include "io/files/completion.h"
#include "io/files/expected_files.h"
#include "io/files/far_of.h"

namespace headrace {
namespace {

constexpr size_t kMostFilesAtOnce = 64;
// Of files that were asked for, but for one.
constexpr int64_t kMostAskedBytes = int64_t{64} << 20;

}  // namespace

struct FilesInTurn::Reply {
  const int64_t bytes;  // of the file, by its listing
  Completion<Tensor> read = {};
  Cancellation cancellation = {};

  void Drop() {
    if (!read.is_given()) cancellation.Cancel();
  }
};

FilesInTurn::FilesInTurn(const FileSystem& files, std::vector<std::string> paths, int64_t most_bytes)
    : files_(listings_.Over(&files)), paths_(std::move(paths)), most_bytes_(most_bytes) {
  ExpectFiles(*files_, paths_);
}

FilesInTurn::~FilesInTurn() {
  for (const std::shared_ptr<Reply>& left : replies_) left->Drop();
}

absl::StatusOr<Tensor> FilesInTurn::Next() {
  if (StopSignal::Raised()) return StopSignal::Error();
  while (begun_ < paths_.size() && HasRoom()) Begin();
  const std::shared_ptr<Reply> reply = std::move(replies_.front());
  replies_.pop_front();
  asked_bytes_ -= reply->bytes;
  absl::StatusOr<Tensor> file = reply->read.Wait();
  if (!file.ok()) reply->Drop();
  return file;
}

bool FilesInTurn::HasRoom() const {
  return replies_.empty() || (!away_ && replies_.size() < MostAtOnce() && asked_bytes_ < kMostAskedBytes);
}

// Files of this machine are read at once.
size_t FilesInTurn::MostAtOnce() const {
  return std::min(kMostFilesAtOnce, static_cast<size_t>(std::max(1, MostOutstanding(*files_, paths_[begun_]))));
}

void FilesInTurn::Begin() {
  const std::string& path = paths_[begun_++];
  const absl::StatusOr<FileStat> stat = files_->Stat(path);
  const int64_t bytes = stat.ok() ? std::max<int64_t>(stat->size, 0) : 0;
  const auto reply = std::shared_ptr<Reply>(new Reply{bytes});
  replies_.push_back(reply);
  asked_bytes_ += bytes;
  away_ = IsBeyondRow(stat.status());
  if (!stat.ok()) return reply->read.Give(stat.status());
  if (bytes > most_bytes_) {
    return reply->read.Give(
        DataError("the file has ", bytes, " bytes, more than the ", most_bytes_, " that one may have here"));
  }
  const Cancellation::Scope scope(std::shared_ptr<Cancellation>(reply, &reply->cancellation));
  files_->StartRead(path, ListedFile(), [reply](absl::StatusOr<Tensor> read) { reply->read.Give(std::move(read)); });
}

}  // namespace headrace
