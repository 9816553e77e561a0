// `ReadMindFile` reads the header of one MindRecord file and checks it against the file: all pages that it lists must
// be there. Use it for each file of a set before its rows are read. `WalkMindRows` finds these rows by their lengths.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_MIND_FILE_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_MIND_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_index.h"
#include "io/formats/mindrecord/mind_header.h"

namespace headrace {

struct MindFile {
  std::string path = {};
  int64_t size = 0;  // in bytes
  MindHeader header = {};
};

// Errors name the file, and say what it is where that is known: empty, never committed, encrypted, cut off, another
// version, the index of a file.
absl::StatusOr<MindFile> ReadMindFile(const FileSystem& files, const std::string& path);

// The spans of the rows in the file, of which `header` is the header, with the 8 bytes of length in front of each: two
// parts of the same number, the scalars first, then the blobs. Reads no more than these lengths, where rows are long.
// kData, naming page and byte: a length that leads beyond its page.
absl::StatusOr<ItemIndex> WalkMindRows(const RandomAccessFile& file, const MindHeader& header);

inline constexpr int64_t kMindLengthBytes = 8;  // in front of the scalars and the blob of a row

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_MIND_FILE_H_
