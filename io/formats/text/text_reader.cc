#include "io/formats/text/text_reader.h"

#include <utility>

#include "core/error.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/compressed/decompressed_records.h"

namespace headrace {
namespace {

// Finds out by the first block of a file what it is. So it is open without waiting for a read.
class TextReader : public RecordReader {
 public:
  TextReader(const Framing* framing, const FileSystem* files, std::string path, const Split& split, size_t block_bytes,
             std::unique_ptr<FramedReader> plain)
      : framing_(framing),
        files_(files),
        path_(std::move(path)),
        split_(split),
        block_bytes_(block_bytes),
        plain_(std::move(plain)) {}

  absl::Status Next(RecordBlock& block) override {
    if (plain_ != nullptr) HEADRACE_RETURN_IF_ERROR(FindOut());
    return reader_->Next(block);
  }
  int64_t offset() const override { return current().offset(); }
  int64_t file_size() const override { return current().file_size(); }

 private:
  const RecordReader& current() const { return plain_ != nullptr ? *plain_ : *reader_; }

  absl::Status FindOut() {
    HEADRACE_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> first, plain_->Peek(kCompressionBytes));
    const Compression compression = CompressionOf(first);
    if (compression == Compression::kNone) {
      reader_ = std::move(plain_);
      return absl::OkStatus();
    }
    HEADRACE_ASSIGN_OR_RETURN(reader_,
                              OpenDecompressed(framing_, *files_, path_, compression, split_, 0, block_bytes_));
    plain_ = nullptr;
    return absl::OkStatus();
  }

  const Framing* const framing_;
  const FileSystem* const files_;
  const std::string path_;
  const Split split_;
  const size_t block_bytes_;
  std::unique_ptr<FramedReader> plain_;   // null: what the file is, is known
  std::unique_ptr<RecordReader> reader_;  // null: it is not
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordReader>> OpenText(const Framing* framing, const FileSystem& files,
                                                       const std::string& path, const Split& split, int64_t from,
                                                       size_t block_bytes) {
  // In a compressed file `from` is no byte of the file.
  if (split.begin == 0 && from > 0) {
    HEADRACE_ASSIGN_OR_RETURN(const Compression compression, CompressionOfFile(files, path));
    if (compression != Compression::kNone) {
      return OpenDecompressed(framing, files, path, compression, split, from, block_bytes);
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<FramedReader> plain,
                            FramedReader::Open(framing, files, path, split, from, block_bytes));
  if (from > 0) return plain;
  return std::make_unique<TextReader>(framing, &files, path, split, block_bytes, std::move(plain));
}

}  // namespace headrace
