// Fuzzes the payload of an index, after a valid head: it is refused, or its items lie within their file and it is
// written again as it was read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/item_index.h"
#include "io/records/crc32c.h"

namespace {

using headrace::ItemSpans;
using headrace::Require;

constexpr std::string_view kFormat = "f";
constexpr size_t kHead = 24;  // magic, version, checksum, bytes of the payload

void CheckSpans(const ItemSpans& spans, int64_t size) {
  Require(spans.ends.empty() || spans.ends.size() == spans.begins.size(), "an item has one end");
  for (size_t i = 0; i < spans.begins.size(); ++i) {
    const int64_t next = i + 1 < spans.begins.size() ? spans.begins[i + 1] : spans.end;
    const int64_t end = spans.ends.empty() ? next : spans.ends[i];
    Require(0 <= spans.begins[i] && spans.begins[i] <= end && end <= size, "an item lies within its file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string head = headrace::FormatItemIndex(kFormat, {}, {}).substr(0, kHead);
  std::string bytes = head;
  bytes.append(reinterpret_cast<const char*>(data), size);
  const uint32_t checksum = headrace::Crc32c(data, size);
  const uint64_t payload = size;
  bytes.replace(12, sizeof(checksum), reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  bytes.replace(16, sizeof(payload), reinterpret_cast<const char*>(&payload), sizeof(payload));
  const auto parsed = headrace::ParseItemIndex(bytes, kFormat, "a.hridx");
  if (!parsed.ok()) return 0;
  for (const ItemSpans& spans : parsed->index.parts) CheckSpans(spans, parsed->of.size);
  // A part without items may say that it has ends.
  const std::string written = headrace::FormatItemIndex(kFormat, parsed->of, parsed->index);
  const auto again = headrace::ParseItemIndex(written, kFormat, "a.hridx");
  Require(again.ok() && again->of == parsed->of && again->index == parsed->index, "an index is read back");
  return 0;
}
