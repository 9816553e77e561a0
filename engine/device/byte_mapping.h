// What a device does with pictures after their copy: each byte becomes the value that a table has for it and its
// channel, pictures may be flipped, and channels may become planes. One definition for the host and for CUDA, of moves
// and integers alone, so that both give the same bytes.
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

// How a picture is flipped: the mark of its upper left corner, where corners were marked 0, 1 in the upper row and 2, 3
// in the lower one, and then flipped as the picture is.
inline constexpr uint32_t kFlippedLeftRight = 1;
inline constexpr uint32_t kFlippedTopBottom = 2;
inline constexpr uint32_t kCorners = 4;

// How the work is divided among threads: by four values that lie as their bytes do; by four pixels of three channels,
// which are three words, and become four aligned values of each plane; or by four values of each run.
enum class MappingWay { kInPlace, kFourPixels, kFours };
inline constexpr int kMappingWays = 3;

// An argument of the kernels, by value: fixed sizes, no padding. A picture has fewer than 2^31 values.
struct ByteMapping {
  const uint8_t* bytes;  // [pictures, height, width, channels]; aligned to 256, as the others
  const void* table;     // [channels, 256], of values
  void* values;          // as the bytes, or as planes [pictures, channels, height, width]
  const uint8_t* marks;  // [pictures, 4]: of the corners; null: no picture is flipped
  uint64_t pictures;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t planes;  // 0 or 1

  HEADRACE_ON_DEVICE uint32_t pixels() const { return height * width; }  // of a picture
  HEADRACE_ON_DEVICE uint64_t all_values() const { return pictures * values_of_picture(); }
  HEADRACE_ON_DEVICE uint32_t values_of_picture() const { return pixels() * channels; }
  // A picture is so many runs of values that lie together.
  HEADRACE_ON_DEVICE uint32_t runs() const { return planes == 0 ? 1 : channels; }
  HEADRACE_ON_DEVICE uint32_t values_of_run() const { return planes == 0 ? values_of_picture() : pixels(); }
  // Enough for every run, wherever it begins between two aligned places.
  HEADRACE_ON_DEVICE uint32_t fours_of_run() const { return (values_of_run() + 2 * (kTogether - 1)) / kTogether; }
  HEADRACE_ON_DEVICE MappingWay way() const {
    if (marks == nullptr && (planes == 0 || channels == 1)) return MappingWay::kInPlace;
    // Four pixels stay together in a picture that is flipped, too.
    const bool in_fours = (marks == nullptr ? pixels() : width) % kTogether == 0;
    return planes != 0 && channels == 3 && in_fours ? MappingWay::kFourPixels : MappingWay::kFours;
  }
  HEADRACE_ON_DEVICE uint64_t threads() const {
    switch (way()) {
      case MappingWay::kInPlace:
        return (all_values() + kTogether - 1) / kTogether;
      case MappingWay::kFourPixels:
        return pictures * (pixels() / kTogether);
      case MappingWay::kFours:
        break;
    }
    return pictures * fours_of_run();
  }
  HEADRACE_ON_DEVICE uint32_t FlipsOf(uint64_t picture) const {
    return marks == nullptr ? 0 : marks[picture * kCorners];
  }
};
static_assert(sizeof(ByteMapping) == 56);

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

// The number of the four pixels that come to lie at those of `group` of their picture; in the opposite order if it is
// flipped from left to right.
HEADRACE_ON_DEVICE inline uint32_t GroupBefore(const ByteMapping& mapping, uint32_t flips, uint32_t group) {
  if (flips == 0) return group;
  const uint32_t of_row = mapping.width / kTogether;
  const uint32_t row = group / of_row;
  const uint32_t at = group - row * of_row;
  return ((flips & kFlippedTopBottom) == 0 ? row : mapping.height - 1 - row) * of_row +
         ((flips & kFlippedLeftRight) == 0 ? at : of_row - 1 - at);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapFourPixels(const ByteMapping& mapping, const V* table, uint64_t thread) {
  constexpr uint32_t kChannels = 3;
  const uint64_t pixels = mapping.pixels();
  const uint64_t picture = Quotient(thread, pixels / kTogether);
  const auto group = static_cast<uint32_t>(thread - picture * (pixels / kTogether));
  const uint32_t flips = mapping.FlipsOf(picture);
  const uint64_t before = picture * (pixels / kTogether) + GroupBefore(mapping, flips, group);
  const auto* const words = reinterpret_cast<const uint32_t*>(mapping.bytes) + before * kChannels;
  const uint32_t read[kChannels] = {words[0], words[1], words[2]};
  FourValues<V> planes[kChannels];
  for (uint32_t i = 0; i < kTogether * kChannels; ++i) {
    const uint32_t byte = (read[i / 4] >> (i % 4 * 8)) & 0xFF;
    planes[i % kChannels].value[i / kChannels] = table[i % kChannels * kTableValues + byte];
  }
  V* const values = static_cast<V*>(mapping.values) + picture * pixels * kChannels + group * kTogether;
  for (uint32_t channel = 0; channel < kChannels; ++channel) {
    const V* const four = planes[channel].value;
    *reinterpret_cast<FourValues<V>*>(values + channel * pixels) =
        (flips & kFlippedLeftRight) == 0 ? planes[channel] : FourValues<V>{{four[3], four[2], four[1], four[0]}};
  }
}

// A value of a picture, and the byte that it comes from.
class ValuePlace {
 public:
  // The value of that number in the run. `flips`: of the picture.
  HEADRACE_ON_DEVICE ValuePlace(const ByteMapping& mapping, uint32_t flips, uint32_t run, uint32_t number)
      : mapping_(mapping), flips_(flips), channel_(run) {
    uint32_t pixel = number;
    if (mapping.planes == 0) {
      pixel = number / mapping.channels;
      channel_ = number - pixel * mapping.channels;
    }
    // Pixels that stay are one row.
    if (flips == 0) {
      x_ = pixel;
      return;
    }
    y_ = pixel / mapping.width;
    x_ = pixel - y_ * mapping.width;
  }

  HEADRACE_ON_DEVICE uint32_t channel() const { return channel_; }
  // Of the byte, in its picture.
  HEADRACE_ON_DEVICE uint32_t byte() const {
    const uint32_t y = (flips_ & kFlippedTopBottom) == 0 ? y_ : mapping_.height - 1 - y_;
    const uint32_t x = (flips_ & kFlippedLeftRight) == 0 ? x_ : mapping_.width - 1 - x_;
    return (y * mapping_.width + x) * mapping_.channels + channel_;
  }
  // To the next value of the run.
  HEADRACE_ON_DEVICE void Next() {
    if (mapping_.planes == 0) {
      if (++channel_ < mapping_.channels) return;
      channel_ = 0;
    }
    if (++x_ < mapping_.width || flips_ == 0) return;
    x_ = 0;
    ++y_;
  }

 private:
  const ByteMapping& mapping_;
  uint32_t flips_;
  uint32_t channel_;
  uint32_t y_ = 0;
  uint32_t x_ = 0;
};

// Values of a run that are written at once: four, or fewer at its ends.
template <typename V>
struct FourOfRun {
  V* values;
  uint32_t count = 0;
  FourValues<V> four;

  HEADRACE_ON_DEVICE void Read(const ByteMapping& mapping, const V* table, uint64_t picture, uint32_t run,
                               uint32_t group) {
    const uint64_t first_of_run = (picture * mapping.runs() + run) * mapping.values_of_run();
    // Of an aligned place and its four, what lies before the run.
    const auto lead = static_cast<uint32_t>(first_of_run % kTogether);
    const uint32_t begin = group == 0 ? 0 : group * kTogether - lead;
    const uint32_t end = (group + 1) * kTogether - lead;
    const uint32_t length = mapping.values_of_run();
    if (begin >= length) return;
    count = (end < length ? end : length) - begin;
    values = static_cast<V*>(mapping.values) + first_of_run + begin;
    const uint8_t* const bytes = mapping.bytes + picture * mapping.values_of_picture();
    const uint32_t last = mapping.values_of_picture() - 1;
    ValuePlace place(mapping, mapping.FlipsOf(picture), run, begin);
    // Reads four in any case, as branches would hold up the next ones.
    for (uint32_t i = 0; i < kTogether; ++i) {
      const uint32_t byte = place.byte();
      four.value[i] = table[place.channel() * kTableValues + bytes[byte < last ? byte : last]];
      place.Next();
    }
  }

  HEADRACE_ON_DEVICE void Write() const {
    if (count == kTogether) {
      *reinterpret_cast<FourValues<V>*>(values) = four;
      return;
    }
    // Counted out, so that the values stay in registers.
    for (uint32_t i = 0; i < kTogether; ++i) {
      if (i < count) values[i] = four.value[i];
    }
  }
};

// Four values of each of kRuns runs from `first` on: all are read before the first is written, so that a device has
// several reads under way.
template <typename V, uint32_t kRuns>
HEADRACE_ON_DEVICE inline void MapFoursOf(const ByteMapping& mapping, const V* table, uint64_t picture, uint32_t group,
                                          uint32_t first) {
  FourOfRun<V> fours[kRuns];
  for (uint32_t i = 0; i < kRuns; ++i) fours[i].Read(mapping, table, picture, first + i, group);
  for (uint32_t i = 0; i < kRuns; ++i) fours[i].Write();
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapFours(const ByteMapping& mapping, const V* table, uint64_t thread) {
  const uint64_t picture = Quotient(thread, mapping.fours_of_run());
  const auto group = static_cast<uint32_t>(thread - picture * mapping.fours_of_run());
  if (mapping.runs() == 3) {
    MapFoursOf<V, 3>(mapping, table, picture, group, 0);
    return;
  }
  for (uint32_t run = 0; run < mapping.runs(); ++run) MapFoursOf<V, 1>(mapping, table, picture, group, run);
}

// The work of all threads, on this one. Map: that of one, MapInPlace and so on.
template <typename V, void (*kMap)(const ByteMapping& mapping, const V* table, uint64_t thread)>
void MapAll(const ByteMapping& mapping) {
  for (uint64_t thread = 0; thread < mapping.threads(); ++thread) {
    kMap(mapping, static_cast<const V*>(mapping.table), thread);
  }
}

template <typename V>
void MapAllBytes(const ByteMapping& mapping) {
  switch (mapping.way()) {
    case MappingWay::kInPlace:
      return MapAll<V, MapInPlace<V>>(mapping);
    case MappingWay::kFourPixels:
      return MapAll<V, MapFourPixels<V>>(mapping);
    case MappingWay::kFours:
      return MapAll<V, MapFours<V>>(mapping);
  }
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_
