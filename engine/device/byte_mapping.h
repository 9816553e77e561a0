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

// Values of each channel in its table.
inline constexpr uint32_t kTableValues = 256;
// What a thread writes at once.
inline constexpr uint32_t kTogether = 4;
// Tables of more channels do not fit in the memory of a block of threads.
inline constexpr uint32_t kMostMappedChannels = 8;

// An argument of the kernels, by value: fixed sizes, no padding.
struct ByteMapping {
  const uint8_t* bytes;  // [pictures, pixels, channels]; aligned to 256, as the others
  const void* table;     // [channels, 256], of values
  void* values;          // [pictures, pixels, channels], or as planes [pictures, channels, pixels]
  uint64_t pictures;
  uint64_t pixels;  // of a picture
  uint32_t channels;
  uint32_t planes;  // 0 or 1

  HEADRACE_ON_DEVICE uint64_t all_values() const { return pictures * pixels * channels; }
  // Values lie as their bytes do.
  HEADRACE_ON_DEVICE bool in_place() const { return planes == 0 || channels == 1; }
  // Four pixels of three channels are three words, and four values of each plane are aligned.
  HEADRACE_ON_DEVICE bool in_fours() const { return channels == 3 && pixels % kTogether == 0; }
  // The work is divided among so many threads: by values, else by four pixels, else by pixels.
  HEADRACE_ON_DEVICE uint64_t threads() const {
    if (in_place()) return (all_values() + kTogether - 1) / kTogether;
    return in_fours() ? pictures * pixels / kTogether : pictures * pixels;
  }
};
static_assert(sizeof(ByteMapping) == 48);

// Written at once. V: an unsigned integer of the value's size.
template <typename V>
struct alignas(kTogether * sizeof(V)) FourValues {
  V value[kTogether];
};

// Division of 64 bits takes a device ten times as long as that of 32.
HEADRACE_ON_DEVICE inline uint64_t Quotient(uint64_t number, uint64_t divisor) {
  if ((number | divisor) >> 32 == 0) return static_cast<uint32_t>(number) / static_cast<uint32_t>(divisor);
  return number / divisor;
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapInPlace(const ByteMapping& mapping, const V* table, uint64_t thread) {
  const uint64_t first = thread * kTogether;
  auto channel = static_cast<uint32_t>(first - Quotient(first, mapping.channels) * mapping.channels);
  V* const values = static_cast<V*>(mapping.values) + first;
  FourValues<V> four;
  const uint64_t left = mapping.all_values() - first;
  const bool whole = left >= kTogether;
  const uint32_t word = whole ? reinterpret_cast<const uint32_t*>(mapping.bytes)[thread] : 0;
  for (uint32_t i = 0; i < kTogether; ++i) {
    if (!whole && i >= left) return;
    const uint32_t byte = whole ? (word >> (8 * i)) & 0xFF : mapping.bytes[first + i];
    four.value[i] = table[channel * kTableValues + byte];
    if (!whole) values[i] = four.value[i];
    channel = channel + 1 == mapping.channels ? 0 : channel + 1;
  }
  *reinterpret_cast<FourValues<V>*>(values) = four;
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapFourPixels(const ByteMapping& mapping, const V* table, uint64_t thread) {
  constexpr uint32_t kChannels = 3;
  const auto* const words = reinterpret_cast<const uint32_t*>(mapping.bytes) + thread * kChannels;
  const uint32_t read[kChannels] = {words[0], words[1], words[2]};
  FourValues<V> planes[kChannels];
  for (uint32_t i = 0; i < kTogether * kChannels; ++i) {
    const uint32_t byte = (read[i / 4] >> (i % 4 * 8)) & 0xFF;
    planes[i % kChannels].value[i / kChannels] = table[i % kChannels * kTableValues + byte];
  }
  const uint64_t picture = Quotient(thread, mapping.pixels / kTogether);
  const uint64_t pixel = thread * kTogether - picture * mapping.pixels;
  V* const values = static_cast<V*>(mapping.values) + picture * mapping.pixels * kChannels + pixel;
  for (uint32_t channel = 0; channel < kChannels; ++channel) {
    *reinterpret_cast<FourValues<V>*>(values + channel * mapping.pixels) = planes[channel];
  }
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapPixel(const ByteMapping& mapping, const V* table, uint64_t thread) {
  const uint64_t picture = Quotient(thread, mapping.pixels);
  const uint64_t pixel = thread - picture * mapping.pixels;
  const uint8_t* const bytes = mapping.bytes + thread * mapping.channels;
  V* const values = static_cast<V*>(mapping.values) + picture * mapping.pixels * mapping.channels + pixel;
  for (uint32_t channel = 0; channel < mapping.channels; ++channel) {
    values[channel * mapping.pixels] = table[channel * kTableValues + bytes[channel]];
  }
}

// The work of one thread of threads(). `table`: mapping.table, or a copy of it.
template <typename V>
HEADRACE_ON_DEVICE inline void MapBytes(const ByteMapping& mapping, const V* table, uint64_t thread) {
  if (mapping.in_place()) {
    MapInPlace(mapping, table, thread);
  } else if (mapping.in_fours()) {
    MapFourPixels(mapping, table, thread);
  } else {
    MapPixel(mapping, table, thread);
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
