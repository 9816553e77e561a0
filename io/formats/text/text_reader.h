// `OpenText` reads the records of a file of text. One that is compressed by gzip or zstd, as its first bytes show, is
// read from its start on, decompressed: offsets are then those of the bytes that it holds, and it must not be cut.
// Threads: pure functions; the reader is a RecordReader.
#ifndef HEADRACE_IO_FORMATS_TEXT_TEXT_READER_H_
#define HEADRACE_IO_FORMATS_TEXT_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/formats/framed_reader.h"

namespace headrace {

// `framing` and `files` outlive the reader. The other arguments are those of Format::Open.
absl::StatusOr<std::unique_ptr<RecordReader>> OpenText(const Framing* framing, const FileSystem& files,
                                                       const std::string& path, const Split& split, int64_t from,
                                                       size_t block_bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_TEXT_READER_H_
