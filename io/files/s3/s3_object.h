// `S3Object` is an open object: ranges of it are read in pieces of 8 MB at once, straight into the caller's memory, and
// only while it has the contents that it had when it was listed or first read. `StartReadObject` reads a whole one.
// Threads: any thread; what is done later is done on the event thread.
#ifndef HEADRACE_IO_FILES_S3_S3_OBJECT_H_
#define HEADRACE_IO_FILES_S3_S3_OBJECT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/files/s3/s3_store.h"

namespace headrace::s3 {

struct ObjectPlace {
  std::shared_ptr<S3Store> store;
  std::string name;  // "s3://bucket/key"
  S3Path at;
};

// Refuses replies of other contents than were listed, or than the first reply had.
class VersionGuard {
 public:
  VersionGuard(std::string name, ListedFile listed) : name_(std::move(name)), listed_(listed) {}

  // kData: changed.
  absl::Status Check(const http::Head& head);
  // The value of the header If-Match; empty: the ETag is not known, only its hash.
  std::string etag() const;

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  ListedFile listed_;
  std::string version_;
};

class S3Object : public RandomAccessFile {
 public:
  // `listed` has the size.
  S3Object(ObjectPlace place, const ListedFile& listed);

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override;
  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override;
  absl::StatusOr<int64_t> Size() const override { return size_; }

 private:
  const ObjectPlace place_;
  const int64_t size_;
  const std::shared_ptr<VersionGuard> guard_;
};

// What a HEAD says; kNotFound: there is no such object.
absl::StatusOr<FileStat> StatObject(const ObjectPlace& place);
// As StatObject, for an object of which HEAD is refused, whose reply has no body that says why.
absl::StatusOr<FileStat> StatByReading(const ObjectPlace& place);

// As FileSystem::StartRead. `cancellation`: null, or what ends it early.
void StartReadObject(const ObjectPlace& place, const ListedFile& listed,
                     const std::shared_ptr<Cancellation>& cancellation, FileSystem::ReadDone done);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_OBJECT_H_
