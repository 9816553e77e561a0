// Fuzzes PNGs, valid and damaged: compares a part with the whole. The checksums of chunks are recomputed, or hardly any
// change would get past them.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/testing/compare_part.h"

namespace {

constexpr size_t kSignature = 8;
constexpr size_t kAroundContent = 12;  // length, type and checksum of a chunk

uint32_t NumberAt(const std::vector<uint8_t>& bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

void MendChecksums(std::vector<uint8_t>& png) {
  for (size_t at = kSignature; at + kAroundContent <= png.size();) {
    const size_t length = NumberAt(png, at);
    if (length > png.size() - at - kAroundContent) return;
    const uLong checksum = crc32(0, &png[at + 4], static_cast<uInt>(length + 4));
    for (size_t i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<uint8_t>(checksum >> (24 - 8 * i));
    at += kAroundContent + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> png(data, data + size);
  MendChecksums(png);
  headrace::fixture::ComparePartOfInput(png.data(), png.size());
  return 0;
}
