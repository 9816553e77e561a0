// `OpenDecompressed` reads the records that a compressed file holds, from its start on: offsets, splits and `from` are
// in the bytes that it holds. Use it in a format whose files may be compressed as a whole. Threads: pure function; the
// reader is a RecordReader.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSED_RECORDS_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/formats/compressed/decompressed_file.h"
#include "io/formats/framed_reader.h"

namespace headrace {

// `framing` outlives the reader. `compression` is one; the other arguments are those of Format::Open.
absl::StatusOr<std::unique_ptr<RecordReader>> OpenDecompressed(const Framing* framing, const FileSystem& files,
                                                               const std::string& path, Compression compression,
                                                               const Split& split, int64_t from, size_t block_bytes,
                                                               OnArchive on_archive = OnArchive::kRefuse);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSED_RECORDS_H_
