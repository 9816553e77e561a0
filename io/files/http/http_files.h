// `HttpFiles` asks hosts for files and parts of files, and says what their replies mean; `HttpObject` is an open one.
// Threads: any thread; results come as HttpClient's.
#ifndef HEADRACE_IO_FILES_HTTP_HTTP_FILES_H_
#define HEADRACE_IO_FILES_HTTP_HTTP_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "io/files/file_system.h"
#include "io/files/http/followed_call.h"
#include "io/files/http/http_client.h"

namespace headrace::http {

// What is known of a file, so that other bytes under its name are refused.
struct FileGuard {
  std::string etag;      // strong; "": not known
  uint64_t version = 0;  // VersionHash of the ETag; 0: not known
  int64_t size = -1;     // -1: not known
};

// kData: what is found now is not what was listed.
absl::Status CheckAsListed(const std::string& path, const FileGuard& listed, const FileGuard& now);

class HttpFiles : public std::enable_shared_from_this<HttpFiles> {
 public:
  using Calls = std::shared_ptr<FollowedCalls>;

  HttpFiles(Transport* transport, Reach reach, std::string authorization);

  // The file's bytes from `offset` on, as many as `target` holds, by several requests at once.
  void StartParts(const std::string& path, const FileGuard& guard, int64_t offset, absl::Span<uint8_t> target,
                  const Calls& calls, RandomAccessFile::Done done);
  void StartWhole(const std::string& path, const FileGuard& guard, const Calls& calls, FileSystem::ReadDone done);

  // What a host says of a file. `whole`: all of it, where the host gives no parts and `wants_whole` was said.
  struct Found {
    FileGuard guard;
    std::optional<Tensor> whole;
  };
  absl::StatusOr<Found> Find(const std::string& path, bool wants_whole);
  // Whether the host of the path was found to give no parts of files.
  bool GivesNoParts(const std::string& path) const;
  StoreCounters counters() const { return client_.counters(); }

 private:
  struct Wanted;
  class PartsRead;

  void NoteWhole(const std::string& path);
  void Get(const std::string& path, Wanted wanted, const Calls& calls, HttpClient::Done done);
  void TakeFirst(const std::string& path, const FileGuard& guard, const Calls& calls, Reply reply,
                 FileSystem::ReadDone done);

  HttpClient client_;
  FinalAddresses addresses_;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> without_parts_;  // hosts
  const FollowedCall::Means means_;
};

class HttpObject : public RandomAccessFile {
 public:
  HttpObject(std::shared_ptr<HttpFiles> files, std::string path, HttpFiles::Found found);

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override;
  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override;
  absl::StatusOr<int64_t> Size() const override { return found_.guard.size; }

 private:
  absl::Span<uint8_t> Within(int64_t offset, absl::Span<uint8_t> target) const;

  const std::shared_ptr<HttpFiles> files_;
  const std::string path_;
  const HttpFiles::Found found_;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_HTTP_FILES_H_
