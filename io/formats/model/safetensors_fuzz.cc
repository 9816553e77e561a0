// Fuzzes files of safetensors: entries that are read can be changed, and all others stay.
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/formats/model/safetensors_file.h"
#include "io/formats/model/testing/changed_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  headrace::fixture::RequireChangeable(bytes, "m.safetensors", headrace::ReadSafetensorsEntries,
                                       headrace::ChangeSafetensorsEntries);
  return 0;
}
