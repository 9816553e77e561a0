// `WalkTar` finds the samples of an archive by its headers: it reads 512 bytes of each member, and no data.
// Threads: reads on the calling thread.
#ifndef HEADRACE_IO_FORMATS_TAR_TAR_WALK_H_
#define HEADRACE_IO_FORMATS_TAR_TAR_WALK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"

namespace headrace {

// From the member's first header at byte `from` on, to the end of the archive, which has `size` bytes. Looks at
// Interrupt. kData, naming the byte: damage, as for TarFormat. kGraph: the archive is compressed.
absl::StatusOr<ItemSpans> WalkTar(const RandomAccessFile& file, int64_t size, int64_t from = 0);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TAR_WALK_H_
