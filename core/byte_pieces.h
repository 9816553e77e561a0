// `BytePieces` takes numbers and pieces off the front of bytes. Use it for file formats of ours, whose numbers are
// little-endian: read all that a part needs, then ask once whether the bytes were enough.
// Threads: one thread at a time.
#ifndef HEADRACE_CORE_BYTE_PIECES_H_
#define HEADRACE_CORE_BYTE_PIECES_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headrace {

static_assert(std::endian::native == std::endian::little, "numbers are taken as little-endian machines hold them");

// After a piece that is missing all further ones are 0 or empty.
class BytePieces {
 public:
  explicit BytePieces(std::string_view rest) : rest_(rest) {}

  size_t left() const { return rest_.size(); }
  // Whether nothing was missing so far.
  bool whole() const { return whole_; }

  std::string_view Take(uint64_t bytes) {
    whole_ = whole_ && bytes <= rest_.size();
    if (!whole_) return {};
    const std::string_view piece = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return piece;
  }

  template <typename T>
  T TakeNumber() {
    T value{};
    const std::string_view piece = Take(sizeof(T));
    if (whole_) std::memcpy(&value, piece.data(), sizeof(T));
    return value;
  }

  // A number of 7 bits a byte, the lowest first, in its shortest form: a longer one counts as missing.
  uint64_t TakeVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = TakeNumber<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        whole_ = whole_ && (byte > 0 || shift == 0) && (shift < 63 || byte == 1);
        return whole_ ? value : 0;
      }
    }
    whole_ = false;
    return 0;
  }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_BYTE_PIECES_H_
