// Fuzzes ONNX models: entries that are read can be changed, and all others stay.
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/formats/model/onnx_file.h"
#include "io/formats/model/testing/changed_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  headrace::fixture::RequireChangeable(bytes, "m.onnx", headrace::ReadOnnxEntries, headrace::ChangeOnnxEntries);
  return 0;
}
