// `DelayedFileSystem` is a file system for tests whose asynchronous reads (StartReadAt) complete when the test
// completes them, in any order, like those of a remote store. All other calls are synchronous.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_TESTING_DELAYED_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_TESTING_DELAYED_FILE_SYSTEM_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/cancellation.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace {

class DelayedFileSystem : public FileSystem {
 public:
  explicit DelayedFileSystem(const FileSystem* files) : files_(files), reads_(std::make_shared<Reads>()) {}

  // Reads that were asked for and have not completed.
  size_t outstanding() const {
    const std::lock_guard<std::mutex> lock(reads_->mutex);
    return reads_->waiting.size();
  }
  // The most that were outstanding at once.
  size_t most() const {
    const std::lock_guard<std::mutex> lock(reads_->mutex);
    return reads_->most;
  }
  // Reads that nobody waits for any more, which complete as the others.
  size_t cancelled() const {
    const std::lock_guard<std::mutex> lock(reads_->mutex);
    return reads_->cancelled;
  }
  // Blocks until `count` reads are outstanding.
  void WaitFor(size_t count) const {
    std::unique_lock<std::mutex> lock(reads_->mutex);
    reads_->asked.wait(lock, [&] { return reads_->waiting.size() >= count; });
  }
  // Completes one outstanding read, the `which`-th from the oldest modulo their number; false: there is none.
  bool CompleteOne(size_t which = 0) const {
    std::function<void()> read;
    {
      const std::lock_guard<std::mutex> lock(reads_->mutex);
      std::vector<std::function<void()>>& waiting = reads_->waiting;
      if (waiting.empty()) return false;
      const auto chosen = waiting.begin() + static_cast<std::ptrdiff_t>(which % waiting.size());
      read = std::move(*chosen);
      waiting.erase(chosen);
    }
    read();
    return true;
  }

  absl::StatusOr<Tensor> Read(const std::string& path) const override { return files_->Read(path); }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files_->Open(path));
    return std::make_shared<const DelayedFile>(reads_, std::move(file));
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override { return files_->Stat(path); }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    return files_->ListPages(folder, sizes);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override {
    return files_->Create(path, options);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override {
    return files_->Resume(path, options, bytes);
  }
  absl::Status Remove(const std::string& path) const override { return files_->Remove(path); }

 private:
  struct Reads {
    std::mutex mutex;
    std::condition_variable asked;
    std::vector<std::function<void()>> waiting;
    size_t most = 0;
    size_t cancelled = 0;
  };

  class DelayedFile : public RandomAccessFile {
   public:
    DelayedFile(std::shared_ptr<Reads> reads, std::shared_ptr<const RandomAccessFile> file)
        : reads_(std::move(reads)), file_(std::move(file)) {}
    absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
      return file_->ReadAt(offset, target);
    }
    void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override {
      if (const auto cancellation = Cancellation::Current()) {
        cancellation->Add([reads = reads_] {
          const std::lock_guard<std::mutex> lock(reads->mutex);
          ++reads->cancelled;
        });
      }
      const std::lock_guard<std::mutex> lock(reads_->mutex);
      reads_->waiting.push_back(
          [file = file_, offset, target, done = std::move(done)] { done(file->ReadAt(offset, target)); });
      reads_->most = std::max(reads_->most, reads_->waiting.size());
      reads_->asked.notify_all();
    }
    absl::StatusOr<int64_t> Size() const override { return file_->Size(); }

   private:
    const std::shared_ptr<Reads> reads_;
    const std::shared_ptr<const RandomAccessFile> file_;
  };

  const FileSystem* const files_;
  const std::shared_ptr<Reads> reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_TESTING_DELAYED_FILE_SYSTEM_H_
