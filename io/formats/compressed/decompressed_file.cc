#include "io/formats/compressed/decompressed_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/formats/record_reader.h"

namespace headrace {
namespace {

// Constants, as what is made before damage depends on them.
constexpr size_t kInputBytes = size_t{16} << 10;
constexpr size_t kOutputBytes = size_t{64} << 10;
// Of a block that is read ahead; three of them are held.
constexpr size_t kMostBlockBytes = size_t{64} << 10;

// The header of a tar archive, which has the name of its first file, zeros, and this word. As text it would be lines.
bool IsTar(std::string_view bytes) {
  constexpr std::string_view kWord = "ustar";
  constexpr size_t kAt = 257;
  return bytes.size() > kAt && bytes.substr(kAt, kWord.size()) == kWord &&
         bytes.substr(0, kAt).find('\0') != std::string_view::npos;
}

}  // namespace

DecompressedFile::DecompressedFile(std::unique_ptr<ReadAheadFile> file, Compression compression,
                                   std::unique_ptr<Decompressor> decompressor, BufferRef input, BufferRef output,
                                   OnArchive on_archive)
    : file_(std::move(file)),
      compression_(compression),
      decompressor_(std::move(decompressor)),
      input_(std::move(input)),
      output_(std::move(output)),
      looks_(on_archive == OnArchive::kRefuse) {}

absl::StatusOr<std::unique_ptr<DecompressedFile>> DecompressedFile::Open(const FileSystem& files,
                                                                         const std::string& path,
                                                                         Compression compression, size_t block_bytes,
                                                                         OnArchive on_archive) {
  HEADRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<ReadAheadFile> file,
      ReadAheadFile::Open(files, path, 0, Split::kFileEnd, std::min(block_bytes, kMostBlockBytes)));
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Decompressor> decompressor, MakeDecompressor(compression));
  BufferRef input = BufferPool::Current().Allocate(kInputBytes);
  BufferRef output = BufferPool::Current().Allocate(kOutputBytes);
  if (!input || !output) return ResourceError("no memory to decompress ", path);
  return std::unique_ptr<DecompressedFile>(new DecompressedFile(std::move(file), compression, std::move(decompressor),
                                                                std::move(input), std::move(output), on_archive));
}

absl::StatusOr<size_t> DecompressedFile::Read(absl::Span<uint8_t> target) {
  while (output_begin_ == output_end_ && !at_end_) HEADRACE_RETURN_IF_ERROR(Step());
  const size_t bytes = std::min(target.size(), output_end_ - output_begin_);
  std::memcpy(target.data(), output_->data() + output_begin_, bytes);
  output_begin_ += bytes;
  return bytes;
}

absl::Status DecompressedFile::Step() {
  HEADRACE_RETURN_IF_ERROR(wrong_);
  if (StopSignal::Raised()) return StopSignal::Error();
  if (input_begin_ == input_end_ && !more_) return TakeInput();
  Decompress();
  return absl::OkStatus();
}

absl::Status DecompressedFile::TakeInput() {
  const int64_t offset = input_offset_ + static_cast<int64_t>(input_end_);
  const int64_t left = file_->size() - offset;
  if (left == 0 && !complete_) {
    wrong_ = DataError("the file ends at byte ", offset, ", within its ", CompressionName(compression_),
                       " data: it was cut off; copy or compress it again");
    return wrong_;
  }
  at_end_ = left == 0;
  const auto bytes = static_cast<size_t>(std::min<int64_t>(kInputBytes, left));
  HEADRACE_RETURN_IF_ERROR(file_->Read(offset, bytes, input_->data()));
  input_offset_ = offset;
  input_begin_ = 0;
  input_end_ = bytes;
  return absl::OkStatus();
}

void DecompressedFile::Decompress() {
  const absl::Span<const uint8_t> input(input_->data() + input_begin_, input_end_ - input_begin_);
  Decompressor::Progress progress = decompressor_->Decompress(input, absl::MakeSpan(output_->data(), kOutputBytes));
  // Libraries say so themselves; without it a further fault of theirs would be an endless loop.
  const bool stands = progress.used == 0 && progress.made == 0 && !input.empty();
  if (stands && progress.wrong.ok()) progress.wrong = DataError("nothing can be made of them");
  input_begin_ += progress.used;
  output_begin_ = 0;
  output_end_ = progress.made;
  complete_ = progress.complete;
  more_ = progress.made == kOutputBytes && !progress.complete;
  if (!progress.wrong.ok()) wrong_ = Damaged(progress.wrong);
  if (std::exchange(looks_, looks_ && progress.made == 0) &&
      IsTar({reinterpret_cast<const char*>(output_->data()), progress.made})) {
    output_end_ = 0;
    wrong_ = DataError("the file holds a tar archive, compressed by ", CompressionName(compression_),
                       "; unpack it: tar xf, or read it with WebDataset");
  }
}

absl::Status DecompressedFile::Damaged(const absl::Status& wrong) const {
  if (KindOf(wrong) != ErrorKind::kData) return wrong;
  return DataError("the file's ", CompressionName(compression_), " data are damaged near its byte ",
                   input_offset_ + static_cast<int64_t>(input_begin_), ": ", ToStd(wrong.message()));
}

}  // namespace headrace
