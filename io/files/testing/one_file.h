// `OneFile` is a file system for tests: one file in memory, which every path names.
// Threads: any.
#ifndef HEADRACE_IO_FILES_TESTING_ONE_FILE_H_
#define HEADRACE_IO_FILES_TESTING_ONE_FILE_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"

namespace headrace {

class OneFile : public FileSystem {
 public:
  explicit OneFile(std::string bytes) : bytes_(std::move(bytes)) {}

  absl::StatusOr<Tensor> Read(const std::string& /*path*/) const override {
    return Tensor::CopyBytes(DType::kBytes, bytes_);
  }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& /*path*/) const override {
    return std::make_shared<const Bytes>(bytes_);
  }
  absl::StatusOr<FileStat> Stat(const std::string& /*path*/) const override {
    FileStat stat;
    stat.size = static_cast<int64_t>(bytes_.size());
    return stat;
  }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool /*sizes*/) const override {
    return NotFoundError(folder, " is a file, where a folder is expected");
  }

 private:
  class Bytes : public RandomAccessFile {
   public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
    absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
      const std::string_view rest = bytes_.substr(std::min(bytes_.size(), static_cast<size_t>(offset)));
      const size_t read = std::min(rest.size(), target.size());
      if (read > 0) std::memcpy(target.data(), rest.data(), read);
      return static_cast<int64_t>(read);
    }
    absl::StatusOr<int64_t> Size() const override { return static_cast<int64_t>(bytes_.size()); }

   private:
    const std::string_view bytes_;
  };

  const std::string bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_TESTING_ONE_FILE_H_
