// `TarBytes` makes the bytes of tar archives in memory. Use it in tests.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_TAR_TESTING_TAR_BYTES_H_
#define HEADRACE_IO_FORMATS_TAR_TESTING_TAR_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"

namespace headrace {

inline constexpr size_t kTestTarBlock = 512;

// Writes the checksum of the header at byte `at`.
inline void SetTarChecksum(std::string& bytes, size_t at) {
  bytes.replace(at + 148, 8, 8, ' ');
  uint32_t sum = 0;
  for (size_t i = 0; i < kTestTarBlock; ++i) sum += static_cast<uint8_t>(bytes[at + i]);
  char text[8] = {};
  std::snprintf(text, sizeof(text), "%06o", sum);
  bytes.replace(at + 148, 8, text, 8);
}

// A header of ustar; `name` has up to 100 bytes.
inline std::string TarHead(std::string_view name, size_t size, char type = '0') {
  std::string head(kTestTarBlock, '\0');
  head.replace(0, name.size(), name);
  head.replace(100, 7, "0000644");
  char text[16] = {};
  std::snprintf(text, sizeof(text), "%011zo", size);
  head.replace(124, 11, text);
  head.replace(136, 11, "00000000000");
  head[156] = type;
  head.replace(257, 8, std::string_view("ustar\00000", 8));
  SetTarChecksum(head, 0);
  return head;
}

inline std::string TarPadding(size_t size) {
  return std::string((kTestTarBlock - size % kTestTarBlock) % kTestTarBlock, '\0');
}

inline std::string TarMemberBytes(std::string_view name, std::string_view data, char type = '0') {
  return Cat(TarHead(name, data.size(), type), data, TarPadding(data.size()));
}

inline std::string TarEnd() { return std::string(2 * kTestTarBlock, '\0'); }

// Records of an extended header of PAX.
inline std::string PaxRecords(const std::vector<std::pair<std::string, std::string>>& records) {
  std::string text;
  for (const auto& [key, value] : records) {
    const size_t rest = key.size() + value.size() + 3;
    size_t length = rest + 1;
    while (std::to_string(length).size() + rest != length) ++length;
    Append(text, length, " ", key, "=", value, "\n");
  }
  return text;
}

using TarFiles = std::vector<std::pair<std::string, std::string>>;

// An archive of these files, by their names.
inline std::string TarBytes(const TarFiles& files) {
  std::string bytes;
  for (const auto& [name, data] : files) bytes += TarMemberBytes(name, data);
  return bytes + TarEnd();
}

// The index that wds2idx makes of members of so many bytes each, one sample a line; there are no other headers.
inline std::string WdsIndexBytes(const std::vector<TarFiles>& samples) {
  std::string text = Cat("v1.2 ", samples.size(), "\n");
  size_t at = 0;
  for (const TarFiles& files : samples) {
    std::string line;
    for (const auto& [name, data] : files) {
      const size_t dot = name.find('.', name.rfind('/') + 1);
      Append(line, line.empty() ? "" : " ", name.substr(dot + 1), " ", at + kTestTarBlock, " ", data.size(), " ", name);
      at += kTestTarBlock + data.size() + TarPadding(data.size()).size();
    }
    Append(text, line, "\n");
  }
  return text;
}

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TESTING_TAR_BYTES_H_
