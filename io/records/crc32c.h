// `Crc32c` computes CRC-32C (Castagnoli), the checksum of records on disk, with the CPU's instruction if it has one,
// otherwise by a table.
// Threads: a pure function.
#ifndef HEADRACE_IO_RECORDS_CRC32C_H_
#define HEADRACE_IO_RECORDS_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace headrace {

// `before` is the checksum of the preceding bytes, 0 at the start.
uint32_t Crc32c(const void* data, size_t bytes, uint32_t before = 0);

// The same without the CPU's instruction.
uint32_t Crc32cByTable(const void* data, size_t bytes, uint32_t before = 0);

}  // namespace headrace

#endif  // HEADRACE_IO_RECORDS_CRC32C_H_
