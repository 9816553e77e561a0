// `FramedReader` reads formats whose records can be cut out of a run of bytes, as lines and frames with a length can. A
// Framing says where a record begins and ends; FramedReader does the rest: it reads blocks ahead, carries a record that
// two blocks share over to the next, finds the first record of a split or after damage, and notices files that change.
// Threads: a Framing may be used from any thread at once, unless it belongs to a reader; a FramedReader belongs to one
// thread at a time.
#ifndef HEADRACE_IO_FORMATS_FRAMED_READER_H_
#define HEADRACE_IO_FORMATS_FRAMED_READER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/pending_read.h"
#include "io/formats/record_reader.h"

namespace headrace {

class Framing {
 public:
  virtual ~Framing() = default;
  // How many bytes in front of a split show whether a record begins at its first byte.
  virtual int64_t looks_behind() const = 0;
  struct First {
    bool found = false;
    size_t at = 0;  // where the record begins; if none was found, the number of bytes in which none begins
  };
  // Finds the first record that begins in `bytes`, which begin at byte `offset` of the file, at least looks_behind()
  // bytes before the split. With `last` the file ends with the bytes.
  virtual First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const = 0;
  struct Piece {
    size_t used = 0;   // how many bytes the records take up
    size_t reach = 0;  // where there are none: how many bytes at least are needed to cut the first; 0: not known
  };
  // Appends the whole records in `bytes` that begin before byte `stop` of the file. A record begins at bytes[0], which
  // is byte `offset` of the file; with `last` the file ends with the bytes. May change bytes of the records. kData: the
  // first record is damaged; damage further on ends the records before it.
  virtual absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                    std::vector<Record>& records) const = 0;
  // As Cut, but looks at few bytes first, which stay in the nearest cache of a core, so that one call may append only
  // the first of the whole records.
  absl::StatusOr<Piece> CutNext(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                std::vector<Record>& records) const;
  // Called before memory is taken for a record at bytes[0] that reaches further than a block: looks at the file where
  // the record would end. kData: the record is damaged.
  virtual absl::Status CheckReach(absl::Span<const uint8_t> /*bytes*/, int64_t /*offset*/,
                                  const RandomAccessFile& /*file*/) const {
    return absl::OkStatus();
  }
};

class FramedReader : public RecordReader {
 public:
  // `framing` outlives the reader, or is `own`, which belongs to the reader and may remember what it saw. The other
  // arguments are those of Format::Open. Of a far file several blocks are asked for at once.
  static absl::StatusOr<std::unique_ptr<FramedReader>> Open(const Framing* framing, const FileSystem& files,
                                                            const std::string& path, const Split& split, int64_t from,
                                                            size_t block_bytes, OnDamage on_damage = OnDamage::kFail,
                                                            std::unique_ptr<const Framing> own = nullptr);

  // The bytes that come next, at least `least` of them or all that there are. Waits for them.
  absl::StatusOr<absl::Span<const uint8_t>> Peek(size_t least);

  absl::Status Next(RecordBlock& block) override;
  int64_t offset() const override { return offset_; }
  int64_t file_size() const override { return size_; }

 private:
  FramedReader(const Framing* framing, std::shared_ptr<const RandomAccessFile> file, std::string path, int64_t size,
               const Split& split, int64_t from, size_t block_bytes, OnDamage on_damage, size_t most_ahead);

  absl::Span<uint8_t> bytes() const { return absl::MakeSpan(buffer_->data() + begin_, end_ - begin_); }
  void Drop(size_t bytes);
  absl::Status Cut(RecordBlock& block);
  void Lose(const absl::Status& damage, RecordBlock& block);
  void Search(RecordBlock& block);
  absl::Status ReadMore();
  absl::Status StartRead();
  absl::Status ReadAhead();
  absl::Status Grow(const PendingRead& read, size_t got);
  absl::Status Account(int64_t begin, size_t asked, int64_t got);
  size_t BytesToAsk() const;

  std::unique_ptr<const Framing> own_;
  const Framing* const framing_;
  const std::shared_ptr<const RandomAccessFile> file_;
  const std::string path_;
  const int64_t size_;
  const Split split_;
  const size_t block_bytes_;
  const OnDamage on_damage_;
  const size_t most_ahead_;
  int64_t offset_;  // of bytes() in the file
  int64_t asked_;   // up to which byte of the file reads have been started
  BufferRef buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  // A read of the block that begins at a byte of the file.
  struct BlockRead {
    int64_t begin;
    std::shared_ptr<PendingRead> read;
  };
  std::deque<BlockRead> ahead_;  // in the order of the blocks, one after the other
  bool searching_;               // for the first record of the split, or for one after damage
  bool losing_ = false;          // skipped bytes count as lost
  size_t reach_ = 0;             // of the record that does not end in bytes(), as Framing::Piece
  bool at_end_ = false;          // the file ends with bytes()
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_FRAMED_READER_H_
