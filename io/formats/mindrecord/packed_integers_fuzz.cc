// Fuzzes packed integers: those that are good are the same when they are packed again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/formats/mindrecord/packed_integers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::PackedIntegers;
  using headrace::Require;
  const auto packed = PackedIntegers::Of({reinterpret_cast<const char*>(data), size});
  if (!packed.ok()) return 0;
  const auto count = static_cast<size_t>(packed->size());
  std::vector<int64_t> values(count);
  Require(packed->CopyTo(values.data()).ok(), "int64 holds all of them");
  const std::string bytes = PackedIntegers::Pack(values);
  Require(bytes.size() <= size, "they take the fewest bytes");
  const auto again = PackedIntegers::Of(bytes);
  std::vector<int64_t> same(count);
  Require(again.ok() && again->size() == packed->size() && again->CopyTo(same.data()).ok() && same == values,
          "they are read back");
  std::vector<int32_t> narrow(count);
  if (!packed->CopyTo(narrow.data()).ok()) return 0;
  for (size_t i = 0; i < count; ++i) Require(narrow[i] == values[i], "int32 holds the same");
  return 0;
}
