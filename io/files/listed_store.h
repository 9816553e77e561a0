// `ListedStore` is a far store whose listings and stats are remembered. Stats of what a listing covers and repeated
// listings cost no request, and files are opened as they were listed. A file that is written, or that cannot be read as
// it was listed, is forgotten, and the next listing that would have it is made anew; of others the old ones still hold.
// Threads: any thread. Outlives its files.
#ifndef HEADRACE_IO_FILES_LISTED_STORE_H_
#define HEADRACE_IO_FILES_LISTED_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/far_files.h"
#include "io/files/far_listing.h"
#include "io/files/file_system.h"

namespace headrace {

class ListedStore : public FileSystem, public FarFiles {
 public:
  // `store` is far, and outlives this.
  explicit ListedStore(const FileSystem* store);

  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override;
  absl::Status Remove(const std::string& path) const override;
  const FarFiles* far() const override { return this; }
  const FileSystem* kept_as() const override { return store_->kept_as(); }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override;
  StoreCounters counters() const override;
  int most_outstanding() const override;
  bool conditional_reads() const override;
  double ListPrice(const StoreCounters& counters) const override;
  std::string Warning() const override;
  void Expect(absl::Span<const std::string> paths) const override;
  ListedFile ListedAs(const std::string& path) const override;

 private:
  class Memory;
  class File;
  class Output;

  absl::StatusOr<std::unique_ptr<FolderPages>> List(const std::string& folder, bool tree) const;
  absl::Status ExpectIn(const std::string& folder, const std::vector<std::string>& names) const;
  ListedFile Known(const std::string& path, ListedFile listed) const;

  const FileSystem* const store_;
  const std::shared_ptr<Memory> memory_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_LISTED_STORE_H_
