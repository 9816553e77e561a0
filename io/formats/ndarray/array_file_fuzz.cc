// Fuzzes files of arrays: one that is good is read back as it was written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/ndarray/array_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const auto arrays = headrace::ParseArrayFile({reinterpret_cast<const char*>(data), size}, "mean.bin");
  if (!arrays.ok()) return 0;
  const auto bytes = headrace::FormatArrayFile(*arrays);
  Require(bytes.ok(), "arrays that were read can be written");
  const auto again = headrace::ParseArrayFile(*bytes, "mean.bin");
  Require(again.ok() && again->size() == arrays->size(), "the arrays are read back");
  for (size_t i = 0; i < arrays->size(); ++i) {
    Require((*again)[i].name == (*arrays)[i].name, "a name is read back");
    Require(headrace::TensorsEqual((*again)[i].array, (*arrays)[i].array), "an array is read back");
  }
  return 0;
}
