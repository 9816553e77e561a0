// `ReadAheadFile` gives buffered sequential reads of a file with one block of read-ahead. Other ranges are read when
// they are asked for. Use it for code that asks for ranges and waits for them, mostly in order.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_READ_AHEAD_FILE_H_
#define HEADRACE_IO_FORMATS_READ_AHEAD_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/pending_read.h"

namespace headrace {

class ReadAheadFile {
 public:
  // Begins to read the block at byte `from`. Nothing is read ahead from byte `until` on.
  static absl::StatusOr<std::unique_ptr<ReadAheadFile>> Open(const FileSystem& files, const std::string& path,
                                                             int64_t from, int64_t until, size_t block_bytes);

  // When it was opened, in bytes.
  int64_t size() const { return size_; }
  // kData: the file ends before, or became shorter.
  absl::Status Read(int64_t offset, uint64_t bytes, uint8_t* target);

 private:
  // Bytes that were asked for in one read.
  struct Block {
    bool Has(int64_t byte) const { return read != nullptr && byte >= begin && byte < end; }

    std::shared_ptr<PendingRead> read = nullptr;  // null: there is none
    int64_t begin = 0;
    int64_t end = 0;
  };
  // The block that came before stays, because what crosses a border is often looked at twice.
  enum Place { kBefore, kCurrent, kNext };

  ReadAheadFile(std::shared_ptr<const RandomAccessFile> file, std::string path, int64_t size, int64_t until,
                size_t block_bytes);

  absl::Status Start(int64_t begin, Block& block) const;
  // The block that has the byte; null: none has.
  absl::StatusOr<Block*> Find(int64_t byte);
  absl::Status Copy(const Block& block, int64_t offset, size_t bytes, uint8_t* target) const;
  absl::Status ReadNow(int64_t offset, size_t bytes, uint8_t* target) const;
  absl::Status CutOff() const;

  const std::shared_ptr<const RandomAccessFile> file_;
  const std::string path_;
  const int64_t size_;
  const int64_t until_;
  const size_t block_bytes_;
  std::array<Block, 3> blocks_;
  int64_t last_end_ = -1;  // of the last range that was asked for
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_READ_AHEAD_FILE_H_
