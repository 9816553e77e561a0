// `FileChecksum` is a 64-bit checksum of a whole file in memory, the same in every version and on every machine, for
// what was noted of a file: at several bytes a cycle, it costs far less than to read them. It detects accidents, not
// attacks. Threads: a pure function.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_FILE_CHECKSUM_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_FILE_CHECKSUM_H_

#include <cstdint>
#include <string_view>

namespace headrace::jpeg {

uint64_t FileChecksum(std::string_view bytes);

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_FILE_CHECKSUM_H_
