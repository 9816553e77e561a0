#include "io/files/hdfs/span_read.h"

#include <memory>
#include <mutex>
#include <utility>

#include "io/files/hdfs/piece_read.h"

namespace headrace::hdfs {
namespace {

constexpr int kMostPieces = 8;  // of one span, at once

// Takes the next piece off the span.
std::shared_ptr<PieceRead> TakePiece(HdfsClient& client, FileSpan& span) {
  const auto left = static_cast<int64_t>(span.target.size());
  const int64_t bytes = PieceBytes(span.offset, left, span.block_size);
  auto piece = std::make_shared<PieceRead>(client, span.name, span.path, span.offset,
                                           span.target.subspan(0, static_cast<size_t>(bytes)));
  span.target.remove_prefix(static_cast<size_t>(bytes));
  span.offset += bytes;
  return piece;
}

// Moves it out: the piece may be destroyed while another thread has the result.
absl::Status ResultOf(absl::Status ended, PieceRead& piece) {
  return ended.ok() ? std::move(piece.result()).status() : ended;
}

class SpanRead : public std::enable_shared_from_this<SpanRead> {
 public:
  SpanRead(HdfsClient* client, FileSpan span, HdfsClient::EndedBy cancellation, std::function<void(absl::Status)> done)
      : client_(client), cancellation_(std::move(cancellation)), rest_(std::move(span)), done_(std::move(done)) {}

  // Starts what may go, and ends the read where nothing is left. One more counts as under way meanwhile, so that only
  // one thread finds that all has ended.
  void GoOn() {
    std::unique_lock lock(mutex_);
    while (error_.ok() && !rest_.target.empty() && under_way_ <= kMostPieces) {
      const std::shared_ptr<PieceRead> piece = TakePiece(*client_, rest_);
      ++under_way_;
      lock.unlock();
      client_->Start(piece, cancellation_, [self = shared_from_this(), piece](absl::Status ended) {
        self->Take(ResultOf(std::move(ended), *piece));
        self->GoOn();
      });
      lock.lock();
    }
    if (--under_way_ > 0) return;
    lock.unlock();
    done_(std::move(error_));
  }

 private:
  void Take(absl::Status result) {
    const std::lock_guard lock(mutex_);
    if (error_.ok()) error_ = std::move(result);
  }

  HdfsClient* const client_;
  const HdfsClient::EndedBy cancellation_;
  std::mutex mutex_;
  FileSpan rest_;
  const std::function<void(absl::Status)> done_;
  int under_way_ = 1;
  absl::Status error_;
};

}  // namespace

absl::Status RunSpanRead(HdfsClient& client, const FileSpan& span) {
  FileSpan rest = span;
  while (!rest.target.empty()) {
    const std::shared_ptr<PieceRead> piece = TakePiece(client, rest);
    const absl::Status ended = client.Run(*piece);
    absl::Status result = ResultOf(ended, *piece);
    if (!result.ok()) return result;
  }
  return absl::OkStatus();
}

void StartSpanRead(HdfsClient& client, FileSpan span, HdfsClient::EndedBy cancellation,
                   std::function<void(absl::Status)> done) {
  std::make_shared<SpanRead>(&client, std::move(span), std::move(cancellation), std::move(done))->GoOn();
}

}  // namespace headrace::hdfs
