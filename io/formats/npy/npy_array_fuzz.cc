// Fuzzes arrays of NumPy: what is read lies within the bytes, and is copied to as many bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/npy/npy_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto array = headrace::ParseNpy(bytes);
  if (!array.ok()) {
    Require(headrace::KindOf(array.status()) == headrace::ErrorKind::kData, "damage is the array's");
    return 0;
  }
  Require(array->data.size() <= bytes.size(), "elements are in the bytes");
  int64_t elements = 1;
  bool empty = false;
  for (const int64_t axis : array->shape) empty = empty || axis == 0;
  for (const int64_t axis : array->shape) elements *= empty ? 0 : axis;
  Require(static_cast<size_t>(elements) * headrace::ItemSize(array->dtype) == array->data.size(),
          "as many as its shape has");
  std::vector<uint8_t> copy(array->data.size());
  headrace::CopyNpy(*array, copy.data());
  return 0;
}
