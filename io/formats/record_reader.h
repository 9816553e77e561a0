// `Format` is the interface of formats: it cuts files into splits. A `RecordReader` reads the records of one split, in
// blocks that are views of one pooled buffer each. A record belongs to the split that holds its first byte, so that
// splits can be read in any order, by any process, and together give each record once.
// Threads: a Format may be used from any thread at once; a RecordReader belongs to one thread at a time.
#ifndef HEADRACE_IO_FORMATS_RECORD_READER_H_
#define HEADRACE_IO_FORMATS_RECORD_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "core/tensor.h"
#include "io/files/file_system.h"

namespace headrace {

// Bytes [begin, end) of a file. The last split of a file ends at kFileEnd, whatever size was listed.
struct Split {
  static constexpr int64_t kFileEnd = std::numeric_limits<int64_t>::max();

  int64_t begin = 0;
  int64_t end = kFileEnd;

  friend bool operator==(const Split&, const Split&) = default;
};

struct Record {
  int64_t offset = 0;   // of its first byte in the file
  uint32_t begin = 0;   // where its content begins in the block
  uint32_t length = 0;  // of its content, in bytes
};

// What a reader does about damage: fails at the record, or goes on with the next one that it finds.
enum class OnDamage { kFail, kSkip };

// Bytes of a file in which no record could be read, from a record's first byte to that of the next one that was found.
struct LostBytes {
  int64_t offset = 0;
  int64_t bytes = 0;
  std::string reason;  // what is wrong at `offset`
};

struct RecordBlock {
  BufferRef buffer;  // holds `bytes`
  const uint8_t* bytes = nullptr;
  std::vector<Record> records;
  // Of formats whose readers give tensors: those of each record, or why it is no row. `bytes` is null then.
  std::vector<absl::StatusOr<std::vector<Tensor>>> rows;
  std::vector<LostBytes> lost;              // under kSkip: in front of the records, or at the end of the split
  int64_t end = 0;                          // the byte of the file at which the record after the last one would begin
  std::shared_ptr<const std::string> path;  // of the file; set by the source, not by the reader

  std::string_view content(size_t i) const {
    return {reinterpret_cast<const char*>(bytes) + records[i].begin, records[i].length};
  }
  // The byte of the file at which the record after record i begins.
  int64_t After(size_t i) const { return i + 1 < records.size() ? records[i + 1].offset : end; }
};

class RecordReader {
 public:
  // Blocks of a far file that a reader may ask for at once, ahead of the one that it holds.
  static constexpr int kFarBlocksAhead = 4;

  virtual ~RecordReader() = default;
  // Replaces the block by the next records in order; none: the split has no more, but may have lost some. kData: the
  // record at offset() is damaged, or the file changed while it was read.
  virtual absl::Status Next(RecordBlock& block) = 0;
  // The byte of the file after the records given so far.
  virtual int64_t offset() const = 0;
  // The size of the file when it was opened, in bytes.
  virtual int64_t file_size() const = 0;
};

// How files are cut into a given number of parts, as dmlc-core's InputSplit cuts them: a part begins at a multiple of
// `alignment` bytes of all files, at the first record from there on.
struct PartBorders {
  int64_t alignment = 1;
  // A record exactly on the boundary belongs to the previous part, except at the start of a file.
  bool to_part_before = false;
};

class Format {
 public:
  virtual ~Format() = default;
  virtual PartBorders part_borders() const = 0;
  // Whether the file can only be read from its start on, so that it must be one split. Asked of files that would be
  // cut.
  virtual absl::StatusOr<bool> IsOneSplit(const FileSystem& /*files*/, const std::string& /*path*/) const {
    return false;
  }
  // Reads the records whose first byte is in the split, from the one at byte `from` on: the split's begin, or a result
  // of RecordBlock::After for a record of it. Reads about `block_bytes` at once and begins to read ahead. kData: the
  // file ends before `from`.
  virtual absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                             const Split& split, int64_t from,
                                                             size_t block_bytes) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORD_READER_H_
