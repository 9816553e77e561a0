// `PixelGroups` and `PlacesOfRuns` say which pixels and channels the values of a thread are, in an image as it results.
// Use them in the passes of ByteMapping.
// Threads: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_PLACES_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_PLACES_H_

#include <stdint.h>

#include "engine/device/byte_mapping.h"

namespace headrace {

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

// The places of four values that are written at once, in the image as it results; after its end, some.
struct FourPlaces {
  uint32_t channel[kTogether];
  uint32_t y[kTogether];
  uint32_t x[kTogether];
};

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

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_PLACES_H_
