#include "io/files/hdfs/hdfs_file_system.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "core/tensor.h"
#include "io/files/file_system_registration.h"
#include "io/files/hdfs/hdfs_file.h"
#include "io/files/hdfs/hdfs_output.h"
#include "io/files/hdfs/listed_pages.h"
#include "io/files/hdfs/name_nodes.h"
#include "io/files/hdfs/negotiate.h"
#include "io/files/hdfs/span_read.h"
#include "io/files/http/reach_for.h"
#include "io/files/output_stream.h"
#include "io/files/plainly_missing.h"
#include "io/files/system_error.h"

namespace headrace::hdfs {
namespace {

// Each needs the NameNode first, and then a DataNode.
constexpr int kMostReads = 512;

const FileSystemRegistration hdfs_registration("hdfs", MakeHdfsFileSystem);
const FileSystemRegistration webhdfs_registration("webhdfs", MakeHdfsFileSystem);
const FileSystemRegistration swebhdfs_registration("swebhdfs", MakeHdfsFileSystem);

std::string UsualUser() {
  for (const char* const name : {"HADOOP_USER_NAME", "USER"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  std::vector<char> text(size_t{16} << 10);
  passwd entry;
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found);
  return found == nullptr ? "" : found->pw_name;
}

std::string TokenFileOfEnvironment() {
  const char* const file = std::getenv("HADOOP_TOKEN_FILE_LOCATION");
  return file == nullptr ? "" : file;
}

bool AnyTls(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) {
    if (address.starts_with("https://")) return true;
  }
  return false;
}

KnownFile KnownOf(std::string name, std::string path, const HdfsStatus& status) {
  return {.name = std::move(name),
          .path = std::move(path),
          .size = status.size,
          .block_size = status.block_size,
          .version = VersionHash(VersionOf(status))};
}

}  // namespace

HdfsFileSystem::HdfsFileSystem(http::Transport* transport, Options options)
    : transport_(transport), options_(std::move(options)) {}

HdfsFileSystem::~HdfsFileSystem() = default;

absl::StatusOr<std::shared_ptr<HdfsClient>> HdfsFileSystem::MakeClient(const HdfsUrl& url) const {
  const StorageSettings& settings = options_.settings;
  HEADRACE_ASSIGN_OR_RETURN(std::vector<std::string> addresses,
                            FindNameNodes(url, options_.configuration, settings.endpoint));
  HEADRACE_ASSIGN_OR_RETURN(http::Reach reach, http::ReachFor(settings, AnyTls(addresses)));
  LoginSettings login = {.authority = url.authority,
                         .user = settings.user,
                         .token = settings.token,
                         .token_file = options_.token_file,
                         .usual_user = options_.usual_user,
                         .anonymous = settings.anonymous,
                         .negotiate = options_.negotiate};
  return std::make_shared<HdfsClient>(transport_, std::move(reach), std::move(addresses), std::move(login));
}

absl::StatusOr<HdfsFileSystem::Place> HdfsFileSystem::Find(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(HdfsUrl url, ParseHdfsUrl(path));
  const std::lock_guard lock(mutex_);
  std::shared_ptr<HdfsClient>& client = clients_[{url.scheme, url.authority}];
  if (client == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(client, MakeClient(url));
  }
  return Place{client.get(), std::move(url.path)};
}

absl::Status HdfsFileSystem::Explained(absl::Status error, const std::string& path) const {
  return IsPlainlyMissing(error) ? MissingPathError(*this, path) : error;
}

absl::StatusOr<HdfsStatus> HdfsFileSystem::FileStatusOf(const Place& place, const std::string& path) const {
  absl::StatusOr<HdfsStatus> status = place.client->Status(path, place.path);
  if (!status.ok()) return Explained(std::move(status).status(), path);
  if (status->type == EntryType::kFolder) return SystemError(*LocalFileSystem(), path, "read", EISDIR);
  if (status->type != EntryType::kFile) return NotARegularFileError(path);
  return status;
}

absl::StatusOr<Tensor> HdfsFileSystem::Read(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(path));
  HEADRACE_ASSIGN_OR_RETURN(const HdfsStatus status, FileStatusOf(place, path));
  BufferRef buffer = BufferPool::Current().Allocate(static_cast<size_t>(status.size));
  if (!buffer) return ResourceError("no memory for ", path, " (", status.size, " bytes)");
  const absl::Span<uint8_t> target(buffer->data(), static_cast<size_t>(status.size));
  HEADRACE_RETURN_IF_ERROR(RunSpanRead(
      *place.client, {.name = path, .path = place.path, .block_size = status.block_size, .target = target}));
  // Its blocks come one after the other, and a writer may have replaced it between them.
  const KnownFile known = KnownOf(path, place.path, status);
  if (known.version != 0) {
    HEADRACE_RETURN_IF_ERROR(CheckUnchanged(known, place.client->Status(path, place.path)));
  }
  return Tensor::ViewBytes(DType::kBytes, std::move(buffer), target.data(), target.size());
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> HdfsFileSystem::Open(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(path));
  HEADRACE_ASSIGN_OR_RETURN(const HdfsStatus status, FileStatusOf(place, path));
  KnownFile known = KnownOf(path, place.path, status);
  known.version = 0;  // it was just asked for
  return std::make_shared<const HdfsFile>(place.client, std::move(known));
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> HdfsFileSystem::Open(const std::string& path,
                                                                             const ListedFile& listed) const {
  HEADRACE_ASSIGN_OR_RETURN(Place place, Find(path));
  if (listed.size >= 0) {
    KnownFile known = {.name = path, .path = std::move(place.path), .size = listed.size, .version = listed.version};
    return std::make_shared<const HdfsFile>(place.client, std::move(known));
  }
  HEADRACE_ASSIGN_OR_RETURN(const HdfsStatus status, FileStatusOf(place, path));
  KnownFile known = KnownOf(path, place.path, status);
  if (listed.version != 0) known.version = listed.version;
  return std::make_shared<const HdfsFile>(place.client, std::move(known));
}

void HdfsFileSystem::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  absl::StatusOr<Place> place = Find(path);
  if (!place.ok()) return done(std::move(place).status());
  if (listed.size < 0) return done(Read(path));
  KnownFile known = {.name = path, .path = std::move(place->path), .size = listed.size, .version = listed.version};
  StartHdfsRead(place->client, std::move(known), std::move(done));
}

absl::StatusOr<FileStat> HdfsFileSystem::Stat(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(path));
  HEADRACE_ASSIGN_OR_RETURN(const HdfsStatus status, place.client->Status(path, place.path));
  return StatOf(status);
}

absl::StatusOr<std::unique_ptr<FolderPages>> HdfsFileSystem::ListPages(const std::string& folder,
                                                                       bool /*sizes*/) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(folder));
  absl::StatusOr<std::unique_ptr<FolderPages>> pages = MakeFolderPages(place.client, folder, place.path);
  if (!pages.ok()) return Explained(std::move(pages).status(), folder);
  return pages;
}

absl::StatusOr<std::unique_ptr<FolderPages>> HdfsFileSystem::ListTree(const std::string& folder) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(folder));
  absl::StatusOr<std::unique_ptr<FolderPages>> pages = MakeTreePages(place.client, folder, place.path);
  if (!pages.ok()) return Explained(std::move(pages).status(), folder);
  return pages;
}

absl::StatusOr<std::unique_ptr<OutputStream>> HdfsFileSystem::Create(const std::string& path,
                                                                     const OutputOptions& options) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(path));
  return CreateHdfsOutput(place.client, path, place.path, options);
}

absl::StatusOr<std::unique_ptr<OutputStream>> HdfsFileSystem::Resume(const std::string& path,
                                                                     const OutputOptions& options,
                                                                     int64_t bytes) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(path));
  return ResumeHdfsOutput(place.client, path, place.path, options, bytes);
}

absl::Status HdfsFileSystem::Remove(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Place place, Find(path));
  return RemoveHdfsFile(*place.client, path, place.path);
}

StoreCounters HdfsFileSystem::counters() const {
  StoreCounters sum;
  const std::lock_guard lock(mutex_);
  for (const auto& [cluster, client] : clients_) {
    const StoreCounters one = client == nullptr ? StoreCounters() : client->counters();
    for (int64_t StoreCounters::* const count :
         {&StoreCounters::reads, &StoreCounters::lists, &StoreCounters::writes, &StoreCounters::received,
          &StoreCounters::sent, &StoreCounters::retries, &StoreCounters::throttled, &StoreCounters::hedges,
          &StoreCounters::connections, &StoreCounters::waiting_ns, &StoreCounters::transfer_ns,
          &StoreCounters::paused_ns}) {
      sum.*count += one.*count;
    }
  }
  return sum;
}

int HdfsFileSystem::most_outstanding() const { return kMostReads; }

absl::StatusOr<std::unique_ptr<FileSystem>> MakeHdfsFileSystem(const StorageSettings& settings) {
  HEADRACE_ASSIGN_OR_RETURN(http::Transport* const transport, http::LoadedTransport());
  HEADRACE_ASSIGN_OR_RETURN(HadoopConfiguration configuration,
                            HadoopConfiguration::Read(HadoopConfiguration::UsualFolder()));
  HdfsFileSystem::Options options = {.settings = settings,
                                     .configuration = std::move(configuration),
                                     .token_file = TokenFileOfEnvironment(),
                                     .usual_user = UsualUser(),
                                     .negotiate = NegotiateToken};
  return std::make_unique<HdfsFileSystem>(transport, std::move(options));
}

}  // namespace headrace::hdfs
