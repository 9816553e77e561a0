// What a device does with pictures after their copy: each byte becomes the value that a table has for it and its
// channel, and the channels may become planes. One definition for the host and for CUDA, of moves and integers alone,
// so that both give the same bytes.
// Thread contract: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_

#ifdef __CUDACC__
#define HEADRACE_ON_DEVICE __host__ __device__
#else
#define HEADRACE_ON_DEVICE
#endif

#include <stdint.h>

namespace headrace {

// Values of each channel in its table, and pixels that one thread maps.
inline constexpr uint32_t kTableValues = 256;
inline constexpr uint32_t kThreadPixels = 4;
// Tables of more channels do not fit in the memory of a block of threads.
inline constexpr uint32_t kMostMappedChannels = 8;

// An argument of the kernels, by value: fixed sizes, no padding.
struct ByteMapping {
  const uint8_t* bytes;  // [pictures, pixels, channels]
  const void* table;     // [channels, 256], of values
  void* values;          // [pictures, pixels, channels], or as planes [pictures, channels, pixels]
  uint64_t pictures;
  uint64_t pixels;  // of a picture
  uint32_t channels;
  uint32_t planes;  // 0 or 1

  HEADRACE_ON_DEVICE uint64_t threads() const { return pictures * ((pixels + kThreadPixels - 1) / kThreadPixels); }
};
static_assert(sizeof(ByteMapping) == 48);

// Four values, written at once. V: an unsigned integer of the value's size.
template <typename V>
struct alignas(4 * sizeof(V)) FourValues {
  V value[kThreadPixels];
};

// Four pixels of three channels at once, of pictures whose number of pixels is a multiple of four.
template <typename V>
HEADRACE_ON_DEVICE inline void MapFourPixels(const ByteMapping& mapping, const V* table, uint64_t picture,
                                             uint64_t first) {
  constexpr uint32_t kChannels = 3;
  const auto* const words =
      reinterpret_cast<const uint32_t*>(mapping.bytes + (picture * mapping.pixels + first) * kChannels);
  const uint32_t read[kChannels] = {words[0], words[1], words[2]};
  V mapped[kThreadPixels * kChannels];
  for (uint32_t i = 0; i < kThreadPixels * kChannels; ++i) {
    const uint32_t byte = (read[i / 4] >> (i % 4 * 8)) & 0xFF;
    mapped[i] = table[i % kChannels * kTableValues + byte];
  }
  V* const values = static_cast<V*>(mapping.values) + picture * mapping.pixels * kChannels;
  for (uint32_t part = 0; part < kChannels; ++part) {
    FourValues<V> four;
    for (uint32_t i = 0; i < kThreadPixels; ++i) {
      four.value[i] = mapped[mapping.planes != 0 ? i * kChannels + part : part * kThreadPixels + i];
    }
    const uint64_t at = mapping.planes != 0 ? part * mapping.pixels + first : first * kChannels + part * kThreadPixels;
    *reinterpret_cast<FourValues<V>*>(values + at) = four;
  }
}

// The work of one thread of threads(). `table`: mapping.table, or a copy of it.
template <typename V>
HEADRACE_ON_DEVICE inline void MapBytes(const ByteMapping& mapping, const V* table, uint64_t thread) {
  const uint64_t groups = (mapping.pixels + kThreadPixels - 1) / kThreadPixels;
  const uint64_t picture = thread / groups;
  const uint64_t first = thread % groups * kThreadPixels;
  if (mapping.channels == 3 && mapping.pixels % kThreadPixels == 0) {
    MapFourPixels(mapping, table, picture, first);
    return;
  }
  const uint64_t end = first + kThreadPixels < mapping.pixels ? first + kThreadPixels : mapping.pixels;
  V* const values = static_cast<V*>(mapping.values) + picture * mapping.pixels * mapping.channels;
  const uint8_t* const bytes = mapping.bytes + picture * mapping.pixels * mapping.channels;
  for (uint64_t pixel = first; pixel < end; ++pixel) {
    for (uint32_t channel = 0; channel < mapping.channels; ++channel) {
      const uint8_t byte = bytes[pixel * mapping.channels + channel];
      const uint64_t at = mapping.planes != 0 ? channel * mapping.pixels + pixel : pixel * mapping.channels + channel;
      values[at] = table[channel * kTableValues + byte];
    }
  }
}

// The work of all threads, on this one.
template <typename V>
void MapAllBytes(const ByteMapping& mapping) {
  for (uint64_t thread = 0; thread < mapping.threads(); ++thread) {
    MapBytes(mapping, static_cast<const V*>(mapping.table), thread);
  }
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_
