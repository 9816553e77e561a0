// JPEGs, and what resembles them: crop against whole. The corpus has every sampling, with scans in one, apart,
// progressive and missing. libFuzzer does not see into libjpeg and would merge most of them away: leave them.
#include <cstddef>
#include <cstdint>

#include "kernels/fixture/compare_part.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::fixture::ComparePartOfInput(data, size);
  return 0;
}
