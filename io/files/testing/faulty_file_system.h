// `FaultyFileSystem` is a file system for tests that runs a callback before each call, and so can fail, wait or count.
// Threads: any, if the callback allows it.
#ifndef HEADRACE_IO_FILES_TESTING_FAULTY_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_TESTING_FAULTY_FILE_SYSTEM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace {

class FaultyFileSystem : public FileSystem {
 public:
  // `call` is "Read", "Open", "ReadAt", "Size", "Stat", "List", "NextPage", "Create", "Resume", "Remove", or a method
  // of OutputStream. An error returned is the call's result.
  using Before = std::function<absl::Status(std::string_view call, const std::string& path)>;

  FaultyFileSystem(const FileSystem* files, Before before) : files_(files), before_(std::move(before)) {}

  absl::StatusOr<Tensor> Read(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(before_("Read", path));
    return files_->Read(path);
  }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(before_("Open", path));
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files_->Open(path));
    return std::make_shared<const FaultyFile>(before_, path, std::move(file));
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(before_("Stat", path));
    return files_->Stat(path);
  }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    HEADRACE_RETURN_IF_ERROR(before_("List", folder));
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<FolderPages> pages, files_->ListPages(folder, sizes));
    return std::make_unique<FaultyPages>(before_, folder, std::move(pages));
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override {
    HEADRACE_RETURN_IF_ERROR(before_("Create", path));
    return Faulty(path, files_->Create(path, options));
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override {
    HEADRACE_RETURN_IF_ERROR(before_("Resume", path));
    return Faulty(path, files_->Resume(path, options, bytes));
  }
  absl::Status Remove(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(before_("Remove", path));
    return files_->Remove(path);
  }

 private:
  class FaultyFile : public RandomAccessFile {
   public:
    FaultyFile(Before before, std::string path, std::shared_ptr<const RandomAccessFile> file)
        : before_(std::move(before)), path_(std::move(path)), file_(std::move(file)) {}
    absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
      HEADRACE_RETURN_IF_ERROR(before_("ReadAt", path_));
      return file_->ReadAt(offset, target);
    }
    absl::StatusOr<int64_t> Size() const override {
      HEADRACE_RETURN_IF_ERROR(before_("Size", path_));
      return file_->Size();
    }

   private:
    const Before before_;
    const std::string path_;
    const std::shared_ptr<const RandomAccessFile> file_;
  };

  class FaultyPages : public FolderPages {
   public:
    FaultyPages(Before before, std::string folder, std::unique_ptr<FolderPages> pages)
        : before_(std::move(before)), folder_(std::move(folder)), pages_(std::move(pages)) {}
    absl::StatusOr<std::vector<FolderEntry>> Next() override {
      HEADRACE_RETURN_IF_ERROR(before_("NextPage", folder_));
      return pages_->Next();
    }

   private:
    const Before before_;
    const std::string folder_;
    const std::unique_ptr<FolderPages> pages_;
  };

  class FaultyOutput : public OutputStream {
   public:
    FaultyOutput(Before before, std::string path, std::unique_ptr<OutputStream> stream)
        : before_(std::move(before)), path_(std::move(path)), stream_(std::move(stream)) {}

    absl::Status Append(absl::Span<const std::string_view> parts) override {
      HEADRACE_RETURN_IF_ERROR(before_("Append", path_));
      return stream_->Append(parts);
    }
    int64_t size() const override { return stream_->size(); }
    absl::Status Rewrite(int64_t offset, std::string_view bytes) override {
      HEADRACE_RETURN_IF_ERROR(before_("Rewrite", path_));
      return stream_->Rewrite(offset, bytes);
    }
    absl::Status Flush() override {
      HEADRACE_RETURN_IF_ERROR(before_("Flush", path_));
      return stream_->Flush();
    }
    absl::Status Seal() override {
      HEADRACE_RETURN_IF_ERROR(before_("Seal", path_));
      return stream_->Seal();
    }
    absl::Status Commit() override {
      HEADRACE_RETURN_IF_ERROR(before_("Commit", path_));
      return stream_->Commit();
    }
    absl::Status Keep() override {
      // What is kept after a fault is kept.
      const absl::Status fault = before_("Keep", path_);
      const absl::Status kept = stream_->Keep();
      return fault.ok() ? kept : fault;
    }

   private:
    const Before before_;
    const std::string path_;
    const std::unique_ptr<OutputStream> stream_;
  };

  absl::StatusOr<std::unique_ptr<OutputStream>> Faulty(const std::string& path,
                                                       absl::StatusOr<std::unique_ptr<OutputStream>> stream) const {
    HEADRACE_RETURN_IF_ERROR(stream.status());
    return std::make_unique<FaultyOutput>(before_, path, *std::move(stream));
  }

  const FileSystem* files_;
  Before before_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_TESTING_FAULTY_FILE_SYSTEM_H_
