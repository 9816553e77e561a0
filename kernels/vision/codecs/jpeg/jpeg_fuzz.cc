// Fuzzes JPEGs, valid and damaged: compares a part with the whole, and reads the markers for devices. The corpus has
// every sampling, with scans in one, separate, progressive and missing. libFuzzer does not instrument libjpeg and would
// merge most of them away: keep them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/testing/compare_part.h"
#include "kernels/vision/codecs/jpeg/plain_jpeg.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::fixture::ComparePartOfInput(data, size);
  headrace::FindPlainJpeg(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
