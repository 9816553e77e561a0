// Fuzzes JPEGs, valid and damaged: compares a part with the whole. The corpus has every sampling, with scans in one,
// separate, progressive and missing. libFuzzer does not instrument libjpeg and would merge most of them away: keep
// them.
#include <cstddef>
#include <cstdint>

#include "kernels/testing/compare_part.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::fixture::ComparePartOfInput(data, size);
  return 0;
}
