#include "io/files/s3/s3_object.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "core/buffer.h"
#include "core/error.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/content_range.h"
#include "io/files/http/http_date.h"
#include "io/files/http/later_buffer.h"
#include "io/files/s3/list_page.h"
#include "io/files/s3/store_reply.h"

namespace headrace::s3 {
namespace {

// As AWS advises for ranges.
constexpr int64_t kPieceBytes = int64_t{8} << 20;

// The size of the whole object; -1: the reply does not say it.
int64_t SizeOf(const http::Head& head) {
  if (head.status == 206 || head.status == 416) {
    const std::optional<http::ContentRange> range = http::ParseContentRange(head.Find("content-range"));
    return range.has_value() ? range->size : -1;
  }
  const std::string_view text = head.Find("content-length");
  int64_t size = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? size : -1;
}

// Pieces of one read; the last one to end gives the result.
class JoinedPieces {
 public:
  using Done = std::function<void(absl::Status)>;
  JoinedPieces(int64_t pieces, Done done) : left_(pieces), done_(std::move(done)) {}

  void End(absl::Status status) {
    {
      const std::lock_guard lock(mutex_);
      if (status_.ok()) status_ = std::move(status);
      if (--left_ > 0) return;
    }
    done_(std::move(status_));
  }

 private:
  std::mutex mutex_;
  int64_t left_;
  absl::Status status_;
  const Done done_;
};

absl::Status StatusOfPiece(const ObjectPlace& place, int64_t bytes, absl::StatusOr<http::Reply> reply) {
  if (!reply.ok()) return std::move(reply).status();
  if (reply->head.status == 416) return ChangedError(place.name);
  if (reply->head.status != 206 && reply->head.status != 200) return place.store->Refused(place.name, "read", *reply);
  // It ends earlier than it did.
  return reply->received == bytes ? absl::OkStatus() : ChangedError(place.name);
}

S3Request ReadRequest(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard,
                      const std::shared_ptr<Cancellation>& cancellation) {
  S3Request request;
  request.name = place.name;
  request.at = place.at;
  request.check = [guard](const http::Head& head) { return guard->Check(head); };
  const std::string etag = guard->etag();
  if (!etag.empty()) request.headers.push_back({"If-Match", etag});
  request.cancellation = cancellation;
  request.may_hedge = true;
  return request;
}

// Reads bytes that are there into all of `target`.
void StartPieces(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard, int64_t offset,
                 absl::Span<uint8_t> target, const std::shared_ptr<Cancellation>& cancellation,
                 JoinedPieces::Done done) {
  const auto bytes = static_cast<int64_t>(target.size());
  const auto joined = std::make_shared<JoinedPieces>((bytes + kPieceBytes - 1) / kPieceBytes, std::move(done));
  for (int64_t at = 0; at < bytes; at += kPieceBytes) {
    const int64_t piece = std::min(kPieceBytes, bytes - at);
    S3Request request = ReadRequest(place, guard, cancellation);
    request.range = http::Call::Range{offset + at, piece};
    request.target = target.subspan(static_cast<size_t>(at), static_cast<size_t>(piece));
    request.is_known = true;
    place.store->Start(std::move(request), [place, joined, piece](absl::StatusOr<http::Reply> reply) {
      joined->End(StatusOfPiece(place, piece, std::move(reply)));
    });
  }
}

absl::Status NoMemoryError(std::string_view name, int64_t bytes) {
  return ResourceError("no memory for ", name, " (", bytes, " bytes)");
}

// Reads the rest of an object into `buffer`, which has the size of all of it.
void StartRest(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard, BufferRef buffer, int64_t begin,
               int64_t size, const std::shared_ptr<Cancellation>& cancellation, FileSystem::ReadDone done) {
  uint8_t* const data = buffer->data();
  const auto rest = absl::MakeSpan(data + begin, static_cast<size_t>(size - begin));
  StartPieces(place, guard, begin, rest, cancellation,
              [buffer = std::move(buffer), data, size, done = std::move(done)](absl::Status status) {
                if (!status.ok()) return done(std::move(status));
                done(Tensor::ViewBytes(DType::kBytes, buffer, data, static_cast<size_t>(size)));
              });
}

// Reads all of an object that one request is for.
void StartSmall(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard, int64_t size,
                const std::shared_ptr<Cancellation>& cancellation, FileSystem::ReadDone done) {
  const auto later = std::make_shared<http::LaterBuffer>(static_cast<size_t>(size));
  S3Request request = ReadRequest(place, guard, cancellation);
  request.range = http::Call::Range{0, size};
  request.make_target = [later] { return later->Get(); };
  request.is_known = true;
  place.store->Start(
      std::move(request), [place, later, size, done = std::move(done)](absl::StatusOr<http::Reply> reply) {
        absl::Status status = StatusOfPiece(place, size, std::move(reply));
        if (!status.ok()) return done(std::move(status));
        done(Tensor::ViewBytes(DType::kBytes, later->buffer(), later->Get().data(), static_cast<size_t>(size)));
      });
}

// Without a copy.
Tensor TensorOf(std::string body) {
  auto* const kept = new std::string(std::move(body));
  BufferRef buffer = BufferRef::Foreign(kept->data(), kept->size(), [kept] { delete kept; });
  return Tensor::ViewBytes(DType::kBytes, std::move(buffer), kept->data(), kept->size());
}

void TakeBeginning(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard,
                   const std::shared_ptr<Cancellation>& cancellation, const FileSystem::ReadDone& done,
                   absl::StatusOr<http::Reply> reply) {
  if (!reply.ok()) return done(std::move(reply).status());
  const int64_t size = SizeOf(reply->head);
  // No byte of an empty object can be asked for.
  if (reply->head.status == 416 && size <= 0) return done(Tensor::CopyBytes(DType::kBytes, ""));
  if (reply->head.status != 206) return done(place.store->Refused(place.name, "read", *reply));
  const auto begin = static_cast<int64_t>(reply->body.size());
  if (size < begin) return done(DataError(place.name, ": the store does not say how many bytes it has"));
  if (size == begin) return done(TensorOf(std::move(reply->body)));
  BufferRef buffer = BufferPool::Global().Allocate(static_cast<size_t>(size));
  if (!buffer) return done(NoMemoryError(place.name, size));
  std::memcpy(buffer->data(), reply->body.data(), reply->body.size());
  StartRest(place, guard, std::move(buffer), begin, size, cancellation, done);
}

// Asks for the first bytes, and learns from the reply how many follow.
void StartReadUnknown(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard,
                      const std::shared_ptr<Cancellation>& cancellation, FileSystem::ReadDone done) {
  S3Request request = ReadRequest(place, guard, cancellation);
  request.range = http::Call::Range{0, kPieceBytes};
  place.store->Start(std::move(request),
                     [place, guard, cancellation, done = std::move(done)](absl::StatusOr<http::Reply> reply) {
                       TakeBeginning(place, guard, cancellation, done, std::move(reply));
                     });
}

S3Request HeadRequest(const ObjectPlace& place) {
  S3Request request;
  request.name = place.name;
  request.at = place.at;
  request.method = "HEAD";
  request.purpose = http::Purpose::kList;
  return request;
}

absl::StatusOr<FileStat> StatOfHead(const ObjectPlace& place, const http::Head& head) {
  FileStat stat;
  stat.size = SizeOf(head);
  // No byte of an empty object can be asked for.
  if (head.status == 416) stat.size = 0;
  if (stat.size < 0) return DataError(place.name, ": the store does not say how many bytes it has");
  stat.version = VersionOfETag(head.Find("etag"));
  const std::optional<int64_t> modified = http::ParseHttpDate(head.Find("last-modified"));
  if (modified.has_value()) stat.changed_ns = *modified * 1'000'000'000;
  return stat;
}

// Whether an object without bytes is still the one that was listed.
void StartReadEmpty(const ObjectPlace& place, const std::shared_ptr<VersionGuard>& guard,
                    const std::shared_ptr<Cancellation>& cancellation, FileSystem::ReadDone done) {
  S3Request request = HeadRequest(place);
  request.check = [guard](const http::Head& head) { return guard->Check(head); };
  request.is_known = true;
  request.cancellation = cancellation;
  place.store->Start(std::move(request), [place, done = std::move(done)](absl::StatusOr<http::Reply> reply) {
    if (!reply.ok()) return done(std::move(reply).status());
    if (reply->head.status != 200) return done(place.store->Refused(place.name, "read", *reply));
    done(Tensor::CopyBytes(DType::kBytes, ""));
  });
}

}  // namespace

absl::Status VersionGuard::Check(const http::Head& head) {
  const int64_t size = SizeOf(head);
  std::string version = VersionOfETag(head.Find("etag"));
  const std::lock_guard lock(mutex_);
  if (size >= 0 && listed_.size >= 0 && size != listed_.size) return ChangedError(name_);
  if (version.empty()) return absl::OkStatus();
  const uint64_t hash = VersionHash(version);
  if (listed_.version != 0 && hash != listed_.version) return ChangedError(name_);
  listed_.version = hash;
  version_ = std::move(version);
  return absl::OkStatus();
}

std::string VersionGuard::etag() const {
  const std::lock_guard lock(mutex_);
  return version_.empty() ? std::string() : Cat("\"", version_, "\"");
}

S3Object::S3Object(ObjectPlace place, const ListedFile& listed)
    : place_(std::move(place)), size_(listed.size), guard_(std::make_shared<VersionGuard>(place_.name, listed)) {}

void S3Object::StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const {
  if (offset < 0) return done(InternalError(place_.name, ": a read cannot begin at ", offset));
  const int64_t bytes = std::min(static_cast<int64_t>(target.size()), std::max<int64_t>(0, size_ - offset));
  if (bytes == 0) return done(int64_t{0});
  StartPieces(place_, guard_, offset, target.subspan(0, static_cast<size_t>(bytes)), Cancellation::Current(),
              [bytes, done = std::move(done)](absl::Status status) {
                if (!status.ok()) return done(std::move(status));
                done(bytes);
              });
}

absl::StatusOr<int64_t> S3Object::ReadAt(int64_t offset, absl::Span<uint8_t> target) const {
  if (offset < 0) return InternalError(place_.name, ": a read cannot begin at ", offset);
  const int64_t bytes = std::min(static_cast<int64_t>(target.size()), std::max<int64_t>(0, size_ - offset));
  if (bytes == 0) return 0;
  const auto cancellation = std::make_shared<Cancellation>();
  http::AwaitedResult<int64_t> awaited;
  StartPieces(place_, guard_, offset, target.subspan(0, static_cast<size_t>(bytes)), cancellation,
              [&awaited, bytes](absl::Status status) {
                awaited.Set(status.ok() ? absl::StatusOr<int64_t>(bytes) : std::move(status));
              });
  return awaited.Wait([&] { cancellation->Cancel(); });
}

absl::StatusOr<FileStat> StatObject(const ObjectPlace& place) {
  HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, place.store->Run(HeadRequest(place)));
  if (reply.head.status != 200) return place.store->Refused(place.name, "look at", reply);
  return StatOfHead(place, reply.head);
}

absl::StatusOr<FileStat> StatByReading(const ObjectPlace& place) {
  S3Request request = HeadRequest(place);
  request.method = "GET";
  request.range = http::Call::Range{0, 1};
  HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, place.store->Run(std::move(request)));
  const bool is_empty = reply.head.status == 416 && SizeOf(reply.head) <= 0;
  if (reply.head.status != 206 && !is_empty) return place.store->Refused(place.name, "read", reply);
  return StatOfHead(place, reply.head);
}

void StartReadObject(const ObjectPlace& place, const ListedFile& listed,
                     const std::shared_ptr<Cancellation>& cancellation, FileSystem::ReadDone done) {
  const auto guard = std::make_shared<VersionGuard>(place.name, listed);
  if (listed.size < 0) return StartReadUnknown(place, guard, cancellation, std::move(done));
  if (listed.size == 0) return StartReadEmpty(place, guard, cancellation, std::move(done));
  if (listed.size <= kPieceBytes) return StartSmall(place, guard, listed.size, cancellation, std::move(done));
  BufferRef buffer = BufferPool::Current().Allocate(static_cast<size_t>(listed.size));
  if (!buffer) return done(NoMemoryError(place.name, listed.size));
  StartRest(place, guard, std::move(buffer), 0, listed.size, cancellation, std::move(done));
}

}  // namespace headrace::s3
