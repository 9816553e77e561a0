// Fuzzes MessagePack: each value that is taken lies within the bytes, and values end.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/mindrecord/msg_pack.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  headrace::MsgPackReader map(bytes);
  uint32_t entries = 0;
  std::string_view name;
  if (map.TakeMap(entries) && entries > 0 && map.TakeText(name)) {
    Require(name.data() >= bytes.data() && name.data() + name.size() <= bytes.data() + size,
            "a name lies in the bytes");
  }
  headrace::MsgPackReader reader(bytes);
  headrace::MsgPackValue value;
  size_t before = 0;
  while (!reader.at_end() && reader.Take(value)) {
    Require(reader.at() > before && reader.at() <= size, "a value takes bytes");
    before = reader.at();
    if (value.kind != headrace::MsgPackValue::Kind::kText) continue;
    Require(value.text.empty() ||
                (value.text.data() >= bytes.data() && value.text.data() + value.text.size() <= bytes.data() + size),
            "a text lies in the bytes");
  }
  return 0;
}
