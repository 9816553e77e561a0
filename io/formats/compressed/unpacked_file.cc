#include "io/formats/compressed/unpacked_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/compressed/decompressed_file.h"

namespace headrace {
namespace {

constexpr size_t kUnpackBlock = size_t{256} << 10;
constexpr size_t kFirstUnpacked = size_t{64} << 10;

// A buffer that holds twice as many bytes, the first `used` as they were.
absl::StatusOr<BufferRef> Widened(const BufferRef& buffer, size_t used, size_t bytes) {
  BufferRef wider = BufferPool::Global().Allocate(bytes);
  if (!wider) return ResourceError("no memory for the unpacked file, of ", bytes, " bytes so far");
  if (used > 0) std::memcpy(wider->data(), buffer->data(), used);
  return wider;
}

}  // namespace

absl::StatusOr<UnpackedFile> UnpackFile(const FileSystem& files, const std::string& path, Compression compression,
                                        int64_t most) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<DecompressedFile> stream,
                            DecompressedFile::Open(files, path, compression, kUnpackBlock, OnArchive::kGive));
  BufferRef buffer;
  size_t bytes = kFirstUnpacked;
  size_t used = 0;
  HEADRACE_ASSIGN_OR_RETURN(buffer, Widened(buffer, 0, bytes));
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    if (used == bytes) {
      bytes *= 2;
      HEADRACE_ASSIGN_OR_RETURN(buffer, Widened(buffer, used, bytes));
    }
    const size_t wanted = std::min(bytes - used, kUnpackBlock);
    HEADRACE_ASSIGN_OR_RETURN(const size_t got, stream->Read(absl::MakeSpan(buffer->data() + used, wanted)));
    if (got == 0) break;
    used += got;
    if (static_cast<int64_t>(used) > most) {
      return DataError("the file has more than ", most, " bytes when it is unpacked, as many as it should have");
    }
  }
  return UnpackedFile{std::move(buffer), static_cast<int64_t>(used)};
}

}  // namespace headrace
