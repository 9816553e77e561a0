#include "io/files/file_system_registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/error.h"
#include "io/files/output_stream.h"

namespace headrace {
namespace {

constexpr std::string_view kFile = "file";
constexpr std::string_view kLocalhost = "localhost";

// "s3" of "s3://bucket"; "" of a plain path.
std::string_view SchemeOf(std::string_view path) {
  const std::string_view root = RootOf(path);
  const size_t colon = root.find(':');
  return colon == std::string_view::npos ? std::string_view() : root.substr(0, colon);
}

}  // namespace

std::string_view RootOf(std::string_view path) {
  if (!path.empty() && path[0] == '/') return path.substr(0, 1);
  size_t colon = 0;
  while (colon < path.size() && (absl::ascii_isalnum(static_cast<unsigned char>(path[colon])) || path[colon] == '+' ||
                                 path[colon] == '-' || path[colon] == '.')) {
    ++colon;
  }
  if (colon == 0 || !absl::ascii_isalpha(static_cast<unsigned char>(path[0]))) return {};
  const std::string_view after = path.substr(colon);
  if (after.substr(0, 3) == "://") {
    const bool local = path.substr(0, colon) == kFile;
    // The root of the machine's files is the slash after the host.
    const size_t slash = local ? path.find('/', colon + 3) : std::string_view::npos;
    return path.substr(0, slash == std::string_view::npos ? colon + 3 : slash + 1);
  }
  return path.substr(0, colon) == kFile && after.substr(0, 2) == ":/" ? path.substr(0, colon + 2) : std::string_view();
}

absl::StatusOr<FileSystem::Located> FileSystemRegistry::LocateFileUri(std::string_view uri) const {
  const std::string_view root = RootOf(uri);
  std::string_view host = root.substr(kFile.size() + 1, root.size() - kFile.size() - 2);
  if (host.substr(0, 2) == "//") host.remove_prefix(2);
  if (root.back() != '/' || (!host.empty() && host != kLocalhost)) {
    return UnsupportedError(uri,
                            ": a file URI names files of this machine: write file:///folder/name, or the path alone");
  }
  return plain_->Locate(std::string(uri.substr(root.size() - 1)));
}

absl::StatusOr<FileSystem::Located> FileSystemRegistry::Locate(const std::string& path) const {
  const std::string_view scheme = SchemeOf(path);
  if (scheme.empty()) return plain_->Locate(path);
  if (const auto found = by_scheme_.find(scheme); found != by_scheme_.end()) return found->second->Locate(path);
  if (makers_ != nullptr && makers_->by_scheme.contains(scheme)) return LocateInStore(scheme, path);
  if (scheme == kFile) return LocateFileUri(path);
  const std::vector<std::string> schemes = Schemes();
  const std::string lower = absl::AsciiStrToLower(ToAbsl(scheme));
  const bool is_known = lower == kFile || std::find(schemes.begin(), schemes.end(), lower) != schemes.end();
  if (is_known) return UnsupportedError(path, ": schemes are in small letters: write ", lower, "://");
  std::string known = "plain paths and file://";
  for (const std::string& name : schemes) Append(known, ", ", name, "://");
  return UnsupportedError(path, ": there is no file system for ", scheme, "://; there is one for ", known,
                          ". Bring one with headrace.register_filesystem(\"", scheme,
                          "\", files), or copy the files to this machine");
}

absl::StatusOr<FileSystem::Located> FileSystemRegistry::LocateInStore(std::string_view scheme,
                                                                      const std::string& url) const {
  const absl::StatusOr<const FileSystem*> store = MadeStore(*makers_, scheme, storage_.For(url).settings);
  if (store.ok()) return (*store)->Locate(url);
  absl::Status error = store.status();
  AddErrorField(error, ErrorField::kFile, url);
  return error;
}

std::vector<std::string> FileSystemRegistry::Schemes() const {
  std::set<std::string> schemes;
  for (const auto& [scheme, files] : by_scheme_) schemes.insert(scheme);
  if (makers_ != nullptr) {
    for (const auto& [scheme, maker] : makers_->by_scheme) schemes.insert(scheme);
  }
  return {schemes.begin(), schemes.end()};
}

absl::StatusOr<Tensor> FileSystemRegistry::Read(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Read(located.path);
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> FileSystemRegistry::Open(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Open(located.path);
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> FileSystemRegistry::Open(const std::string& path,
                                                                                 const ListedFile& listed) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Open(located.path, listed);
}

void FileSystemRegistry::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  const absl::StatusOr<Located> located = Locate(path);
  if (!located.ok()) return done(located.status());
  located->files->StartRead(located->path, listed, std::move(done));
}

absl::StatusOr<FileStat> FileSystemRegistry::Stat(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Stat(located.path);
}

absl::StatusOr<std::unique_ptr<FolderPages>> FileSystemRegistry::ListPages(const std::string& folder,
                                                                           bool sizes) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(folder));
  return located.files->ListPages(located.path, sizes);
}

absl::StatusOr<std::unique_ptr<OutputStream>> FileSystemRegistry::Create(const std::string& path,
                                                                         const OutputOptions& options) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Create(located.path, options);
}

absl::StatusOr<std::unique_ptr<OutputStream>> FileSystemRegistry::Resume(const std::string& path,
                                                                         const OutputOptions& options,
                                                                         int64_t bytes) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Resume(located.path, options, bytes);
}

absl::Status FileSystemRegistry::Remove(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const Located located, Locate(path));
  return located.files->Remove(located.path);
}

const FileSystem* FileSystemWith(const std::shared_ptr<const StorageTable>& table) {
  // What was registered is part of the key, so that runs that have begun keep what they have.
  using Key = std::pair<std::shared_ptr<const StoreMakers>, StorageTable>;
  static auto* const mutex = new std::mutex;
  static auto* const registries = new std::map<Key, FileSystemRegistry>;
  Key key(CurrentStoreMakers(), *table);
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto found = registries->find(key);
  if (found != registries->end()) return &found->second;
  return &registries->try_emplace(key, LocalFileSystem(), key.first, key.second).first->second;
}

const FileSystem* DefaultFileSystem() { return FileSystemWith(CurrentStorage()); }

}  // namespace headrace
