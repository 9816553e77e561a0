// Fuzzes a file of the cache: what is read of it passed its checksums.
// Input: the number of bytes of the part (u16), an offset (u16), and the file; with an odd first byte the checksum of
// the head is replaced by the correct one.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/testing/require.h"
#include "io/files/object_cache/part_file.h"
#include "io/files/testing/one_file.h"
#include "io/records/crc32c.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headrace;
  constexpr size_t kNumbers = 4;
  constexpr size_t kOwnChecksum = 12;
  constexpr size_t kChecked = 16;
  if (size < kNumbers) return 0;
  const int64_t bytes = data[0] | data[1] << 8;
  const int64_t offset = data[2] | data[3] << 8;
  std::string text(reinterpret_cast<const char*>(data) + kNumbers, size - kNumbers);
  const object_cache::PartKey key = object_cache::KeyOf("", {"a", bytes, 1}, {0, bytes});
  const auto head = static_cast<size_t>(object_cache::PartFileBytes(key) - bytes);
  if (data[0] % 2 == 1 && text.size() >= head) {
    const uint32_t checksum = Crc32c(text.data() + kChecked, head - kChecked);
    std::memcpy(&text[kOwnChecksum], &checksum, sizeof(checksum));
  }
  const OneFile file(text);
  const auto part = object_cache::PartFile::Begin(*file.Open("a"), key);
  if (!part.has_value()) return 0;
  std::vector<uint8_t> got(static_cast<size_t>(bytes > offset ? bytes - offset : 0));
  if (!part->Read(offset, absl::MakeSpan(got)) || got.empty()) return 0;
  Require(static_cast<int64_t>(text.size()) >= object_cache::PartFileBytes(key), "the file has the part's bytes");
  Require(std::memcmp(got.data(), text.data() + head + offset, got.size()) == 0, "what was read is in the file");
  return 0;
}
