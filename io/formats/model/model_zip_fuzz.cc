// Fuzzes archives of torch: whatever they hold, each entry is read alone as it is read with all.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/model/torch_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const headrace::OneFile files{std::string(reinterpret_cast<const char*>(data), size)};
  const auto file = files.Open("m.pt").value();
  const auto whole = static_cast<int64_t>(size);
  const auto read = headrace::ReadTorchEntries(*file, whole, {});
  if (!read.ok() || !read->has_value()) return 0;
  for (const headrace::ModelEntry& entry : **read) {
    const auto alone = headrace::ReadTorchEntries(*file, whole, entry.first);
    Require(alone.ok() && alone->has_value() && (*alone)->size() == 1, "an entry is read alone");
    Require((*alone)->front() == entry, "it is the same");
  }
  return 0;
}
