// Fuzzes WebP, GIF, BMP and TIFF, valid and damaged: compares a part with the whole.
#include <cstddef>
#include <cstdint>

#include "kernels/testing/compare_part.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::fixture::ComparePartOfInput(data, size);
  return 0;
}
