// `ReadCoco` reads a file of annotations in COCO's form: a JSON object with the lists images, annotations and
// categories, in any order. It goes over the file once, plain or compressed (gzip, zstd, bzip2, xz), and holds a block
// of it. Threads: reads on the calling thread; any thread.
#ifndef HEADRACE_IO_FORMATS_COCO_COCO_READER_H_
#define HEADRACE_IO_FORMATS_COCO_COCO_READER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/byte_stream.h"
#include "io/formats/coco/coco_table.h"

namespace headrace {

inline constexpr size_t kCocoBlock = size_t{1} << 20;

// kData, naming the file and the entry or the byte: JSON that is damaged, entries that lack what the task needs, ids
// that occur twice or refer to nothing. Looks at StopSignal.
absl::StatusOr<CocoTable> ReadCoco(const FileSystem& files, const std::string& path, CocoTask task,
                                   size_t block_bytes = kCocoBlock);

// The same of a stream.
absl::StatusOr<CocoTable> ReadCocoStream(std::unique_ptr<ByteStream> bytes, CocoTask task, size_t block_bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COCO_COCO_READER_H_
