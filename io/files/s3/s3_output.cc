#include "io/files/s3/s3_output.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/s3/list_page.h"
#include "io/files/s3/store_reply.h"
#include "io/files/s3/upload_reply.h"

namespace headrace::s3 {
namespace {

constexpr std::chrono::milliseconds kAskForStop{50};
constexpr int64_t kAbortMs = 5000;

// The parts of an upload that are under way, which outlive a stream that is dropped.
class PartsUnderWay {
 public:
  void Begin(size_t number) {
    const std::lock_guard lock(mutex_);
    ++under_way_;
    etags_.resize(std::max(etags_.size(), number + 1));
  }
  void End(size_t number, absl::StatusOr<std::string> etag) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    if (etag.ok()) {
      etags_[number] = *std::move(etag);
    } else if (error_.ok()) {
      error_ = std::move(etag).status();
    }
    ended_.notify_all();
  }
  // Until at most `most` are under way; kClosed if the thread's StopSignal is raised.
  absl::Status WaitFor(int most) {
    std::unique_lock lock(mutex_);
    while (under_way_ > most && error_.ok()) {
      ended_.wait_for(lock, kAskForStop);
      if (StopSignal::Raised()) return StopSignal::Error();
    }
    return error_;
  }
  // Until none is under way, whatever came of them; false: it took too long.
  bool WaitForEnd(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, limit, [this] { return under_way_ == 0; });
  }
  std::vector<std::string> etags() const {
    const std::lock_guard lock(mutex_);
    return etags_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  int under_way_ = 0;
  std::vector<std::string> etags_;
  absl::Status error_;
};

class S3Output : public OutputStream {
 public:
  S3Output(ObjectPlace place, const OutputOptions& options, const PartLimits& limits)
      : place_(std::move(place)), head_(std::max<int64_t>(0, options.head)), limits_(limits) {}
  ~S3Output() override { Abort(); }

  absl::Status Append(absl::Span<const std::string_view> parts) override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    for (std::string_view part : parts) {
      while (!part.empty()) {
        if (filled_ == nullptr) filled_ = std::make_shared<std::string>();
        const size_t room = PartBytes() - filled_->size();
        const std::string_view taken = part.substr(0, room);
        filled_->append(taken);
        size_ += static_cast<int64_t>(taken.size());
        part.remove_prefix(taken.size());
        // The first part may be written again until Seal.
        if (filled_->size() == PartBytes()) HEADRACE_RETURN_IF_ERROR(Note(EndPart()));
      }
    }
    return absl::OkStatus();
  }

  int64_t size() const override { return size_; }

  absl::Status Rewrite(int64_t offset, std::string_view bytes) override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    const int64_t end = std::min(head_, size_);
    if (offset < 0 || offset > end || static_cast<int64_t>(bytes.size()) > end - offset) {
      return InternalError(place_.name, ": bytes ", offset, " to ", offset + static_cast<int64_t>(bytes.size()),
                           " are not of the first ", end, ", which may be written again");
    }
    if (bytes.empty()) return absl::OkStatus();
    std::string& first = first_ != nullptr ? *first_ : *filled_;
    first.replace(static_cast<size_t>(offset), bytes.size(), bytes);
    return absl::OkStatus();
  }

  // A store has no place for less than a part.
  absl::Status Flush() override { return CheckOpen(); }

  absl::Status Seal() override {
    HEADRACE_RETURN_IF_ERROR(failed_);
    if (sealed_) return absl::OkStatus();
    sealed_ = true;
    if (upload_.empty() && first_ == nullptr) return absl::OkStatus();
    if (first_ != nullptr) HEADRACE_RETURN_IF_ERROR(Note(SendPart(std::exchange(first_, nullptr), 0)));
    if (filled_ != nullptr) HEADRACE_RETURN_IF_ERROR(Note(EndPart()));
    return Note(under_way_->WaitFor(0));
  }

  absl::Status Commit() override {
    if (committed_) return ClosedError();
    HEADRACE_RETURN_IF_ERROR(Seal());
    HEADRACE_RETURN_IF_ERROR(Note(upload_.empty() ? PutWhole() : Complete()));
    committed_ = true;
    upload_.clear();
    return absl::OkStatus();
  }

  absl::Status Keep() override {
    return UnsupportedError(place_.name,
                            ": what is written to S3 cannot be gone on with later; write it to a folder of this "
                            "machine, and copy it");
  }

 private:
  absl::Status ClosedError() const {
    return MakeError(ErrorKind::kClosed, Cat(place_.name, ": nothing is written after its end"));
  }
  absl::Status CheckOpen() const {
    HEADRACE_RETURN_IF_ERROR(failed_);
    return sealed_ ? ClosedError() : absl::OkStatus();
  }
  absl::Status Note(absl::Status status) {
    if (!status.ok()) failed_ = status;
    return status;
  }

  // Of the part that is being filled: the first holds all of the head.
  size_t PartBytes() const {
    return parts_ == 0 ? std::max(limits_.part_bytes, static_cast<size_t>(head_)) : limits_.part_bytes;
  }

  absl::Status EndPart() {
    const std::shared_ptr<std::string> part = std::exchange(filled_, nullptr);
    const int number = parts_++;
    if (number >= limits_.most_parts) {
      return UnsupportedError(place_.name, ": an object has at most ", limits_.most_parts, " parts of ",
                              limits_.part_bytes, " bytes; write several files");
    }
    if (number == 0 && head_ > 0 && !sealed_) {
      first_ = part;
      return absl::OkStatus();
    }
    return SendPart(part, static_cast<size_t>(number));
  }

  S3Request RequestOf(std::string method, std::vector<http::Header> query) const {
    S3Request request;
    request.name = place_.name;
    request.at = place_.at;
    request.method = std::move(method);
    request.query = std::move(query);
    request.purpose = http::Purpose::kWrite;
    return request;
  }

  absl::Status BeginUpload() {
    if (!upload_.empty()) return absl::OkStatus();
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, place_.store->Run(RequestOf("POST", {{"uploads", ""}})));
    if (reply.head.status != 200) return place_.store->Refused(place_.name, "write", reply);
    absl::StatusOr<std::string> id = UploadIdOf(reply.body);
    if (!id.ok()) return DataError(place_.name, ": could not write it: ", ToStd(id.status().message()));
    upload_ = *std::move(id);
    return absl::OkStatus();
  }

  absl::Status SendPart(std::shared_ptr<const std::string> part, size_t number) {
    HEADRACE_RETURN_IF_ERROR(BeginUpload());
    HEADRACE_RETURN_IF_ERROR(under_way_->WaitFor(limits_.at_once - 1));
    S3Request request = RequestOf("PUT", {{"partNumber", Cat(number + 1)}, {"uploadId", upload_}});
    request.body = std::move(part);
    request.cancellation = cancellation_;
    under_way_->Begin(number);
    place_.store->Start(std::move(request),
                        [parts = under_way_, place = place_, number](absl::StatusOr<http::Reply> reply) {
                          parts->End(number, ETagOfPart(place, std::move(reply)));
                        });
    return absl::OkStatus();
  }

  static absl::StatusOr<std::string> ETagOfPart(const ObjectPlace& place, absl::StatusOr<http::Reply> reply) {
    if (!reply.ok()) return std::move(reply).status();
    if (reply->head.status != 200) return place.store->Refused(place.name, "write", *reply);
    const std::string_view etag = reply->head.Find("etag");
    if (etag.empty()) return DataError(place.name, ": could not write it: the store gives no ETag of a part");
    return std::string(etag);
  }

  absl::Status PutWhole() {
    S3Request request = RequestOf("PUT", {});
    request.body = filled_ != nullptr ? filled_ : std::make_shared<std::string>();
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, place_.store->Run(std::move(request)));
    return reply.head.status == 200 ? absl::OkStatus() : place_.store->Refused(place_.name, "write", reply);
  }

  absl::Status Complete() {
    const std::vector<std::string> etags = under_way_->etags();
    S3Request request = RequestOf("POST", {{"uploadId", upload_}});
    request.body = std::make_shared<const std::string>(CompletionOf(etags));
    request.error_in_body = true;
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, place_.store->Run(std::move(request)));
    if (reply.head.status == 200 && IsCompleted(reply.body)) return absl::OkStatus();
    // A completion whose reply was lost has ended the upload; the transport may have sent it again by itself.
    if (reply.head.status == 404 && IsThere(etags.size())) return absl::OkStatus();
    return place_.store->Refused(place_.name, "write", reply);
  }

  // Whether the object is the one that was sent, as far as its size and the form of its ETag tell.
  bool IsThere(size_t parts) const {
    const absl::StatusOr<FileStat> stat = StatObject(place_);
    return stat.ok() && stat->size == size_ && stat->version.ends_with(Cat("-", parts));
  }

  // Leaves nothing at the store, if it can be reached soon.
  void Abort() {
    if (upload_.empty()) return;
    cancellation_->Cancel();
    under_way_->WaitForEnd(std::chrono::milliseconds(kAbortMs));
    S3Request request = RequestOf("DELETE", {{"uploadId", upload_}});
    request.deadline_ms = kAbortMs;
    const auto aborted = std::make_shared<PartsUnderWay>();
    aborted->Begin(0);
    place_.store->Start(std::move(request),
                        [aborted](const absl::StatusOr<http::Reply>& /*reply*/) { aborted->End(0, std::string()); });
    // Also after Ctrl-C, which is when streams are dropped.
    aborted->WaitForEnd(std::chrono::milliseconds(kAbortMs));
  }

  const ObjectPlace place_;
  const int64_t head_;
  const PartLimits limits_;
  const std::shared_ptr<PartsUnderWay> under_way_ = std::make_shared<PartsUnderWay>();
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  std::string upload_;                   // the id; empty: none was begun, or it was completed
  std::shared_ptr<std::string> first_;   // a whole first part that holds the head, until Seal
  std::shared_ptr<std::string> filled_;  // the part that is being filled
  int parts_ = 0;                        // that are whole
  int64_t size_ = 0;
  bool sealed_ = false;
  bool committed_ = false;
  absl::Status failed_;
};

}  // namespace

std::unique_ptr<OutputStream> CreateS3Output(ObjectPlace place, const OutputOptions& options,
                                             const PartLimits& limits) {
  return std::make_unique<S3Output>(std::move(place), options, limits);
}

}  // namespace headrace::s3
