#include "kernels/vision/codecs/jpeg/own/file_checksum.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "core/hash.h"
#include "core/row_id.h"

namespace headrace::jpeg {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken as little-endian machines hold them");

// Independent of each other, so that multiplications do not wait for the one before.
constexpr size_t kLanes = 8;
constexpr size_t kLaneBytes = 2 * sizeof(uint64_t);
constexpr size_t kStride = kLanes * kLaneBytes;

struct Lane {
  uint64_t sum;
  uint64_t key;

  // The product spreads a changed bit over the sum in a way that depends on all bytes before, so that no other changed
  // bits undo it in every file. The factors go in once more, as one of zero would hide the other one.
  void Take(const char* bytes) {
    uint64_t words[2];
    std::memcpy(words, bytes, kLaneBytes);
    const uint64_t a = words[0] ^ sum;
    const uint64_t b = words[1] ^ key;
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    sum = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ a ^ std::rotl(b, 32);
  }
};

}  // namespace

uint64_t FileChecksum(std::string_view bytes) {
  std::array<Lane, kLanes> lanes;
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = {Scramble(bytes.size() + i), Scramble(~uint64_t{i})};
  for (; bytes.size() >= kStride; bytes.remove_prefix(kStride)) {
    for (size_t i = 0; i < kLanes; ++i) lanes[i].Take(bytes.data() + i * kLaneBytes);
  }
  uint64_t checksum = HashBytes(bytes);
  for (const Lane& lane : lanes) checksum = MixKey(checksum, lane.sum);
  return checksum;
}

}  // namespace headrace::jpeg
