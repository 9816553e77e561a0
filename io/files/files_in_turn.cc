#include "io/files/files_in_turn.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/expected_files.h"
#include "io/files/far_of.h"

namespace headrace {
namespace {

constexpr size_t kMostFilesAtOnce = 64;
// Of files that were asked for, but for one.
constexpr int64_t kMostAskedBytes = int64_t{64} << 20;

}  // namespace

class FilesInTurn::Reply {
 public:
  explicit Reply(int64_t bytes) : bytes_(bytes) {}

  // That of the file, by its listing.
  int64_t bytes() const { return bytes_; }

  void Set(absl::StatusOr<Tensor> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    result_ = std::move(result);
    came_.notify_all();
  }

  absl::StatusOr<Tensor> Take() {
    constexpr std::chrono::milliseconds kInterval{50};
    std::unique_lock<std::mutex> lock(mutex_);
    while (!came_.wait_for(lock, kInterval, [this] { return result_.has_value(); })) {
      if (StopSignal::Raised()) return StopSignal::Error();
    }
    return *std::move(result_);
  }

 private:
  const int64_t bytes_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<absl::StatusOr<Tensor>> result_;
};

FilesInTurn::FilesInTurn(const FileSystem& files, std::vector<std::string> paths, int64_t most_bytes)
    : files_(listings_.Over(&files)), paths_(std::move(paths)), most_bytes_(most_bytes) {
  ExpectFiles(*files_, paths_);
}

FilesInTurn::~FilesInTurn() = default;

absl::StatusOr<Tensor> FilesInTurn::Next() {
  if (StopSignal::Raised()) return StopSignal::Error();
  while (begun_ < paths_.size() && HasRoom()) Begin();
  const std::shared_ptr<Reply> reply = std::move(replies_.front());
  replies_.pop_front();
  asked_bytes_ -= reply->bytes();
  return reply->Take();
}

bool FilesInTurn::HasRoom() const {
  return replies_.empty() || (replies_.size() < MostAtOnce() && asked_bytes_ < kMostAskedBytes);
}

// Files of this machine are read at once.
size_t FilesInTurn::MostAtOnce() const {
  return std::min(kMostFilesAtOnce, static_cast<size_t>(std::max(1, MostOutstanding(*files_, paths_[begun_]))));
}

void FilesInTurn::Begin() {
  const std::string& path = paths_[begun_++];
  const absl::StatusOr<FileStat> stat = files_->Stat(path);
  const int64_t bytes = stat.ok() ? std::max<int64_t>(stat->size, 0) : 0;
  const auto reply = std::make_shared<Reply>(bytes);
  replies_.push_back(reply);
  asked_bytes_ += bytes;
  if (!stat.ok()) return reply->Set(stat.status());
  if (bytes > most_bytes_) {
    return reply->Set(
        DataError("the file has ", bytes, " bytes, more than the ", most_bytes_, " that one may have here"));
  }
  files_->StartRead(path, ListedFile(), [reply](absl::StatusOr<Tensor> read) { reply->Set(std::move(read)); });
}

}  // namespace headrace
