#include "io/files/http/http_file_system.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "core/error.h"
#include "io/files/file_system_registration.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/http_files.h"
#include "io/files/http/reach_for.h"
#include "io/files/http/url.h"

namespace headrace::http {
namespace {

FileGuard GuardOfListed(const ListedFile& listed) { return {"", listed.version, listed.size}; }

std::string AuthorizationOf(const StorageSettings& settings) {
  if (settings.anonymous) return "";
  if (!settings.token.empty()) return Cat("Bearer ", settings.token);
  if (settings.access_key.empty()) return "";
  return Cat("Basic ", absl::Base64Escape(ToAbsl(Cat(settings.access_key, ":", settings.secret_key))));
}

const FileSystemRegistration http_registration("http", [](const StorageSettings& settings) {
  return MakeHttpFileSystem(settings, false);
});
const FileSystemRegistration https_registration("https", [](const StorageSettings& settings) {
  return MakeHttpFileSystem(settings, true);
});

}  // namespace

HttpFileSystem::HttpFileSystem(Transport* transport, Reach reach, std::string authorization)
    : files_(std::make_shared<HttpFiles>(transport, std::move(reach), std::move(authorization))) {}

absl::StatusOr<Tensor> HttpFileSystem::Read(const std::string& path) const {
  const auto calls = std::make_shared<FollowedCalls>();
  AwaitedResult<Tensor> awaited;
  files_->StartWhole(path, {}, calls, [&awaited](absl::StatusOr<Tensor> read) { awaited.Set(std::move(read)); });
  return awaited.Wait([&] { calls->Cancel(); });
}

void HttpFileSystem::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  files_->StartWhole(path, GuardOfListed(listed), FollowedCalls::OfThisThread(), std::move(done));
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> HttpFileSystem::Open(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(HttpFiles::Found found, files_->Find(path, true));
  return std::make_shared<const HttpObject>(files_, path, std::move(found));
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> HttpFileSystem::Open(const std::string& path,
                                                                             const ListedFile& listed) const {
  if (listed.size >= 0 && !files_->GivesNoParts(path)) {
    return std::make_shared<const HttpObject>(files_, path, HttpFiles::Found{GuardOfListed(listed), std::nullopt});
  }
  HEADRACE_ASSIGN_OR_RETURN(HttpFiles::Found found, files_->Find(path, true));
  HEADRACE_RETURN_IF_ERROR(CheckAsListed(path, GuardOfListed(listed), found.guard));
  return std::make_shared<const HttpObject>(files_, path, std::move(found));
}

absl::StatusOr<FileStat> HttpFileSystem::Stat(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const HttpFiles::Found found, files_->Find(path, false));
  FileStat stat;
  stat.size = found.guard.size;
  stat.version = found.guard.etag;
  return stat;
}

absl::StatusOr<FileSystem::Located> HttpFileSystem::Locate(const std::string& path) const {
  const size_t host = RootOf(path).size();
  const std::string_view authority = std::string_view(path).substr(host, path.find_first_of("/?#", host) - host);
  if (authority.find('@') == std::string_view::npos) return Located{this, path};
  return GraphError(ShownUrl(path),
                    ": a path is kept and shown, so it has no name and password; give access_key and secret_key, or "
                    "token, by storage=, as {\"https://host/\": {\"access_key\": …, \"secret_key\": …}}");
}

absl::StatusOr<std::unique_ptr<FolderPages>> HttpFileSystem::ListPages(const std::string& folder,
                                                                       bool /*sizes*/) const {
  return ListTree(folder);
}

absl::StatusOr<std::unique_ptr<FolderPages>> HttpFileSystem::ListTree(const std::string& folder) const {
  return UnsupportedError(ShownUrl(folder),
                          ": hosts of http and https do not list folders; give the URLs of the files, of which braces "
                          "name many: https://host/part-{000..127}.tar");
}

StoreCounters HttpFileSystem::counters() const { return files_->counters(); }

absl::StatusOr<std::unique_ptr<FileSystem>> MakeHttpFileSystem(const StorageSettings& settings, bool secure) {
  HEADRACE_ASSIGN_OR_RETURN(Transport* const transport, LoadedTransport());
  HEADRACE_ASSIGN_OR_RETURN(Reach reach, ReachFor(settings, secure));
  return std::make_unique<HttpFileSystem>(transport, std::move(reach), AuthorizationOf(settings));
}

}  // namespace headrace::http
