// `MemoryStore` is a far store for tests: objects in memory under whole URLs ("mem://bucket/a/1.jpg"), versions that
// change with every Put, a log of requests, and asynchronous reads that complete at once, on one thread, or when the
// test completes them, in any order. A folder is a beginning of names, as in S3: it is there while a name begins so.
// Threads: any thread; it outlives its files and listings.
#ifndef HEADRACE_IO_FILES_TESTING_MEMORY_STORE_H_
#define HEADRACE_IO_FILES_TESTING_MEMORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace {

class MemoryStore : public FileSystem, public FarFiles {
 public:
  // When the reads of StartRead and StartReadAt complete.
  enum class Completes {
    kAtOnce,    // before the call returns
    kOnDemand,  // in CompleteOne and CompleteAll
    kOnThread,  // in order, on one thread of the store
  };
  struct Options {
    Completes completes = Completes::kAtOnce;
    // Files have versions in stats and listings.
    bool versions = true;
    // Reads refuse another version than the one that was listed or opened; without, Open compares it once, by a kStat.
    bool conditional = true;
    // Entries in a page of a listing.
    size_t page = 1000;
    int most_outstanding = 512;
  };
  enum class Kind { kStat, kListPage, kTreePage, kRead, kReadRange, kWrite, kRemove };
  struct Request {
    Kind kind;
    std::string path;  // of the file, or the folder that is listed
    int64_t offset = 0;
    int64_t bytes = 0;  // asked for, or written
  };

  MemoryStore();
  explicit MemoryStore(Options options);
  // Reads that are outstanding end with kClosed.
  ~MemoryStore() override;

  // Adds or replaces an object, which gets a new version.
  void Put(const std::string& path, std::string_view bytes);
  // Removes an object without a request.
  void Drop(const std::string& path);
  // The bytes of an object; empty if there is none.
  std::string Get(const std::string& path) const;
  bool Has(const std::string& path) const;

  // Runs before each request is served, on the thread that serves it; an error that it returns is the reply. It may
  // block and may call Put.
  void set_before(std::function<absl::Status(const Request& request)> before);

  // What was asked for so far, in order.
  std::vector<Request> requests() const;
  int64_t count(Kind kind) const;
  int64_t count(Kind kind, std::string_view path) const;
  // Of all kinds.
  int64_t count() const;
  // Bytes of a file, or of all files, that were given to readers.
  int64_t given(std::string_view path) const;
  int64_t given() const;
  // Begins all counts and the log anew.
  void ForgetRequests();

  // Asynchronous reads that have not completed.
  size_t outstanding() const;
  // The most that were outstanding at once.
  size_t most() const;
  // Blocks until `count` reads are outstanding.
  void WaitFor(size_t count) const;
  // Completes the `which`-th of the outstanding reads, from the oldest, modulo their number; false: there is none.
  bool CompleteOne(size_t which = 0) const;
  // Completes reads until none is outstanding.
  void CompleteAll() const;

  // FileSystem.
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

  // FarFiles.
  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override;
  StoreCounters counters() const override;
  int most_outstanding() const override;
  bool conditional_reads() const override;

 private:
  struct State;
  class File;
  class Pages;
  class Output;

  const std::shared_ptr<State> state_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_TESTING_MEMORY_STORE_H_
