#include "io/formats/compressed/decompressed_records.h"

#include <utility>

#include "core/error.h"
#include "io/formats/forward_reader.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<RecordReader>> OpenDecompressed(const Framing* framing, const FileSystem& files,
                                                               const std::string& path, Compression compression,
                                                               const Split& split, int64_t from, size_t block_bytes,
                                                               OnArchive on_archive) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<DecompressedFile> held,
                            DecompressedFile::Open(files, path, compression, block_bytes, on_archive));
  const int64_t size = held->compressed_size();
  return std::make_unique<ForwardReader>(framing, std::move(held), size, split, from, block_bytes);
}

}  // namespace headrace
