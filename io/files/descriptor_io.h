// `ReadFully` and `WriteFully` move all bytes of a range between memory and an open file, however often the system
// stops short. Threads: any thread.
#ifndef HEADRACE_IO_FILES_DESCRIPTOR_IO_H_
#define HEADRACE_IO_FILES_DESCRIPTOR_IO_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "io/files/descriptor.h"

namespace headrace {

// Reads until `target` is full or the file ends: the number of bytes, or a negative errno.
int64_t ReadFully(const Descriptor& file, int64_t offset, absl::Span<uint8_t> target);

// 0 or errno.
int WriteFully(const Descriptor& file, int64_t offset, std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_DESCRIPTOR_IO_H_
