#include "io/files/s3/s3_file_system.h"

#include <utility>

#include "core/error.h"
#include "io/files/file_system_registration.h"
#include "io/files/http/awaited_result.h"
#include "io/files/output_stream.h"
#include "io/files/plainly_missing.h"
#include "io/files/s3/s3_listing.h"
#include "io/files/s3/s3_object.h"
#include "io/files/s3/s3_path.h"
#include "io/files/s3/store_reply.h"

namespace headrace::s3 {
namespace {

// US dollars.
constexpr double kPriceOfRead = 0.0004 / 1000;
constexpr double kPriceOfOther = 0.005 / 1000;

absl::StatusOr<ObjectPlace> PlaceOf(const S3Stores& stores, const std::string& path, bool is_listed = false) {
  HEADRACE_ASSIGN_OR_RETURN(S3Path at, ParseObjectPath(path));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<S3Store> store, is_listed ? stores.Last() : stores.Now());
  return ObjectPlace{std::move(store), path, std::move(at)};
}

absl::StatusOr<FolderPlace> FolderPlaceOf(const S3Stores& stores, const std::string& folder) {
  HEADRACE_ASSIGN_OR_RETURN(S3Path at, ParseS3Path(folder));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<S3Store> store, stores.Now());
  return FolderPlace{std::move(store), folder, std::move(at)};
}

absl::StatusOr<FileStat> StatOf(const ObjectPlace& place) {
  absl::StatusOr<FileStat> stat = StatObject(place);
  return KindOf(stat.status()) == ErrorKind::kUnsupported ? StatByReading(place) : stat;
}

absl::StatusOr<FileStat> StatFolder(const FolderPlace& place) {
  HEADRACE_ASSIGN_OR_RETURN(const bool there, IsFolder(place));
  if (!there) return MissingError(place.name);
  FileStat stat;
  stat.type = EntryType::kFolder;
  return stat;
}

absl::StatusOr<std::unique_ptr<FileSystem>> MakeS3FileSystem(const StorageSettings& settings) {
  return std::make_unique<S3FileSystem>(StoreOptions{.settings = settings});
}

const FileSystemRegistration s3_registration("s3", MakeS3FileSystem);
const FileSystemRegistration s3a_registration("s3a", MakeS3FileSystem);

}  // namespace

absl::StatusOr<Tensor> S3FileSystem::Read(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const ObjectPlace place, PlaceOf(stores_, path));
  const auto cancellation = std::make_shared<Cancellation>();
  http::AwaitedResult<Tensor> awaited;
  StartReadObject(place, {}, cancellation, [&awaited](absl::StatusOr<Tensor> read) { awaited.Set(std::move(read)); });
  return awaited.Wait([&] { cancellation->Cancel(); });
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> S3FileSystem::Open(const std::string& path) const {
  return Open(path, {});
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> S3FileSystem::Open(const std::string& path,
                                                                           const ListedFile& listed) const {
  HEADRACE_ASSIGN_OR_RETURN(ObjectPlace place, PlaceOf(stores_, path, listed.size >= 0));
  ListedFile known = listed;
  if (known.size < 0) {
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, StatOf(place));
    known = {stat.size, VersionHash(stat.version)};
    if (listed.version != 0 && listed.version != known.version) return ChangedError(path);
  }
  return std::make_shared<const S3Object>(std::move(place), known);
}

void S3FileSystem::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  const absl::StatusOr<ObjectPlace> place = PlaceOf(stores_, path, listed.size >= 0);
  if (!place.ok()) return done(place.status());
  StartReadObject(*place, listed, Cancellation::Current(), std::move(done));
}

absl::StatusOr<FileStat> S3FileSystem::Stat(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const FolderPlace place, FolderPlaceOf(stores_, path));
  if (place.at.key.empty() || place.at.key.back() == '/') return StatFolder(place);
  const ObjectPlace object{place.store, path, place.at};
  const absl::StatusOr<FileStat> stat = StatObject(object);
  const bool missing = KindOf(stat.status()) == ErrorKind::kNotFound;
  // Keys that may list a folder may be refused the object of its name.
  if (stat.ok() || (!missing && KindOf(stat.status()) != ErrorKind::kUnsupported)) return stat;
  const absl::StatusOr<FileStat> folder = StatFolder(place);
  if (folder.ok()) return folder;
  if (!missing) return StatByReading(object);
  return KindOf(folder.status()) == ErrorKind::kNotFound ? stat : folder;
}

absl::StatusOr<std::unique_ptr<FolderPages>> S3FileSystem::ListPages(const std::string& folder, bool /*sizes*/) const {
  HEADRACE_ASSIGN_OR_RETURN(const FolderPlace place, FolderPlaceOf(stores_, folder));
  return ListFolder(place);
}

absl::StatusOr<std::unique_ptr<FolderPages>> S3FileSystem::ListTree(const std::string& folder) const {
  HEADRACE_ASSIGN_OR_RETURN(const FolderPlace place, FolderPlaceOf(stores_, folder));
  return ListTreeOf(place);
}

absl::StatusOr<std::unique_ptr<OutputStream>> S3FileSystem::Create(const std::string& path,
                                                                   const OutputOptions& options) const {
  HEADRACE_ASSIGN_OR_RETURN(ObjectPlace place, PlaceOf(stores_, path));
  return CreateS3Output(std::move(place), options, limits_);
}

absl::StatusOr<std::unique_ptr<OutputStream>> S3FileSystem::Resume(const std::string& path,
                                                                   const OutputOptions& /*options*/,
                                                                   int64_t /*bytes*/) const {
  return NotFoundError(path, ": S3 keeps no drafts; write the file anew");
}

absl::Status S3FileSystem::Remove(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const ObjectPlace place, PlaceOf(stores_, path));
  S3Request request;
  request.name = path;
  request.at = place.at;
  request.method = "DELETE";
  request.purpose = http::Purpose::kWrite;
  HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, place.store->Run(std::move(request)));
  const int status = reply.head.status;
  const bool gone = status == 200 || status == 204 || (status == 404 && CodeOf(reply.body) != "NoSuchBucket");
  return gone ? absl::OkStatus() : place.store->Refused(path, "remove", reply);
}

double S3FileSystem::ListPrice(const StoreCounters& counters) const {
  if (!stores_.are_aws()) return -1;
  return static_cast<double>(counters.reads) * kPriceOfRead +
         static_cast<double>(counters.lists + counters.writes) * kPriceOfOther;
}

}  // namespace headrace::s3
