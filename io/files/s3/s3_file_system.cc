#include "io/files/s3/s3_file_system.h"

#include <utility>

#include "core/error.h"
#include "io/files/file_system_registration.h"
#include "io/files/output_stream.h"
#include "io/files/s3/s3_listing.h"
#include "io/files/s3/s3_object.h"
#include "io/files/s3/s3_path.h"
#include "io/files/s3/store_reply.h"

namespace headrace::s3 {
namespace {

// US dollars.
constexpr double kPriceOfRead = 0.0004 / 1000;
constexpr double kPriceOfOther = 0.005 / 1000;

absl::StatusOr<ObjectPlace> PlaceOf(const std::shared_ptr<S3Store>& store, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(S3Path at, ParseObjectPath(path));
  return ObjectPlace{store, path, std::move(at)};
}

absl::StatusOr<FileStat> StatFolder(const std::shared_ptr<S3Store>& store, const std::string& path, S3Path at) {
  HEADRACE_ASSIGN_OR_RETURN(const bool there, IsFolder({store, path, std::move(at)}));
  if (!there) return NotFoundError(path, ": not found");
  FileStat stat;
  stat.type = EntryType::kFolder;
  return stat;
}

absl::StatusOr<std::unique_ptr<FileSystem>> MakeS3FileSystem(const StorageSettings& settings) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<S3Store> store, S3Store::Make({.settings = settings}));
  return std::make_unique<S3FileSystem>(std::move(store));
}

const FileSystemRegistration s3_registration("s3", MakeS3FileSystem);
const FileSystemRegistration s3a_registration("s3a", MakeS3FileSystem);

}  // namespace

absl::StatusOr<Tensor> S3FileSystem::Read(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const ObjectPlace place, PlaceOf(store_, path));
  const auto cancellation = std::make_shared<Cancellation>();
  Awaited<Tensor> awaited;
  StartReadObject(place, {}, cancellation, [&awaited](absl::StatusOr<Tensor> read) { awaited.Set(std::move(read)); });
  return awaited.Wait(*cancellation);
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> S3FileSystem::Open(const std::string& path) const {
  return Open(path, {});
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> S3FileSystem::Open(const std::string& path,
                                                                           const ListedFile& listed) const {
  HEADRACE_ASSIGN_OR_RETURN(ObjectPlace place, PlaceOf(store_, path));
  ListedFile known = listed;
  if (known.size < 0) {
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, StatObject(place));
    known = {stat.size, VersionHash(stat.version)};
    if (listed.version != 0 && listed.version != known.version) return ChangedError(path);
  }
  return std::make_shared<const S3Object>(std::move(place), known);
}

void S3FileSystem::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  const absl::StatusOr<ObjectPlace> place = PlaceOf(store_, path);
  if (!place.ok()) return done(place.status());
  StartReadObject(*place, listed, nullptr, std::move(done));
}

absl::StatusOr<FileStat> S3FileSystem::Stat(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(S3Path at, ParseS3Path(path));
  if (at.key.empty() || at.key.back() == '/') return StatFolder(store_, path, std::move(at));
  const absl::StatusOr<FileStat> stat = StatObject({store_, path, at});
  if (stat.ok() || KindOf(stat.status()) != ErrorKind::kNotFound) return stat;
  const absl::StatusOr<FileStat> folder = StatFolder(store_, path, std::move(at));
  if (folder.ok()) return folder;
  // What may be read or not says more than what may be listed.
  return KindOf(folder.status()) == ErrorKind::kNotFound ? stat : folder;
}

absl::StatusOr<std::unique_ptr<FolderPages>> S3FileSystem::ListPages(const std::string& folder, bool /*sizes*/) const {
  HEADRACE_ASSIGN_OR_RETURN(S3Path at, ParseS3Path(folder));
  return ListFolder({store_, folder, std::move(at)});
}

absl::StatusOr<std::unique_ptr<FolderPages>> S3FileSystem::ListTree(const std::string& folder) const {
  HEADRACE_ASSIGN_OR_RETURN(S3Path at, ParseS3Path(folder));
  return ListTreeOf({store_, folder, std::move(at)});
}

absl::StatusOr<std::unique_ptr<OutputStream>> S3FileSystem::Create(const std::string& path,
                                                                   const OutputOptions& options) const {
  HEADRACE_ASSIGN_OR_RETURN(ObjectPlace place, PlaceOf(store_, path));
  return CreateS3Output(std::move(place), options, limits_);
}

absl::StatusOr<std::unique_ptr<OutputStream>> S3FileSystem::Resume(const std::string& path,
                                                                   const OutputOptions& /*options*/,
                                                                   int64_t /*bytes*/) const {
  return NotFoundError(path, ": S3 keeps no drafts; write the file anew");
}

absl::Status S3FileSystem::Remove(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const ObjectPlace place, PlaceOf(store_, path));
  S3Request request;
  request.name = path;
  request.at = place.at;
  request.method = "DELETE";
  request.purpose = http::Purpose::kWrite;
  HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, store_->Run(std::move(request)));
  const int status = reply.head.status;
  const bool gone = status == 200 || status == 204 || (status == 404 && CodeOf(reply.body) != "NoSuchBucket");
  return gone ? absl::OkStatus() : store_->Refused(path, "remove", reply);
}

double S3FileSystem::ListPrice(const StoreCounters& counters) const {
  if (!store_->is_aws()) return -1;
  return static_cast<double>(counters.reads) * kPriceOfRead +
         static_cast<double>(counters.lists + counters.writes) * kPriceOfOther;
}

}  // namespace headrace::s3
