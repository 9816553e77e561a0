// `PixelPass` and `WordPass` map images whose bytes can be read by words, four pixels at a time. Use them in the ways
// of byte_passes.h.
// Threads: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_WORD_PASSES_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_WORD_PASSES_H_

#include <stdint.h>

#include "engine/device/byte_mapping.h"
#include "engine/device/byte_mixing.h"
#include "engine/device/byte_places.h"

namespace headrace {

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

template <uint32_t kChannels>
class FourPixels;

// An image that is read by four pixels.
template <uint32_t kChannels>
class ImageOfWords {
 public:
  HEADRACE_ON_DEVICE ImageOfWords(const ByteMapping& mapping, uint64_t image)
      : words_(reinterpret_cast<const uint32_t*>(mapping.bytes) + image * (mapping.pixels() / kTogether * kChannels)),
        flips_(mapping.FlipsOf(image)),
        erased_(mapping.ErasedOf(image)) {}

  HEADRACE_ON_DEVICE FourPixels<kChannels> Read(const PixelGroups& groups, const PixelGroups::Group& group) const {
    return FourPixels<kChannels>(words_ + groups.Before(group, flips_) * kChannels, (flips_ & kFlippedLeftRight) != 0,
                                 erased_);
  }

 private:
  const uint32_t* words_;
  uint32_t flips_;
  ImageBox erased_;
};

// The bytes of four pixels: so many words.
template <uint32_t kChannels>
class FourPixels {
 public:
  HEADRACE_ON_DEVICE FourPixels(const uint32_t* words, bool turned, const ImageBox& erased)
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
  ImageBox erased_;
};

// Each thread: four pixels, to four values of each plane.
struct PixelPass {
  template <typename V, Mixing kMixing>
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    constexpr uint32_t kChannels = 3;
    const uint32_t pixels = mapping.pixels();
    const PixelGroups groups(mapping);
    const Mix<kMixing> mix(mapping, image);
    const ImageOfWords<kChannels> own_image(mapping, image);
    const ImageOfWords<kChannels> partner_image(mapping, mix.partner());
    V* const first = static_cast<V*>(mapping.values) + image * mapping.values_of_image();
    for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
      const PixelGroups::Group group = groups.At(thread);
      const FourPixels<kChannels> own = own_image.Read(groups, group);
      const FourPixels<kChannels> partner = partner_image.Read(groups, group);
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
};

// Each thread: one of the words of four pixels, so that threads write side by side.
struct WordPass {
  template <typename V, Mixing kMixing>
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    if (mapping.channels == 1) return MapOf<V, kMixing, 1>(mapping, table, image, threads);
    MapOf<V, kMixing, 3>(mapping, table, image, threads);
  }

 private:
  template <typename V, Mixing kMixing, uint32_t kChannels>
  HEADRACE_ON_DEVICE static void MapOf(const ByteMapping& mapping, const V* table, uint64_t image,
                                       const Threads& threads) {
    const PixelGroups groups(mapping);
    const Mix<kMixing> mix(mapping, image);
    const ImageOfWords<kChannels> own_image(mapping, image);
    const ImageOfWords<kChannels> partner_image(mapping, mix.partner());
    V* const first = static_cast<V*>(mapping.values) + image * mapping.values_of_image();
    for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
      const PixelGroups::Group group = groups.At(thread / kChannels);
      const uint32_t word = thread % kChannels;
      const FourPixels<kChannels> own = own_image.Read(groups, group);
      const FourPixels<kChannels> partner = partner_image.Read(groups, group);
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
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_WORD_PASSES_H_
