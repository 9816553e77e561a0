#include "io/files/object_cache/part.h"

#include <algorithm>

#include "core/hash.h"
#include "core/text.h"

namespace headrace::object_cache {

int64_t PartsOf(int64_t size) { return size <= kWholeBytes ? 1 : (size - 1) / kPartBytes + 1; }

Part PartAt(int64_t size, int64_t number) {
  if (size <= kWholeBytes) return {0, size};
  const int64_t offset = number * kPartBytes;
  return {offset, std::min(kPartBytes, size - offset)};
}

int64_t PartOfByte(int64_t size, int64_t offset) { return size <= kWholeBytes ? 0 : offset / kPartBytes; }

PartKey KeyOf(const std::string& store, const Object& object, const Part& part) {
  PartKey key;
  key.text = Cat(store, "\n", object.url, "\n", object.size, "\n", absl::Hex(object.version, absl::kZeroPad16), "\n",
                 part.offset, "\n", part.bytes);
  key.bytes = part.bytes;
  key.high = HashBytes(key.text);
  key.low = HashBytes(key.text, 1);
  return key;
}

}  // namespace headrace::object_cache
