#include "io/formats/mindrecord/packed_integers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/error.h"

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little, "packed integers are little-endian");

constexpr size_t kCountBytes = 4;
constexpr int64_t kInByte = 4;  // values whose sizes one byte has

// The exponent of the number of bytes: 0 to 3.
int SizeCode(std::string_view sizes, int64_t i) {
  const auto four = static_cast<uint8_t>(sizes[static_cast<size_t>(i / kInByte)]);
  return four >> (6 - 2 * (i % kInByte)) & 3;
}

size_t BytesOfFour(uint8_t four) {
  return (size_t{1} << (four >> 6)) + (size_t{1} << (four >> 4 & 3)) + (size_t{1} << (four >> 2 & 3)) +
         (size_t{1} << (four & 3));
}

template <typename T>
int64_t TakePacked(const char*& at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

int64_t TakePackedOf(int code, const char*& at) {
  switch (code) {
    case 0:
      return TakePacked<int8_t>(at);
    case 1:
      return TakePacked<int16_t>(at);
    case 2:
      return TakePacked<int32_t>(at);
    default:
      return TakePacked<int64_t>(at);
  }
}

template <typename T>
absl::Status Unpack(int64_t size, std::string_view sizes, std::string_view values, T* target) {
  const char* at = values.data();
  for (int64_t i = 0; i < size; ++i) {
    // As of masks and small numbers.
    if (i % kInByte == 0 && i + kInByte <= size && sizes[static_cast<size_t>(i / kInByte)] == 0) {
      for (int64_t k = 0; k < kInByte; ++k) target[i + k] = static_cast<T>(TakePacked<int8_t>(at));
      i += kInByte - 1;
      continue;
    }
    const int64_t value = TakePackedOf(SizeCode(sizes, i), at);
    if constexpr (!std::is_same_v<T, int64_t>) {
      if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
        return DataError("its element ", i, " is ", value, ", which int32 does not hold");
      }
    }
    target[i] = static_cast<T>(value);
  }
  return absl::OkStatus();
}

// The fewest bytes, as an exponent.
int CodeOf(int64_t value) {
  const auto fits = [value](auto zero) {
    using T = decltype(zero);
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  };
  return fits(int8_t()) ? 0 : fits(int16_t()) ? 1 : fits(int32_t()) ? 2 : 3;
}

}  // namespace

absl::StatusOr<PackedIntegers> PackedIntegers::Of(std::string_view bytes) {
  if (bytes.size() < kCountBytes) return DataError("its ", bytes.size(), " bytes hold no number of elements");
  int64_t size = 0;
  for (size_t i = 0; i < kCountBytes; ++i) size = size << 8 | static_cast<uint8_t>(bytes[i]);
  bytes.remove_prefix(kCountBytes);
  const auto size_bytes = static_cast<size_t>((size + kInByte - 1) / kInByte);
  // An element takes a byte at least.
  if (size_bytes > bytes.size() || static_cast<size_t>(size) > bytes.size() - size_bytes) {
    return DataError("it claims ", size, " elements, more than fit into its ", bytes.size(), " bytes");
  }
  const std::string_view sizes = bytes.substr(0, size_bytes);
  const std::string_view values = bytes.substr(size_bytes);
  size_t needed = 0;
  const auto whole = static_cast<size_t>(size / kInByte);
  for (size_t i = 0; i < whole; ++i) needed += BytesOfFour(static_cast<uint8_t>(sizes[i]));
  for (int64_t i = static_cast<int64_t>(whole) * kInByte; i < size; ++i) needed += size_t{1} << SizeCode(sizes, i);
  if (needed == values.size()) return PackedIntegers(size, sizes, values);
  return DataError("its ", size, " elements take ", needed, " bytes, and it has ", values.size());
}

absl::Status PackedIntegers::CopyTo(int32_t* target) const { return Unpack(size_, sizes_, values_, target); }

absl::Status PackedIntegers::CopyTo(int64_t* target) const { return Unpack(size_, sizes_, values_, target); }

std::string PackedIntegers::Pack(absl::Span<const int64_t> values) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(values.size() >> shift));
  const size_t sizes_at = bytes.size();
  bytes.resize(sizes_at + (values.size() + kInByte - 1) / kInByte);
  for (size_t i = 0; i < values.size(); ++i) {
    const int code = CodeOf(values[i]);
    bytes[sizes_at + i / kInByte] |= static_cast<char>(code << (6 - 2 * (i % kInByte)));
    bytes.append(reinterpret_cast<const char*>(&values[i]), size_t{1} << code);
  }
  return bytes;
}

}  // namespace headrace
