// `DecompressedFile` gives the bytes that a compressed file holds, in order. It reads the file ahead and holds some
// hundred KiB and what the decompressor needs, whatever the file claims. What comes before damage is the same for any
// sizes of reads: the file alone determines the steps in which it is decompressed.
// Threads: as ByteStream's.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSED_FILE_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "io/formats/byte_stream.h"
#include "io/formats/compressed/decompressor.h"
#include "io/formats/read_ahead_file.h"

namespace headrace {

// What a reader does about a compressed tar archive: refuses it, as no text is one, or gives its bytes.
enum class OnArchive { kRefuse, kGive };

class DecompressedFile : public ByteStream {
 public:
  // Begins to read the file, about `block_bytes` of it at once.
  static absl::StatusOr<std::unique_ptr<DecompressedFile>> Open(const FileSystem& files, const std::string& path,
                                                                Compression compression, size_t block_bytes,
                                                                OnArchive on_archive = OnArchive::kRefuse);

  // When it was opened, in bytes.
  int64_t compressed_size() const { return file_->size(); }
  // kData: damage, which names its byte in the compressed file, a file that was cut off, or a tar archive that is
  // refused.
  absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) override;

 private:
  DecompressedFile(std::unique_ptr<ReadAheadFile> file, Compression compression,
                   std::unique_ptr<Decompressor> decompressor, BufferRef input, BufferRef output, OnArchive on_archive);

  absl::Status Step();
  absl::Status TakeInput();
  void Decompress();
  absl::Status Damaged(const absl::Status& wrong) const;

  const std::unique_ptr<ReadAheadFile> file_;
  const Compression compression_;
  const std::unique_ptr<Decompressor> decompressor_;
  const BufferRef input_;
  int64_t input_offset_ = 0;  // of input_ in the file
  size_t input_begin_ = 0;    // what is left of it
  size_t input_end_ = 0;
  const BufferRef output_;
  size_t output_begin_ = 0;  // what is left of it
  size_t output_end_ = 0;
  bool looks_;             // at the first bytes, which were not made yet
  bool more_ = false;      // there may be more to make of what was taken
  bool complete_ = false;  // the file may end here
  bool at_end_ = false;
  absl::Status wrong_;  // after output_
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSED_FILE_H_
