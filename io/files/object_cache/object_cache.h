// `ObjectCache` is a far store with a folder of this machine in front of it, where what was read stays for the next
// epoch, the next run and other processes (object_cache/part_folder.h). Bytes are found by address, size and version,
// so a changed object is another one; an object whose version is not known is not kept. What a listing did not say of
// an object is asked for before each read of it: the answer costs a request, as the read would, but no bytes. A read of
// a few bytes fetches the whole object, or 8 MiB of one that is larger than 64 MiB.
// Threads: any thread; it outlives its files and reads. In a forked child reads are synchronous.
#ifndef HEADRACE_IO_FILES_OBJECT_CACHE_OBJECT_CACHE_H_
#define HEADRACE_IO_FILES_OBJECT_CACHE_OBJECT_CACHE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/object_cache/disk_threads.h"
#include "io/files/object_cache/part.h"
#include "io/files/object_cache/part_folder.h"
#include "io/files/object_cache/part_reads.h"

namespace headrace::object_cache {

class ObjectCache : public FileSystem, public FarFiles {
 public:
  // Bytes that wait to be written, of all together; what is read while there are more is not kept.
  static constexpr int64_t kMostWaiting = int64_t{128} << 20;

  // `far` has FileSystem::far. `store` tells stores apart that have equal URLs.
  ObjectCache(std::unique_ptr<FileSystem> far, std::unique_ptr<PartFolder> folder, std::string store);

  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override { return far_->Stat(path); }
  // What the store refuses to find is refused here.
  absl::StatusOr<Located> Locate(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    return far_->ListPages(folder, sizes);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override;
  absl::Status Remove(const std::string& path) const override { return far_->Remove(path); }
  const FarFiles* far() const override { return this; }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override {
    return far_->far()->ListTree(folder);
  }
  void Expect(absl::Span<const std::string> paths) const override { far_->far()->Expect(paths); }
  StoreCounters counters() const override;
  bool conditional_reads() const override { return far_->far()->conditional_reads(); }
  int most_outstanding() const override { return far_->far()->most_outstanding(); }
  double ListPrice(const StoreCounters& counters) const override { return far_->far()->ListPrice(counters); }
  std::string Warning() const override;

 private:
  class File;

  // Whether this is a child of the process that made it, without its threads.
  bool IsForked() const;
  // What the store says of a file that was not listed; nothing is known of it where the store cannot say.
  ListedFile Ask(const std::string& path) const;
  std::shared_ptr<const File> OpenKnown(const std::string& path, const ListedFile& listed) const;
  void ReadWhole(const std::string& path, const ListedFile& listed, ReadDone done) const;
  void ReadInParts(const std::string& path, const ListedFile& listed, ReadDone done) const;
  void ReadFar(const std::string& path, const ListedFile& listed, const PartKey& key, ReadDone done) const;
  // Writes it to the folder before it is given away: from then on the user may change it.
  void Keep(const PartKey& key, Tensor read, ReadDone done) const;

  const std::unique_ptr<FileSystem> far_;
  const std::unique_ptr<PartFolder> folder_;
  const std::string store_;
  const pid_t process_;
  mutable std::atomic<int64_t> waiting_bytes_{0};
  mutable PartReads reads_;
  mutable DiskThreads threads_;  // destroyed first: its tasks use all others
};

}  // namespace headrace::object_cache

#endif  // HEADRACE_IO_FILES_OBJECT_CACHE_OBJECT_CACHE_H_
