#include "io/files/as_listed.h"

#include <utility>

#include "io/files/far_of.h"
#include "io/files/output_stream.h"

namespace headrace {

AsListed::AsListed(const FileSystem* files, const PathArena& paths, absl::FunctionRef<ListedFile(size_t i)> listed)
    : files_(files) {
  for (int64_t i = 0; i < paths.size(); ++i) listed_.emplace(paths[i], listed(static_cast<size_t>(i)));
}

std::unique_ptr<const AsListed> AsListed::OfFar(const FileSystem* files, const PathArena& paths,
                                                absl::FunctionRef<ListedFile(size_t i)> listed) {
  if (paths.size() == 0 || FarOf(*files, std::string(paths[0])) == nullptr) return nullptr;
  return std::make_unique<const AsListed>(files, paths, listed);
}

ListedFile AsListed::Known(const std::string& path) const {
  const auto found = listed_.find(path);
  return found == listed_.end() ? ListedFile{} : found->second;
}

absl::StatusOr<Tensor> AsListed::Read(const std::string& path) const { return files_->Read(path); }

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> AsListed::Open(const std::string& path) const {
  return Open(path, Known(path));
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> AsListed::Open(const std::string& path,
                                                                       const ListedFile& listed) const {
  return files_->Open(path, listed);
}

void AsListed::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  files_->StartRead(path, listed, std::move(done));
}

absl::StatusOr<FileStat> AsListed::Stat(const std::string& path) const { return files_->Stat(path); }

absl::StatusOr<std::unique_ptr<FolderPages>> AsListed::ListPages(const std::string& folder, bool sizes) const {
  return files_->ListPages(folder, sizes);
}

absl::StatusOr<std::unique_ptr<OutputStream>> AsListed::Create(const std::string& path,
                                                               const OutputOptions& options) const {
  return files_->Create(path, options);
}

absl::StatusOr<std::unique_ptr<OutputStream>> AsListed::Resume(const std::string& path, const OutputOptions& options,
                                                               int64_t bytes) const {
  return files_->Resume(path, options, bytes);
}

absl::Status AsListed::Remove(const std::string& path) const { return files_->Remove(path); }

}  // namespace headrace
