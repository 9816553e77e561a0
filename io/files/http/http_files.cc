#include "io/files/http/http_files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/buffer.h"
#include "core/error.h"
#include "core/printable.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/content_range.h"
#include "io/files/http/header_text.h"
#include "io/files/http/url.h"
#include "io/files/plainly_missing.h"

namespace headrace::http {
namespace {

// What is asked for at once of a large file, and of one whose size is not known.
constexpr int64_t kPartBytes = int64_t{8} << 20;
// Of a host that gives no parts.
constexpr int64_t kMostWhole = int64_t{256} << 20;
constexpr size_t kMostWithoutParts = 1024;
// Of what a host says, in an error.
constexpr size_t kMostShownOfHead = 200;

absl::Status HttpChangedError(const std::string& path) {
  return DataError(ShownUrl(path), " changed since it was listed or opened; write files under another name");
}

absl::Status HttpRefusedError(const std::string& path, const Head& head) {
  const std::string name = ShownUrl(path);
  switch (head.status) {
    case 404:
    case 410:
      return path.find('*') == std::string::npos
                 ? MissingError(name)
                 : NotFoundError(name,
                                 ": not found; hosts of http list no files, so '*' is a letter of the name: give "
                                 "all URLs, of which braces name many: https://host/part-{000..127}.tar");
    case 401:
    case 403:
    case 407:
      return UnsupportedError(name,
                              ": its host refuses it; say token=, or access_key= and secret_key=, in storage=, or ",
                              "ask for the right to read it: status ", head.status);
    case 412:
      return HttpChangedError(path);
    case 416:
      return DataError(name, " is shorter than it was said to be; list it again");
    default:
      return DataError(name, ": its host does not give it; check the address: status ", head.status);
  }
}

bool IsGiven(const Head& head) { return head.status == 200 || head.status == 206; }

int64_t WholeSize(const Head& head) {
  const std::optional<ContentRange> range = ParseContentRange(head.Find("content-range"));
  if (range) return range->size;
  const std::string_view length = head.Find("content-length");
  int64_t size = -1;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), size);
  return head.status == 200 && error == std::errc() && end == length.data() + length.size() ? size : -1;
}

FileGuard GuardOf(const Head& head) {
  const std::string_view etag = head.Find("etag");
  FileGuard guard;
  guard.size = WholeSize(head);
  if (!IsStrongEtag(etag)) return guard;
  guard.etag = etag;
  guard.version = VersionHash(etag);
  return guard;
}

absl::Status CheckGuard(const std::string& path, const FileGuard& guard, const Head& head) {
  HEADRACE_RETURN_IF_ERROR(CheckAsListed(path, guard, GuardOf(head)));
  const std::string_view encoding = head.Find("content-encoding");
  if (encoding.empty() || encoding == "identity") return absl::OkStatus();
  return UnsupportedError(ShownUrl(path), ": its host gives it in a coded form alone, whose bytes are others: ",
                          PrintableStart(encoding, kMostShownOfHead));
}

absl::StatusOr<Tensor> TensorOf(std::string body) {
  auto* const kept = new std::string(std::move(body));
  BufferRef buffer = BufferRef::Foreign(kept->data(), kept->size(), [kept] { delete kept; });
  const auto* const data = reinterpret_cast<const uint8_t*>(kept->data());
  const auto size = static_cast<int64_t>(kept->size());
  return Tensor::ViewBytes(DType::kBytes, std::move(buffer), data, size);
}

absl::Status NegativeOffsetError(const std::string& path, int64_t offset) {
  return InternalError(ShownUrl(path), ": a read cannot begin at ", offset);
}

absl::Status NoMemoryError(const std::string& path, int64_t bytes) {
  return ResourceError("no memory for ", ShownUrl(path), " (", bytes, " bytes)");
}

}  // namespace

absl::Status CheckAsListed(const std::string& path, const FileGuard& listed, const FileGuard& now) {
  if (listed.version != 0 && now.version != listed.version) return HttpChangedError(path);
  if (listed.size < 0 || now.size < 0 || now.size == listed.size) return absl::OkStatus();
  return SizeChangedError(ShownUrl(path), listed.size, now.size);
}

struct HttpFiles::Wanted {
  std::optional<Call::Range> range;
  absl::Span<uint8_t> target;
  FileGuard guard;
  int64_t most_body = kMostWhole;
  Purpose purpose = Purpose::kRead;
  bool whole_is_good = false;
  std::function<absl::Status(const Head& head)> check;  // beside the guard's
};

// Parts that are read at once; the first error counts.
class HttpFiles::PartsRead {
 public:
  PartsRead(int64_t parts, RandomAccessFile::Done done) : left_(parts), done_(std::move(done)) {}

  void Take(absl::StatusOr<int64_t> read) {
    absl::StatusOr<int64_t> result = int64_t{0};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!read.ok()) {
        if (read_.ok()) read_ = std::move(read);
      } else if (read_.ok()) {
        *read_ += *read;
      }
      if (--left_ > 0) return;
      result = std::move(read_);
    }
    done_(std::move(result));
  }

 private:
  std::mutex mutex_;
  int64_t left_;
  absl::StatusOr<int64_t> read_ = int64_t{0};
  const RandomAccessFile::Done done_;
};

HttpFiles::HttpFiles(Transport* transport, Reach reach, std::string authorization)
    : client_(transport, std::move(reach)), means_{&client_, &addresses_, std::move(authorization)} {}

void HttpFiles::Get(const std::string& path, Wanted wanted, const Calls& calls, HttpClient::Done done) {
  Call call;
  call.name = ShownUrl(path);
  call.purpose = wanted.purpose;
  call.request.url = EncodedUrl(path);
  call.request.headers.push_back({"Accept-Encoding", "identity"});
  if (!wanted.guard.etag.empty()) call.request.headers.push_back({"If-Match", wanted.guard.etag});
  call.range = wanted.range;
  call.target = wanted.target;
  call.most_body = wanted.most_body;
  call.whole_is_good = wanted.whole_is_good;
  call.may_hedge = true;
  call.check = [path, guard = std::move(wanted.guard), also = std::move(wanted.check)](const Head& head) {
    HEADRACE_RETURN_IF_ERROR(CheckGuard(path, guard, head));
    return also ? also(head) : absl::OkStatus();
  };
  // Files live as long as what they started.
  auto last = [self = shared_from_this(), done = std::move(done)](absl::StatusOr<Reply> reply) {
    done(std::move(reply));
  };
  calls->Start(std::make_shared<FollowedCall>(&means_, std::move(call), std::move(last)));
}

void HttpFiles::StartParts(const std::string& path, const FileGuard& guard, int64_t offset, absl::Span<uint8_t> target,
                           const Calls& calls, RandomAccessFile::Done done) {
  const auto bytes = static_cast<int64_t>(target.size());
  if (bytes == 0) return done(int64_t{0});
  // At multiples of parts, which stores keep whole.
  const int64_t first = offset / kPartBytes;
  const int64_t last = (offset + bytes - 1) / kPartBytes;
  const auto parts = std::make_shared<PartsRead>(last - first + 1, std::move(done));
  for (int64_t part = first; part <= last; ++part) {
    const int64_t begin = std::max(offset, part * kPartBytes);
    // A host may say that a file ends at the last number.
    const int64_t end = begin + std::min(offset + bytes - begin, kPartBytes - begin % kPartBytes);
    Wanted wanted;
    wanted.range = {begin, end - begin};
    wanted.target = target.subspan(static_cast<size_t>(begin - offset), static_cast<size_t>(end - begin));
    wanted.guard = guard;
    // A host that gives no parts gives the whole, and it is all that is wanted.
    wanted.whole_is_good = offset == 0 && bytes == guard.size && first == last;
    Get(path, std::move(wanted), calls, [path, parts, bytes](absl::StatusOr<Reply> reply) {
      if (!reply.ok()) return parts->Take(std::move(reply).status());
      if (!IsGiven(reply->head)) return parts->Take(HttpRefusedError(path, reply->head));
      // The whole, of a length that was not known before, did not fit.
      if (!reply->body.empty()) return parts->Take(SizeChangedError(ShownUrl(path), bytes, reply->received));
      parts->Take(reply->received);
    });
  }
}

void HttpFiles::StartWhole(const std::string& path, const FileGuard& guard, const Calls& calls,
                           FileSystem::ReadDone done) {
  if (guard.size < 0) {
    Wanted wanted;
    wanted.range = {0, kPartBytes};
    wanted.guard = guard;
    wanted.whole_is_good = true;
    auto take = [self = shared_from_this(), path, guard, calls, done](absl::StatusOr<Reply> reply) {
      if (!reply.ok()) return done(std::move(reply).status());
      self->TakeFirst(path, guard, calls, *std::move(reply), done);
    };
    return Get(path, std::move(wanted), calls, std::move(take));
  }
  BufferRef buffer = BufferPool::Current().Allocate(static_cast<size_t>(guard.size));
  if (!buffer) return done(NoMemoryError(path, guard.size));
  const absl::Span<uint8_t> target(buffer->data(), static_cast<size_t>(guard.size));
  auto finish = [path, buffer = std::move(buffer), guard, done = std::move(done)](absl::StatusOr<int64_t> read) {
    if (!read.ok()) return done(std::move(read).status());
    if (*read < guard.size) return done(SizeChangedError(ShownUrl(path), guard.size, *read));
    done(Tensor::ViewBytes(DType::kBytes, buffer, buffer->data(), guard.size));
  };
  StartParts(path, guard, 0, target, calls, std::move(finish));
}

// The first part of a file whose size was not known, or all of it.
void HttpFiles::TakeFirst(const std::string& path, const FileGuard& guard, const Calls& calls, Reply reply,
                          FileSystem::ReadDone done) {
  const int64_t size = WholeSize(reply.head);
  const auto received = static_cast<int64_t>(reply.body.size());
  if (reply.head.status == 416 && size == 0) return done(TensorOf(""));
  if (!IsGiven(reply.head)) return done(HttpRefusedError(path, reply.head));
  if (reply.head.status == 200 || size == received || (size < 0 && received < kPartBytes)) {
    return done(TensorOf(std::move(reply.body)));
  }
  if (size < 0) return done(DataError(ShownUrl(path), ": its host does not say how many bytes it has"));
  BufferRef buffer = BufferPool::Global().Allocate(static_cast<size_t>(size));
  if (!buffer) return done(NoMemoryError(path, size));
  std::memcpy(buffer->data(), reply.body.data(), reply.body.size());
  const absl::Span<uint8_t> rest(buffer->data() + received, static_cast<size_t>(size - received));
  FileGuard now = GuardOf(reply.head);
  if (now.version == 0) now.version = guard.version;
  auto finish = [path, buffer, size, received, done = std::move(done)](absl::StatusOr<int64_t> read) {
    if (!read.ok()) return done(std::move(read).status());
    if (received + *read < size) return done(SizeChangedError(ShownUrl(path), size, received + *read));
    done(Tensor::ViewBytes(DType::kBytes, buffer, buffer->data(), size));
  };
  StartParts(path, now, received, rest, calls, std::move(finish));
}

bool HttpFiles::GivesNoParts(const std::string& path) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return without_parts_.contains(OriginOf(EncodedUrl(path)));
}

void HttpFiles::NoteWhole(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (without_parts_.size() < kMostWithoutParts) without_parts_.insert(OriginOf(EncodedUrl(path)));
}

absl::StatusOr<HttpFiles::Found> HttpFiles::Find(const std::string& path, bool wants_whole) {
  // Hosts may refuse HEAD, so a byte is asked for.
  Wanted wanted;
  wanted.range = {0, 1};
  wanted.purpose = Purpose::kList;
  wanted.whole_is_good = true;
  const auto found = std::make_shared<Found>();
  const auto enough = std::make_shared<bool>(false);
  wanted.check = [found, enough, wants_whole](const Head& head) {
    found->guard = GuardOf(head);
    // Ends the call before the body.
    *enough = head.status == 200 && found->guard.size >= 0 && !wants_whole;
    return *enough ? InternalError("the head of the reply is enough") : absl::OkStatus();
  };
  const auto calls = std::make_shared<FollowedCalls>();
  AwaitedResult<Reply> awaited;
  Get(path, std::move(wanted), calls, [&awaited](absl::StatusOr<Reply> reply) { awaited.Set(std::move(reply)); });
  absl::StatusOr<Reply> reply = awaited.Wait([&] { calls->Cancel(); });
  if (!reply.ok() && *enough) {
    NoteWhole(path);
    return *found;
  }
  HEADRACE_RETURN_IF_ERROR(reply.status());
  if (reply->head.status == 200) NoteWhole(path);
  if (reply->head.status == 416 && WholeSize(reply->head) == 0) {
    found->guard = GuardOf(reply->head);
    return *found;
  }
  if (!IsGiven(reply->head)) return HttpRefusedError(path, reply->head);
  if (reply->head.status == 200) {
    HEADRACE_ASSIGN_OR_RETURN(found->whole, TensorOf(std::move(reply->body)));
    found->guard.size = static_cast<int64_t>(found->whole->bytes());
  }
  if (found->guard.size >= 0) return *found;
  return DataError(ShownUrl(path), ": its host does not say how many bytes it has");
}

HttpObject::HttpObject(std::shared_ptr<HttpFiles> files, std::string path, HttpFiles::Found found)
    : files_(std::move(files)), path_(std::move(path)), found_(std::move(found)) {}

absl::Span<uint8_t> HttpObject::Within(int64_t offset, absl::Span<uint8_t> target) const {
  const int64_t left = std::max<int64_t>(0, found_.guard.size - offset);
  return target.subspan(0, std::min(target.size(), static_cast<size_t>(left)));
}

absl::StatusOr<int64_t> HttpObject::ReadAt(int64_t offset, absl::Span<uint8_t> target) const {
  if (offset < 0) return NegativeOffsetError(path_, offset);
  const auto calls = std::make_shared<FollowedCalls>();
  AwaitedResult<int64_t> awaited;
  const auto done = [&awaited](absl::StatusOr<int64_t> read) { awaited.Set(std::move(read)); };
  if (found_.whole) {
    StartReadAt(offset, target, done);
  } else {
    files_->StartParts(path_, found_.guard, offset, Within(offset, target), calls, done);
  }
  return awaited.Wait([&] { calls->Cancel(); });
}

void HttpObject::StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const {
  if (offset < 0) return done(NegativeOffsetError(path_, offset));
  const absl::Span<uint8_t> within = Within(offset, target);
  if (!found_.whole) {
    return files_->StartParts(path_, found_.guard, offset, within, FollowedCalls::OfThisThread(), std::move(done));
  }
  if (!within.empty()) std::memcpy(within.data(), found_.whole->data<uint8_t>() + offset, within.size());
  done(static_cast<int64_t>(within.size()));
}

}  // namespace headrace::http
