// What a device does with pictures after their copy: each byte becomes the value that a table has for it and its
// channel; pictures may be resized, flipped, erased in part and mixed with others of the batch, and channels may become
// planes.
// One definition for the host and for CUDA, of moves, integers, and products and sums of floats that are rounded one by
// one, so that both give the same bytes.
// Thread contract: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_

#ifdef __CUDACC__
#define HEADRACE_ON_DEVICE __host__ __device__
// So that what the loop fills stays in registers.
#define HEADRACE_UNROLL _Pragma("unroll")
#else
#define HEADRACE_ON_DEVICE
#define HEADRACE_UNROLL
#endif

#include <stdint.h>
#include <string.h>

namespace headrace {

// Values of each channel in its table: of each byte, and of what is erased.
inline constexpr uint32_t kTableValues = 257;
inline constexpr uint32_t kErased = 256;
// What a thread writes at once.
inline constexpr uint32_t kTogether = 4;
// Tables of more channels do not fit in the memory of a block of threads.
inline constexpr uint32_t kMostMappedChannels = 8;

// How a picture is flipped: the mark of its upper left corner, where corners were marked 0, 1 in the upper row and 2, 3
// in the lower one, and then flipped as the picture is.
inline constexpr uint32_t kFlippedLeftRight = 1;
inline constexpr uint32_t kFlippedTopBottom = 2;
inline constexpr uint32_t kCorners = 4;

// Of a picture as it results.
struct PictureBox {
  int32_t left;
  int32_t top;
  int32_t width;
  int32_t height;

  HEADRACE_ON_DEVICE bool Has(uint32_t x, uint32_t y) const {
    return x - static_cast<uint32_t>(left) < static_cast<uint32_t>(width) &&
           y - static_cast<uint32_t>(top) < static_cast<uint32_t>(height);
  }
};

inline constexpr int32_t kNotMixed = -1;

// How a picture is mixed with its partner: partner · of_partner + own · of_own, or the partner's pixels in the box.
struct MixedPicture {
  int32_t partner;  // its number in the batch, or kNotMixed
  float of_own;
  float of_partner;
  int32_t unused;
  PictureBox box;
};
static_assert(sizeof(MixedPicture) == 32);

enum class Mixing : uint32_t { kNone, kBlend, kPaste };

// How the work is divided among threads: by four values that lie as their bytes do; by four pixels of three channels,
// which are three words, and become four aligned values of each plane; or by four values of each run, of one picture,
// of two that are mixed, or of one or two that are resized.
enum class MappingWay { kInPlace, kFourPixels, kFours, kMixedFours, kResizedFours };
inline constexpr int kMappingWays = 5;

// An argument of the kernels, by value: fixed sizes, no padding. A picture has fewer than 2^31 values.
struct ByteMapping {
  const uint8_t* bytes;  // [pictures, byte_height, byte_width, channels]; aligned to 256, as the others
  const void* table;     // [channels, 257], of values
  void* values;          // as the bytes, or as planes [pictures, channels, height, width]
  // What was drawn for each picture; null: nothing.
  const int32_t* taps;       // of what bytes each row and column is made: [pictures, numbers_of_taps()], see ResizeTaps
  const uint8_t* marks;      // of its corners, as it was resized: [pictures, 4]
  const PictureBox* erased;  // after it was flipped
  const MixedPicture* mixed;  // after that
  uint64_t pictures;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t planes;       // 0 or 1
  Mixing mixing;         // kBlend: values are float32
  uint32_t byte_height;  // differ from height and width where there are taps
  uint32_t byte_width;
  uint32_t weights;  // of a position, in taps

  HEADRACE_ON_DEVICE uint32_t pixels() const { return height * width; }  // of a picture
  HEADRACE_ON_DEVICE uint64_t all_values() const { return pictures * values_of_picture(); }
  HEADRACE_ON_DEVICE uint32_t values_of_picture() const { return pixels() * channels; }
  HEADRACE_ON_DEVICE uint32_t bytes_of_picture() const { return byte_height * byte_width * channels; }
  HEADRACE_ON_DEVICE uint32_t numbers_of_taps() const { return 1 + (height + width) * (2 + weights); }
  // A picture is so many runs of values that lie together.
  HEADRACE_ON_DEVICE uint32_t runs() const { return planes == 0 ? 1 : channels; }
  HEADRACE_ON_DEVICE uint32_t values_of_run() const { return planes == 0 ? values_of_picture() : pixels(); }
  // Enough for every run, wherever it begins between two aligned places.
  HEADRACE_ON_DEVICE uint32_t fours_of_run() const { return (values_of_run() + 2 * (kTogether - 1)) / kTogether; }
  // Whether it matters in which row a pixel is.
  HEADRACE_ON_DEVICE bool by_rows() const {
    return marks != nullptr || erased != nullptr || mixed != nullptr || taps != nullptr;
  }
  HEADRACE_ON_DEVICE MappingWay way() const {
    if (taps != nullptr) return MappingWay::kResizedFours;
    if (mixing != Mixing::kNone) return MappingWay::kMixedFours;
    if (!by_rows() && (planes == 0 || channels == 1)) return MappingWay::kInPlace;
    // Four pixels of a row stay together in a picture that is flipped, too.
    const bool in_fours = (by_rows() ? width : pixels()) % kTogether == 0;
    return planes != 0 && channels == 3 && in_fours ? MappingWay::kFourPixels : MappingWay::kFours;
  }
  HEADRACE_ON_DEVICE uint64_t threads() const {
    switch (way()) {
      case MappingWay::kInPlace:
        return (all_values() + kTogether - 1) / kTogether;
      case MappingWay::kFourPixels:
        return pictures * (pixels() / kTogether);
      case MappingWay::kFours:
      case MappingWay::kMixedFours:
      case MappingWay::kResizedFours:
        break;
    }
    return pictures * fours_of_run();
  }
  HEADRACE_ON_DEVICE uint32_t FlipsOf(uint64_t picture) const {
    return marks == nullptr ? 0 : marks[picture * kCorners];
  }
  HEADRACE_ON_DEVICE PictureBox ErasedOf(uint64_t picture) const {
    return erased == nullptr ? PictureBox{0, 0, 0, 0} : erased[picture];
  }
};
static_assert(sizeof(ByteMapping) == 96);

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

// Four pixels of a picture as it results, and those in which they lie before it is flipped, by their numbers.
struct FourPixels {
  uint32_t group;
  uint32_t before;  // in the opposite order if the picture is flipped from left to right
  uint32_t y = 0;   // known if the mapping is by rows
  uint32_t x = 0;

  HEADRACE_ON_DEVICE FourPixels(const ByteMapping& mapping, uint32_t flips, uint32_t number)
      : group(number), before(number) {
    if (!mapping.by_rows()) return;
    const uint32_t of_row = mapping.width / kTogether;
    y = group / of_row;
    const uint32_t at = group - y * of_row;
    x = at * kTogether;
    before = ((flips & kFlippedTopBottom) == 0 ? y : mapping.height - 1 - y) * of_row +
             ((flips & kFlippedLeftRight) == 0 ? at : of_row - 1 - at);
  }
};

template <typename V>
HEADRACE_ON_DEVICE inline void MapFourPixels(const ByteMapping& mapping, const V* table, uint64_t thread) {
  constexpr uint32_t kChannels = 3;
  const uint64_t pixels = mapping.pixels();
  const uint64_t groups = pixels / kTogether;
  const uint64_t picture = Quotient(thread, groups);
  const uint32_t flips = mapping.FlipsOf(picture);
  const FourPixels four(mapping, flips, static_cast<uint32_t>(thread - picture * groups));
  const auto* const words =
      reinterpret_cast<const uint32_t*>(mapping.bytes) + (picture * groups + four.before) * kChannels;
  const uint32_t read[kChannels] = {words[0], words[1], words[2]};
  const PictureBox erased = mapping.ErasedOf(picture);
  FourValues<V> planes[kChannels];
  for (uint32_t i = 0; i < kTogether * kChannels; ++i) {
    const uint32_t byte = (read[i / 4] >> (i % 4 * 8)) & 0xFF;
    planes[i % kChannels].value[i / kChannels] = table[i % kChannels * kTableValues + byte];
  }
  V* const values = static_cast<V*>(mapping.values) + picture * pixels * kChannels + four.group * kTogether;
  for (uint32_t channel = 0; channel < kChannels; ++channel) {
    const V* const read_four = planes[channel].value;
    FourValues<V> turned = planes[channel];
    if ((flips & kFlippedLeftRight) != 0) turned = {{read_four[3], read_four[2], read_four[1], read_four[0]}};
    for (uint32_t i = 0; i < kTogether; ++i) {
      if (erased.Has(four.x + i, four.y)) turned.value[i] = table[channel * kTableValues + kErased];
    }
    *reinterpret_cast<FourValues<V>*>(values + channel * pixels) = turned;
  }
}

// A value of a run: its channel, and if the mapping is by rows, its pixel.
struct ValuePlace {
  uint32_t channel;
  uint32_t y = 0;
  uint32_t x;  // else all pixels of a picture are one row

  HEADRACE_ON_DEVICE ValuePlace(const ByteMapping& mapping, uint32_t run, uint32_t number) : channel(run), x(number) {
    if (mapping.planes == 0) {
      x = number / mapping.channels;
      channel = number - x * mapping.channels;
    }
    if (!mapping.by_rows()) return;
    y = x / mapping.width;
    x -= y * mapping.width;
  }

  // To the next value of the run.
  HEADRACE_ON_DEVICE void Next(const ByteMapping& mapping) {
    if (mapping.planes == 0) {
      if (++channel < mapping.channels) return;
      channel = 0;
    }
    if (++x < mapping.width || !mapping.by_rows()) return;
    x = 0;
    ++y;
  }
};

// The inputs of a row or column of a resized picture.
struct Taps {
  uint32_t first;
  uint32_t count;
  const int32_t* weights;
};

// A picture of bytes that is resized: Pillow's weighted sums along rows and columns, in units of 2^-22, rounded to
// bytes in between.
class ResizedPicture {
 public:
  HEADRACE_ON_DEVICE ResizedPicture(const ByteMapping& mapping, uint64_t picture)
      : mapping_(mapping),
        bytes_(mapping.bytes + picture * mapping.bytes_of_picture()),
        taps_(mapping.taps + picture * mapping.numbers_of_taps()) {}

  HEADRACE_ON_DEVICE uint32_t At(uint32_t y, uint32_t x, uint32_t channel) const {
    const Taps rows = TapsAt(y);
    const Taps columns = TapsAt(mapping_.height + x);
    const uint32_t row = mapping_.byte_width * mapping_.channels;
    const uint8_t* const first = bytes_ + rows.first * row + columns.first * mapping_.channels + channel;
    if (taps_[0] == 0) return SumOfSums(first, rows, row, columns, mapping_.channels);
    return SumOfSums(first, columns, mapping_.channels, rows, row);
  }

 private:
  static constexpr int32_t kBits = 22;

  HEADRACE_ON_DEVICE Taps TapsAt(uint32_t position) const {
    const int32_t* const at = taps_ + 1 + position * (2 + mapping_.weights);
    return {static_cast<uint32_t>(at[0]), static_cast<uint32_t>(at[1]), at + 2};
  }
  HEADRACE_ON_DEVICE static int32_t Rounded(int32_t sum) {
    const int32_t value = sum >> kBits;
    return value < 0 ? 0 : value > 255 ? 255 : value;
  }
  // Over `outer`, of sums over `inner`; `step`: to the next byte along each.
  HEADRACE_ON_DEVICE static uint32_t SumOfSums(const uint8_t* bytes, const Taps& outer, uint32_t outer_step,
                                               const Taps& inner, uint32_t inner_step) {
    int32_t all = 1 << (kBits - 1);
    for (uint32_t i = 0; i < outer.count; ++i, bytes += outer_step) {
      int32_t sum = 1 << (kBits - 1);
      for (uint32_t k = 0; k < inner.count; ++k) sum += bytes[k * inner_step] * inner.weights[k];
      all += Rounded(sum) * outer.weights[i];
    }
    return static_cast<uint32_t>(Rounded(all));
  }

  const ByteMapping& mapping_;
  const uint8_t* bytes_;
  const int32_t* taps_;
};

// A picture before it is mixed.
template <typename V, bool kResizes>
class MappedPicture {
 public:
  HEADRACE_ON_DEVICE MappedPicture(const ByteMapping& mapping, const V* table, uint64_t picture)
      : mapping_(mapping),
        table_(table),
        picture_(picture),
        flips_(mapping.FlipsOf(picture)),
        erased_(mapping.ErasedOf(picture)) {}

  // Of a place behind the picture: some value.
  HEADRACE_ON_DEVICE V At(const ValuePlace& place) const {
    const uint32_t y = (flips_ & kFlippedTopBottom) == 0 ? place.y : mapping_.height - 1 - place.y;
    const uint32_t x = (flips_ & kFlippedLeftRight) == 0 ? place.x : mapping_.width - 1 - place.x;
    const uint32_t byte = ByteAt(y, x, place.channel);
    return table_[place.channel * kTableValues + (erased_.Has(place.x, place.y) ? kErased : byte)];
  }

 private:
  HEADRACE_ON_DEVICE uint32_t ByteAt(uint32_t y, uint32_t x, uint32_t channel) const {
    if constexpr (kResizes) {
      const uint32_t bottom = mapping_.height - 1;
      const uint32_t right = mapping_.width - 1;
      return ResizedPicture(mapping_, picture_).At(y < bottom ? y : bottom, x < right ? x : right, channel);
    }
    const uint32_t at = (y * mapping_.width + x) * mapping_.channels + channel;
    const uint32_t last = mapping_.values_of_picture() - 1;
    return mapping_.bytes[picture_ * mapping_.values_of_picture() + (at < last ? at : last)];
  }

  const ByteMapping& mapping_;
  const V* table_;
  uint64_t picture_;
  uint32_t flips_;
  PictureBox erased_;
};

HEADRACE_ON_DEVICE inline uint32_t Blended(uint32_t own, uint32_t partner, const MixedPicture& mixed) {
  float own_value;
  float partner_value;
  memcpy(&own_value, &own, sizeof(own));
  memcpy(&partner_value, &partner, sizeof(partner));
  const float blended = partner_value * mixed.of_partner + own_value * mixed.of_own;
  uint32_t bits;
  memcpy(&bits, &blended, sizeof(bits));
  return bits;
}

template <typename V>
HEADRACE_ON_DEVICE inline V Mixed(const ByteMapping& mapping, const MixedPicture& mixed, const ValuePlace& place, V own,
                                  V partner) {
  if constexpr (sizeof(V) == sizeof(float)) {
    if (mapping.mixing == Mixing::kBlend) return Blended(own, partner, mixed);
  }
  return mixed.box.Has(place.x, place.y) ? partner : own;
}

// Values of a run that are written at once: four, or fewer at its ends.
template <typename V, bool kMixes, bool kResizes>
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
    // Reads four in any case, as branches would hold up the next ones.
    const ValuePlace first(mapping, run, begin);
    ValuePlace place = first;
    const MappedPicture<V, kResizes> own(mapping, table, picture);
    for (uint32_t i = 0; i < kTogether; ++i, place.Next(mapping)) four.value[i] = own.At(place);
    if constexpr (kMixes) {
      if (mapping.mixed == nullptr) return;
      const MixedPicture mixed = mapping.mixed[picture];
      if (mixed.partner == kNotMixed) return;
      const MappedPicture<V, kResizes> partner(mapping, table, static_cast<uint64_t>(mixed.partner));
      place = first;
      for (uint32_t i = 0; i < kTogether; ++i, place.Next(mapping)) {
        four.value[i] = Mixed(mapping, mixed, place, four.value[i], partner.At(place));
      }
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
template <typename V, bool kMixes, bool kResizes, uint32_t kRuns>
HEADRACE_ON_DEVICE inline void MapFoursOf(const ByteMapping& mapping, const V* table, uint64_t picture, uint32_t group,
                                          uint32_t first) {
  FourOfRun<V, kMixes, kResizes> fours[kRuns];
  HEADRACE_UNROLL
  for (uint32_t i = 0; i < kRuns; ++i) fours[i].Read(mapping, table, picture, first + i, group);
  HEADRACE_UNROLL
  for (uint32_t i = 0; i < kRuns; ++i) fours[i].Write();
}

template <typename V, bool kMixes, bool kResizes>
HEADRACE_ON_DEVICE inline void MapFoursOfRuns(const ByteMapping& mapping, const V* table, uint64_t thread) {
  const uint64_t picture = Quotient(thread, mapping.fours_of_run());
  const auto group = static_cast<uint32_t>(thread - picture * mapping.fours_of_run());
  if constexpr (!kResizes) {
    if (mapping.runs() == 3) {
      MapFoursOf<V, kMixes, kResizes, 3>(mapping, table, picture, group, 0);
      return;
    }
  }
  for (uint32_t run = 0; run < mapping.runs(); ++run) {
    MapFoursOf<V, kMixes, kResizes, 1>(mapping, table, picture, group, run);
  }
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapFours(const ByteMapping& mapping, const V* table, uint64_t thread) {
  MapFoursOfRuns<V, false, false>(mapping, table, thread);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapMixedFours(const ByteMapping& mapping, const V* table, uint64_t thread) {
  MapFoursOfRuns<V, true, false>(mapping, table, thread);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapResizedFours(const ByteMapping& mapping, const V* table, uint64_t thread) {
  MapFoursOfRuns<V, true, true>(mapping, table, thread);
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
    case MappingWay::kMixedFours:
      return MapAll<V, MapMixedFours<V>>(mapping);
    case MappingWay::kResizedFours:
      return MapAll<V, MapResizedFours<V>>(mapping);
  }
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_
