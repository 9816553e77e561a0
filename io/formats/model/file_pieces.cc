#include "io/formats/model/file_pieces.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/types/span.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/output_stream.h"

namespace headrace {
namespace {

// An output stream writes a part of this size without a copy.
constexpr int64_t kCopyBytes = int64_t{1} << 20;

absl::Status CopyRange(const std::string& path, const RandomAccessFile& file, const FilePiece& piece,
                       absl::Span<uint8_t> block, OutputStream& output) {
  for (int64_t at = piece.begin; at < piece.end;) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const auto bytes = static_cast<size_t>(std::min(piece.end - at, kCopyBytes));
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(at, block.first(bytes)));
    if (got != static_cast<int64_t>(bytes)) {
      return DataError(path, " was cut off while it was copied, at byte ", at + got);
    }
    const std::string_view part(reinterpret_cast<const char*>(block.data()), bytes);
    HEADRACE_RETURN_IF_ERROR(output.Append({part}));
    at += got;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceByPieces(const FileSystem& files, const std::string& path, const RandomAccessFile& file,
                             const FileStat& before, const FilePieces& pieces) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<OutputStream> output, files.Create(path, {}));
  const std::unique_ptr<uint8_t[]> block(new uint8_t[kCopyBytes]);
  for (const FilePiece& piece : pieces.pieces()) {
    HEADRACE_RETURN_IF_ERROR(CopyRange(path, file, piece, {block.get(), kCopyBytes}, *output));
    if (!piece.text.empty()) HEADRACE_RETURN_IF_ERROR(output->Append({std::string_view(piece.text)}));
  }
  HEADRACE_RETURN_IF_ERROR(output->Seal());
  HEADRACE_ASSIGN_OR_RETURN(const FileStat after, files.Stat(path));
  if (after.size != before.size || after.changed_ns != before.changed_ns) {
    return DataError(path, " was written to by another process while it was copied; nothing was changed, try again");
  }
  return output->Commit();
}

}  // namespace headrace
