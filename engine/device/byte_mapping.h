// `ByteMapping` is what a device does with images after their copy: each byte becomes the value that a table has for it
// and its channel; images may be resized, flipped, erased in part and mixed with others of the batch, and channels may
// become planes. There is one definition for the host and for CUDA, of moves, integers, and products and sums of floats
// that are rounded one by one, so that both give the same bytes.
// Threads: values; calls with different threads write different memory.
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
// Of a block, on a device.
inline constexpr uint32_t kThreadsOfBlock = 256;
// Of a piece of the work that has nothing to do with images.
inline constexpr uint32_t kThreadsOfPiece = 1024;
// Tables of more channels do not fit in the memory of a block of threads.
inline constexpr uint32_t kMostMappedChannels = 8;

// How an image is flipped: the mark of its upper left corner, where corners were marked 0, 1 in the upper row and 2, 3
// in the lower one, and then flipped as the image is.
inline constexpr uint32_t kFlippedLeftRight = 1;
inline constexpr uint32_t kFlippedTopBottom = 2;
inline constexpr uint32_t kCorners = 4;

// Of an image as it results. Aligned, as what follows, so that a device reads it at once.
struct alignas(16) PictureBox {
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

// How an image is mixed with its partner: partner · of_partner + own · of_own, or the partner's pixels in the box.
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
// which are three words, and become four aligned values of each plane; by four aligned values of pixels of one channel
// or three that stay together, of the words of four pixels; or by four values of each run. All but the first are of one
// image or of two that are mixed; only the last may be of images that are resized.
enum class MappingWay {
  kInPlace,
  kFourPixels,
  kMixedFourPixels,
  kWords,
  kMixedWords,
  kFours,
  kMixedFours,
  kResizedFours
};
inline constexpr int kMappingWays = 8;

// An argument of the kernels, by value: fixed sizes, no padding. An image has fewer than 2^31 values.
struct ByteMapping {
  const uint8_t* bytes;  // [images, byte_height, byte_width, channels]; aligned to 256, as the others
  const void* table;     // [channels, 257], of values
  void* values;          // as the bytes, or as planes [images, channels, height, width]
  // What was drawn for each image; null: nothing.
  const int32_t* taps;        // of what bytes each row and column is made: [images, numbers_of_taps()], see ResizeTaps
  const uint8_t* marks;       // of its corners, as it was resized: [images, 4]
  const PictureBox* erased;   // after it was flipped
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

  HEADRACE_ON_DEVICE uint32_t pixels() const { return height * width; }  // of an image
  HEADRACE_ON_DEVICE uint64_t all_values() const { return pictures * values_of_picture(); }
  HEADRACE_ON_DEVICE uint32_t values_of_picture() const { return pixels() * channels; }
  HEADRACE_ON_DEVICE uint32_t bytes_of_picture() const { return byte_height * byte_width * channels; }
  HEADRACE_ON_DEVICE uint32_t numbers_of_taps() const { return 1 + (height + width) * (2 + weights); }
  // An image is so many runs of values that lie together.
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
    const bool apart = planes != 0 && channels > 1;
    if (!by_rows() && !apart) return MappingWay::kInPlace;
    const bool mixes = mixing != Mixing::kNone;
    // Four pixels of a row stay together in an image that is flipped, too.
    const bool in_fours = (by_rows() ? width : pixels()) % kTogether == 0;
    if (!in_fours || (channels != 3 && channels != 1)) return mixes ? MappingWay::kMixedFours : MappingWay::kFours;
    if (apart) return mixes ? MappingWay::kMixedFourPixels : MappingWay::kFourPixels;
    return mixes ? MappingWay::kMixedWords : MappingWay::kWords;
  }
  // The work is in so many pieces, each of so many threads: images, so that no thread has to find its own.
  HEADRACE_ON_DEVICE uint64_t pieces() const {
    if (way() != MappingWay::kInPlace) return pictures;
    constexpr uint64_t kValuesOfPiece = kThreadsOfPiece * kTogether;
    return (all_values() + kValuesOfPiece - 1) / kValuesOfPiece;
  }
  HEADRACE_ON_DEVICE uint32_t threads_of_piece() const {
    switch (way()) {
      case MappingWay::kInPlace:
        return kThreadsOfPiece;
      case MappingWay::kFourPixels:
      case MappingWay::kMixedFourPixels:
        return pixels() / kTogether;
      case MappingWay::kWords:
      case MappingWay::kMixedWords:
        return values_of_picture() / kTogether;
      case MappingWay::kFours:
      case MappingWay::kMixedFours:
      case MappingWay::kResizedFours:
        break;
    }
    return fours_of_run();
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

// Divides as a device does fast: by a multiplication.
class Divisor {
 public:
  HEADRACE_ON_DEVICE explicit Divisor(uint32_t divisor) : divisor_(divisor), inverse_(0xFFFFFFFF / divisor) {}
  HEADRACE_ON_DEVICE uint32_t value() const { return divisor_; }
  HEADRACE_ON_DEVICE uint32_t Quotient(uint32_t number) const {
    // The quotient or one less, as the inverse is less than 1 too small.
    const auto quotient = static_cast<uint32_t>((uint64_t{number} * inverse_) >> 32);
    return number - quotient * divisor_ < divisor_ ? quotient : quotient + 1;
  }

 private:
  uint32_t divisor_;
  uint32_t inverse_;
};

// Threads of a piece whose work is done one after the other: what is the same for all of them is found once.
struct Threads {
  uint32_t first;
  uint32_t end;
  uint32_t step;
};

template <typename V>
HEADRACE_ON_DEVICE inline void MapInPlaceOne(const ByteMapping& mapping, const V* table, uint64_t piece,
                                             uint32_t thread) {
  const uint64_t four_values = piece * kThreadsOfPiece + thread;
  const uint64_t first = four_values * kTogether;
  if (first >= mapping.all_values()) return;
  auto channel = static_cast<uint32_t>(first - Quotient(first, mapping.channels) * mapping.channels);
  V* const values = static_cast<V*>(mapping.values) + first;
  FourValues<V> four;
  const uint64_t left = mapping.all_values() - first;
  const bool whole = left >= kTogether;
  const uint32_t word = whole ? reinterpret_cast<const uint32_t*>(mapping.bytes)[four_values] : 0;
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
HEADRACE_ON_DEVICE inline void MapInPlace(const ByteMapping& mapping, const V* table, uint64_t piece,
                                          const Threads& threads) {
  for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
    MapInPlaceOne(mapping, table, piece, thread);
  }
}

// The places of four values that are written at once, in the image as it results; after its end, some.
struct FourPlaces {
  uint32_t channel[kTogether];
  uint32_t y[kTogether];
  uint32_t x[kTogether];
};

// For each of four values, its place in the table of its channel.
struct FourEntries {
  uint32_t entry[kTogether];

  HEADRACE_ON_DEVICE void Erase(const PictureBox& erased, const FourPlaces& places) {
    for (uint32_t i = 0; i < kTogether; ++i) {
      if (erased.Has(places.x[i], places.y[i])) entry[i] = kErased;
    }
  }

  template <typename V>
  HEADRACE_ON_DEVICE FourValues<V> Values(const V* table, const FourPlaces& places) const {
    FourValues<V> four;
    for (uint32_t i = 0; i < kTogether; ++i) four.value[i] = table[places.channel[i] * kTableValues + entry[i]];
    return four;
  }
};

HEADRACE_ON_DEVICE inline FourEntries EntriesOf(uint32_t word) {
  return {{word & 0xFF, (word >> 8) & 0xFF, (word >> 16) & 0xFF, word >> 24}};
}

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

// How an image is mixed, as ByteMapping has it; an image that is not is its own partner.
template <Mixing kMixing>
class Mix {
 public:
  HEADRACE_ON_DEVICE Mix(const ByteMapping& mapping, uint64_t picture) : partner_(picture) {
    if constexpr (kMixing != Mixing::kNone) {
      mixed_ = mapping.mixed[picture];
      mixes_ = mixed_.partner != kNotMixed;
      if (mixes_) partner_ = static_cast<uint64_t>(mixed_.partner);
    }
  }

  HEADRACE_ON_DEVICE uint64_t partner() const { return partner_; }
  HEADRACE_ON_DEVICE bool mixes() const { return mixes_; }

  template <typename V>
  HEADRACE_ON_DEVICE FourValues<V> Values(const V* table, const FourPlaces& places, const FourEntries& own,
                                          const FourEntries& partner) const {
    FourEntries entries = own;
    if constexpr (kMixing == Mixing::kPaste) {
      for (uint32_t i = 0; i < kTogether; ++i) {
        if (mixes_ && mixed_.box.Has(places.x[i], places.y[i])) entries.entry[i] = partner.entry[i];
      }
    }
    FourValues<V> four = entries.Values(table, places);
    if constexpr (kMixing == Mixing::kBlend) {
      const FourValues<V> other = partner.Values(table, places);
      for (uint32_t i = 0; i < kTogether; ++i) {
        const V blended = Blended(four.value[i], other.value[i], mixed_);
        if (mixes_) four.value[i] = blended;
      }
    }
    return four;
  }

 private:
  uint64_t partner_;
  MixedPicture mixed_ = {};
  bool mixes_ = false;
};

// Bytes of two words by their numbers, one in each hexadecimal digit of `order`, the last digit for the lowest byte.
HEADRACE_ON_DEVICE inline uint32_t Ordered(uint32_t low, uint32_t high, uint32_t order) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, order);
#else
  const uint64_t both = uint64_t{high} << 32 | low;
  uint32_t word = 0;
  for (uint32_t i = 0; i < kTogether; ++i) {
    word |= static_cast<uint32_t>(both >> ((order >> (4 * i)) % 8 * 8) & 0xFF) << (8 * i);
  }
  return word;
#endif
}

// The groups of four pixels in which an image lies.
class PixelGroups {
 public:
  HEADRACE_ON_DEVICE explicit PixelGroups(const ByteMapping& mapping)
      : by_rows_(mapping.by_rows()), height_(mapping.height), of_row_(by_rows_ ? mapping.width / kTogether : 1) {}

  // Four pixels of a row, by their number in the image as it results.
  struct Group {
    uint32_t number;
    uint32_t y;  // known if the mapping is by rows
    uint32_t at;

    HEADRACE_ON_DEVICE uint32_t x() const { return at * kTogether; }
  };
  HEADRACE_ON_DEVICE Group At(uint32_t number) const {
    if (!by_rows_) return {number, 0, 0};
    const uint32_t y = of_row_.Quotient(number);
    return {number, y, number - y * of_row_.value()};
  }

  // Where these pixels lie before the image is flipped.
  HEADRACE_ON_DEVICE uint32_t Before(const Group& group, uint32_t flips) const {
    if (!by_rows_) return group.number;
    return ((flips & kFlippedTopBottom) == 0 ? group.y : height_ - 1 - group.y) * of_row_.value() +
           ((flips & kFlippedLeftRight) == 0 ? group.at : of_row_.value() - 1 - group.at);
  }

 private:
  bool by_rows_;
  uint32_t height_;
  Divisor of_row_;
};

template <uint32_t kChannels>
class FourPixels;

// An image that is read by four pixels.
template <uint32_t kChannels>
class PictureOfWords {
 public:
  HEADRACE_ON_DEVICE PictureOfWords(const ByteMapping& mapping, uint64_t picture)
      : words_(reinterpret_cast<const uint32_t*>(mapping.bytes) + picture * (mapping.pixels() / kTogether * kChannels)),
        flips_(mapping.FlipsOf(picture)),
        erased_(mapping.ErasedOf(picture)) {}

  HEADRACE_ON_DEVICE FourPixels<kChannels> Read(const PixelGroups& groups, const PixelGroups::Group& group) const {
    return FourPixels<kChannels>(words_ + groups.Before(group, flips_) * kChannels, (flips_ & kFlippedLeftRight) != 0,
                                 erased_);
  }

 private:
  const uint32_t* words_;
  uint32_t flips_;
  PictureBox erased_;
};

// The bytes of four pixels: so many words.
template <uint32_t kChannels>
class FourPixels {
 public:
  HEADRACE_ON_DEVICE FourPixels(const uint32_t* words, bool turned, const PictureBox& erased)
      : turned_(turned), erased_(erased) {
    for (uint32_t i = 0; i < kChannels; ++i) words_[i] = words[i];
  }

  template <bool kPlanes>
  HEADRACE_ON_DEVICE FourEntries Four(const FourPlaces& places, uint32_t number) const {
    if constexpr (kPlanes) {
      return Plane(places, number);
    } else {
      return Word(places, number);
    }
  }

 private:
  // Of a channel of each pixel.
  HEADRACE_ON_DEVICE FourEntries Plane(const FourPlaces& places, uint32_t channel) const {
    static_assert(kChannels == 3);
    constexpr uint32_t kOfTwo[] = {0x0630, 0x0741, 0x0052};
    constexpr uint32_t kOfAll[] = {0x5210, 0x6210, 0x7410};
    constexpr uint32_t kOfAllTurned[] = {0x0125, 0x0126, 0x0147};
    const uint32_t of_two = Ordered(words_[0], words_[1], kOfTwo[channel]);
    return Entries(Ordered(of_two, words_[2], turned_ ? kOfAllTurned[channel] : kOfAll[channel]), places);
  }

  // Of one of the words in which the pixels result.
  HEADRACE_ON_DEVICE FourEntries Word(const FourPlaces& places, uint32_t number) const {
    if constexpr (kChannels == 1) {
      return Entries(turned_ ? Ordered(words_[0], 0, 0x0123) : words_[0], places);
    } else {
      const uint32_t middle = Ordered(Ordered(words_[1], words_[2], 0x0043), words_[0], 0x2710);
      const uint32_t first = turned_ ? Ordered(words_[1], words_[2], 0x2765) : words_[0];
      const uint32_t second = turned_ ? middle : words_[1];
      const uint32_t third = turned_ ? Ordered(words_[0], words_[1], 0x2105) : words_[2];
      return Entries(number == 0 ? first : number == 1 ? second : third, places);
    }
  }

  HEADRACE_ON_DEVICE FourEntries Entries(uint32_t word, const FourPlaces& places) const {
    FourEntries entries = EntriesOf(word);
    entries.Erase(erased_, places);
    return entries;
  }

  uint32_t words_[kChannels];
  bool turned_;
  PictureBox erased_;
};

// Each thread: four pixels, to four values of each plane.
template <typename V, Mixing kMixing>
HEADRACE_ON_DEVICE inline void MapPixels(const ByteMapping& mapping, const V* table, uint64_t picture,
                                         const Threads& threads) {
  constexpr uint32_t kChannels = 3;
  const uint32_t pixels = mapping.pixels();
  const PixelGroups groups(mapping);
  const Mix<kMixing> mix(mapping, picture);
  const PictureOfWords<kChannels> own_picture(mapping, picture);
  const PictureOfWords<kChannels> partner_picture(mapping, mix.partner());
  V* const first = static_cast<V*>(mapping.values) + picture * mapping.values_of_picture();
  for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
    const PixelGroups::Group group = groups.At(thread);
    const FourPixels<kChannels> own = own_picture.Read(groups, group);
    const FourPixels<kChannels> partner = partner_picture.Read(groups, group);
    V* const values = first + thread * kTogether;
    HEADRACE_UNROLL
    for (uint32_t channel = 0; channel < kChannels; ++channel) {
      FourPlaces places;
      for (uint32_t i = 0; i < kTogether; ++i) {
        places.channel[i] = channel;
        places.y[i] = group.y;
        places.x[i] = group.x() + i;
      }
      *reinterpret_cast<FourValues<V>*>(values + channel * pixels) = mix.Values(
          table, places, own.template Four<true>(places, channel), partner.template Four<true>(places, channel));
    }
  }
}

// Each thread: one of the words of four pixels, so that threads write side by side.
template <typename V, Mixing kMixing, uint32_t kChannels>
HEADRACE_ON_DEVICE inline void MapWordsOf(const ByteMapping& mapping, const V* table, uint64_t picture,
                                          const Threads& threads) {
  const PixelGroups groups(mapping);
  const Mix<kMixing> mix(mapping, picture);
  const PictureOfWords<kChannels> own_picture(mapping, picture);
  const PictureOfWords<kChannels> partner_picture(mapping, mix.partner());
  V* const first = static_cast<V*>(mapping.values) + picture * mapping.values_of_picture();
  for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
    const PixelGroups::Group group = groups.At(thread / kChannels);
    const uint32_t word = thread % kChannels;
    const FourPixels<kChannels> own = own_picture.Read(groups, group);
    const FourPixels<kChannels> partner = partner_picture.Read(groups, group);
    // Three words begin with the channels of their numbers, one pixel after the other.
    FourPlaces places;
    uint32_t channel = word;
    uint32_t x = group.x() + word;
    for (uint32_t i = 0; i < kTogether; ++i) {
      places.channel[i] = channel;
      places.y[i] = group.y;
      places.x[i] = x;
      const bool next = channel == kChannels - 1;
      channel = next ? 0 : channel + 1;
      x += next ? 1 : 0;
    }
    *reinterpret_cast<FourValues<V>*>(first + thread * kTogether) =
        mix.Values(table, places, own.template Four<false>(places, word), partner.template Four<false>(places, word));
  }
}

template <typename V, Mixing kMixing>
HEADRACE_ON_DEVICE inline void MapWordsMixed(const ByteMapping& mapping, const V* table, uint64_t picture,
                                             const Threads& threads) {
  if (mapping.channels == 1) return MapWordsOf<V, kMixing, 1>(mapping, table, picture, threads);
  MapWordsOf<V, kMixing, 3>(mapping, table, picture, threads);
}

// The inputs of a row or column of a resized image.
struct Taps {
  uint32_t first;
  uint32_t count;
  const int32_t* weights;
};

// An image of bytes that is resized: Pillow's weighted sums along rows and columns, in units of 2^-22, rounded to
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

struct ValuePlace {
  uint32_t channel;
  uint32_t y;
  uint32_t x;
};

// Where the values of runs lie in an image. By rows, or else all pixels of an image are one row.
template <bool kByRows>
class PlacesOfRuns {
 public:
  HEADRACE_ON_DEVICE explicit PlacesOfRuns(const ByteMapping& mapping)
      : together_(mapping.planes == 0), of_pixel_(mapping.channels), of_row_(mapping.width) {}

  HEADRACE_ON_DEVICE ValuePlace At(uint32_t run, uint32_t number) const {
    ValuePlace place = {run, 0, number};
    if (together_) {
      place.x = of_pixel_.Quotient(number);
      place.channel = number - place.x * of_pixel_.value();
    }
    if constexpr (kByRows) {
      place.y = of_row_.Quotient(place.x);
      place.x -= place.y * of_row_.value();
    }
    return place;
  }

  // In a plane; so many pixels after a place, less than a row.
  HEADRACE_ON_DEVICE ValuePlace After(const ValuePlace& place, uint32_t run, uint32_t pixels) const {
    ValuePlace after = {run, place.y, place.x + pixels};
    if constexpr (kByRows) {
      const bool next = after.x >= of_row_.value();
      after.x -= next ? of_row_.value() : 0;
      after.y += next ? 1 : 0;
    }
    return after;
  }

  HEADRACE_ON_DEVICE FourPlaces From(ValuePlace place) const {
    FourPlaces places;
    for (uint32_t i = 0; i < kTogether; ++i) {
      places.channel[i] = place.channel;
      places.y[i] = place.y;
      places.x[i] = place.x;
      const bool same = together_ && place.channel + 1 < of_pixel_.value();
      place.channel = !together_ ? place.channel : same ? place.channel + 1 : 0;
      place.x += same ? 0 : 1;
      if constexpr (kByRows) {
        const bool next = place.x == of_row_.value();
        place.x = next ? 0 : place.x;
        place.y += next ? 1 : 0;
      }
    }
    return places;
  }

 private:
  bool together_;
  Divisor of_pixel_;
  Divisor of_row_;
};

// How the bytes of an image are found: one after the other, by rows that may be flipped and erased, or resized too.
enum class Reading { kAsTheyLie, kByRows, kResized };

// An image of bytes, as it is flipped and erased.
template <Reading kReading>
class MappedPicture {
 public:
  HEADRACE_ON_DEVICE MappedPicture(const ByteMapping& mapping, uint64_t picture)
      : mapping_(mapping), picture_(picture), bytes_(mapping.bytes + picture * mapping.bytes_of_picture()) {
    if constexpr (kReading == Reading::kAsTheyLie) return;
    erased_ = mapping.ErasedOf(picture);
    const uint32_t flips = mapping.FlipsOf(picture);
    if ((flips & kFlippedTopBottom) != 0) {
      first_y_ = mapping.height - 1;
      step_y_ = -1U;
    }
    if ((flips & kFlippedLeftRight) != 0) {
      first_x_ = mapping.width - 1;
      step_x_ = -1U;
    }
  }

  // Of places after the image: some.
  HEADRACE_ON_DEVICE FourEntries Entries(const FourPlaces& places) const {
    FourEntries entries;
    if constexpr (kReading == Reading::kResized) {
      for (uint32_t i = 0; i < kTogether; ++i) entries.entry[i] = ResizedByte(places, i);
    } else {
      const uint32_t last = mapping_.values_of_picture() - 1;
      const uint32_t first = (first_y_ * mapping_.width + first_x_) * mapping_.channels;
      const uint32_t row = step_y_ * mapping_.width * mapping_.channels;
      const uint32_t pixel = step_x_ * mapping_.channels;
      for (uint32_t i = 0; i < kTogether; ++i) {
        const uint32_t at = first + places.y[i] * row + places.x[i] * pixel + places.channel[i];
        entries.entry[i] = bytes_[at < last ? at : last];
      }
    }
    if constexpr (kReading != Reading::kAsTheyLie) entries.Erase(erased_, places);
    return entries;
  }

 private:
  HEADRACE_ON_DEVICE uint32_t ResizedByte(const FourPlaces& places, uint32_t i) const {
    const uint32_t y = first_y_ + places.y[i] * step_y_;
    const uint32_t x = first_x_ + places.x[i] * step_x_;
    const uint32_t bottom = mapping_.height - 1;
    const uint32_t right = mapping_.width - 1;
    return ResizedPicture(mapping_, picture_).At(y < bottom ? y : bottom, x < right ? x : right, places.channel[i]);
  }

  const ByteMapping& mapping_;
  uint64_t picture_;
  const uint8_t* bytes_;
  PictureBox erased_ = {0, 0, 0, 0};
  // Before the image is flipped, modulo 2^32.
  uint32_t first_y_ = 0;
  uint32_t first_x_ = 0;
  uint32_t step_y_ = 1;
  uint32_t step_x_ = 1;
};

// Values of a run that are written at once: four, or fewer at its ends.
template <typename V>
struct FourOfRun {
  uint32_t begin;  // in the run
  uint32_t count;
  V* values;
  FourValues<V> four;

  HEADRACE_ON_DEVICE void Find(const ByteMapping& mapping, uint64_t picture, uint32_t run, uint32_t group) {
    const uint64_t first_of_run = picture * mapping.values_of_picture() + run * mapping.values_of_run();
    // Of an aligned place and its four, what lies before the run.
    const auto lead = static_cast<uint32_t>(first_of_run % kTogether);
    begin = group == 0 ? 0 : group * kTogether - lead;
    const uint32_t end = (group + 1) * kTogether - lead;
    const uint32_t length = mapping.values_of_run();
    count = begin >= length ? 0 : (end < length ? end : length) - begin;
    values = static_cast<V*>(mapping.values) + first_of_run + begin;
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

// An image and its partner, by runs.
template <typename V, Mixing kMixing, Reading kReading>
class PictureOfRuns {
 public:
  HEADRACE_ON_DEVICE PictureOfRuns(const ByteMapping& mapping, const V* table, uint64_t picture)
      : mapping_(mapping),
        table_(table),
        picture_(picture),
        places_(mapping),
        mix_(mapping, picture),
        own_(mapping, picture),
        partner_(mapping, mix_.partner()) {}

  // Four values of each of kRuns runs from `first` on: all are read before the first is written, so that a device has
  // several reads under way.
  template <uint32_t kRuns>
  HEADRACE_ON_DEVICE void Map(uint32_t group, uint32_t first) const {
    FourOfRun<V> fours[kRuns];
    // Before or at where the four of each run begins.
    const uint32_t start = group == 0 ? 0 : group * kTogether - (kTogether - 1);
    const ValuePlace place = places_.At(first, start);
    HEADRACE_UNROLL
    for (uint32_t i = 0; i < kRuns; ++i) {
      FourOfRun<V>& four = fours[i];
      four.Find(mapping_, picture_, first + i, group);
      four.four =
          Read(kRuns == 1 ? places_.At(first, four.begin) : places_.After(place, first + i, four.begin - start));
    }
    HEADRACE_UNROLL
    for (uint32_t i = 0; i < kRuns; ++i) fours[i].Write();
  }

 private:
  // Reads four in any case, as branches would hold up the next ones.
  HEADRACE_ON_DEVICE FourValues<V> Read(const ValuePlace& place) const {
    const FourPlaces places = places_.From(place);
    const FourEntries own = own_.Entries(places);
    FourEntries partner = own;
    // An image is resized again only for another one.
    if (kMixing != Mixing::kNone && (kReading != Reading::kResized || mix_.mixes())) partner = partner_.Entries(places);
    return mix_.Values(table_, places, own, partner);
  }

  const ByteMapping& mapping_;
  const V* table_;
  uint64_t picture_;
  PlacesOfRuns<kReading != Reading::kAsTheyLie> places_;
  Mix<kMixing> mix_;
  MappedPicture<kReading> own_;
  MappedPicture<kReading> partner_;
};

template <typename V, Mixing kMixing, Reading kReading>
HEADRACE_ON_DEVICE inline void MapFoursOfRuns(const ByteMapping& mapping, const V* table, uint64_t picture,
                                              const Threads& threads) {
  const PictureOfRuns<V, kMixing, kReading> runs(mapping, table, picture);
  const bool three = kReading != Reading::kResized && mapping.runs() == 3 && mapping.width >= kTogether;
  for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
    if (three) {
      runs.template Map<3>(thread, 0);
    } else {
      for (uint32_t run = 0; run < mapping.runs(); ++run) runs.template Map<1>(thread, run);
    }
  }
}

// The work of threads in each way. Which mixing is decided once, so that there are no branches between the reads.
template <typename V>
HEADRACE_ON_DEVICE inline void MapFourPixels(const ByteMapping& mapping, const V* table, uint64_t picture,
                                             const Threads& threads) {
  MapPixels<V, Mixing::kNone>(mapping, table, picture, threads);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapMixedFourPixels(const ByteMapping& mapping, const V* table, uint64_t picture,
                                                  const Threads& threads) {
  if constexpr (sizeof(V) == sizeof(float)) {
    if (mapping.mixing == Mixing::kBlend) return MapPixels<V, Mixing::kBlend>(mapping, table, picture, threads);
  }
  MapPixels<V, Mixing::kPaste>(mapping, table, picture, threads);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapWords(const ByteMapping& mapping, const V* table, uint64_t picture,
                                        const Threads& threads) {
  MapWordsMixed<V, Mixing::kNone>(mapping, table, picture, threads);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapMixedWords(const ByteMapping& mapping, const V* table, uint64_t picture,
                                             const Threads& threads) {
  if constexpr (sizeof(V) == sizeof(float)) {
    if (mapping.mixing == Mixing::kBlend) return MapWordsMixed<V, Mixing::kBlend>(mapping, table, picture, threads);
  }
  MapWordsMixed<V, Mixing::kPaste>(mapping, table, picture, threads);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapFours(const ByteMapping& mapping, const V* table, uint64_t picture,
                                        const Threads& threads) {
  if (!mapping.by_rows())
    return MapFoursOfRuns<V, Mixing::kNone, Reading::kAsTheyLie>(mapping, table, picture, threads);
  MapFoursOfRuns<V, Mixing::kNone, Reading::kByRows>(mapping, table, picture, threads);
}

template <typename V, Reading kReading>
HEADRACE_ON_DEVICE inline void MapMixedFoursOf(const ByteMapping& mapping, const V* table, uint64_t picture,
                                               const Threads& threads) {
  if constexpr (sizeof(V) == sizeof(float)) {
    if (mapping.mixing == Mixing::kBlend)
      return MapFoursOfRuns<V, Mixing::kBlend, kReading>(mapping, table, picture, threads);
  }
  MapFoursOfRuns<V, Mixing::kPaste, kReading>(mapping, table, picture, threads);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapMixedFours(const ByteMapping& mapping, const V* table, uint64_t picture,
                                             const Threads& threads) {
  MapMixedFoursOf<V, Reading::kByRows>(mapping, table, picture, threads);
}

template <typename V>
HEADRACE_ON_DEVICE inline void MapResizedFours(const ByteMapping& mapping, const V* table, uint64_t picture,
                                               const Threads& threads) {
  if (mapping.mixing == Mixing::kNone)
    return MapFoursOfRuns<V, Mixing::kNone, Reading::kResized>(mapping, table, picture, threads);
  MapMixedFoursOf<V, Reading::kResized>(mapping, table, picture, threads);
}

// The work of all threads, on this one. Map: that of one, MapInPlace and so on.
template <typename V, void (*kMap)(const ByteMapping& mapping, const V* table, uint64_t piece, const Threads& threads)>
void MapAll(const ByteMapping& mapping) {
  for (uint64_t piece = 0; piece < mapping.pieces(); ++piece) {
    kMap(mapping, static_cast<const V*>(mapping.table), piece, {0, mapping.threads_of_piece(), 1});
  }
}

template <typename V>
void MapAllBytes(const ByteMapping& mapping) {
  switch (mapping.way()) {
    case MappingWay::kInPlace:
      return MapAll<V, MapInPlace<V>>(mapping);
    case MappingWay::kFourPixels:
      return MapAll<V, MapFourPixels<V>>(mapping);
    case MappingWay::kMixedFourPixels:
      return MapAll<V, MapMixedFourPixels<V>>(mapping);
    case MappingWay::kWords:
      return MapAll<V, MapWords<V>>(mapping);
    case MappingWay::kMixedWords:
      return MapAll<V, MapMixedWords<V>>(mapping);
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
