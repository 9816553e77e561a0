// `Mix` makes the values of an image from its bytes and those of its partner, by their tables: it blends the values of
// both, or pastes a box. Use it in the passes of ByteMapping.
// Threads: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_MIXING_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_MIXING_H_

#include <stdint.h>
#include <string.h>

#include "engine/device/byte_mapping.h"
#include "engine/device/byte_places.h"

namespace headrace {

// Written at once. V: an unsigned integer of the value's size.
template <typename V>
struct alignas(kTogether * sizeof(V)) FourValues {
  V value[kTogether];
};

// For each of four values, its place in the table of its channel.
struct FourEntries {
  uint32_t entry[kTogether];

  HEADRACE_ON_DEVICE void Erase(const ImageBox& erased, const FourPlaces& places) {
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

HEADRACE_ON_DEVICE inline uint32_t Blended(uint32_t own, uint32_t partner, const MixedImage& mixed) {
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
  HEADRACE_ON_DEVICE Mix(const ByteMapping& mapping, uint64_t image) : partner_(image) {
    if constexpr (kMixing != Mixing::kNone) {
      mixed_ = mapping.mixed[image];
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
  MixedImage mixed_ = {};
  bool mixes_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_MIXING_H_
