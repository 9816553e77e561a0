// `RunPass` maps images of any size and any number of channels: it reads bytes one by one, as they lie, flipped or
// resized. Use it in the ways of byte_passes.h.
// Threads: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_RUN_PASSES_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_RUN_PASSES_H_

#include <stdint.h>

#include "engine/device/byte_mapping.h"
#include "engine/device/byte_mixing.h"
#include "engine/device/byte_places.h"
#include "engine/device/byte_resizing.h"

namespace headrace {

// How the bytes of an image are found: one after the other, by rows that may be flipped and erased, or resized too.
enum class Reading { kAsTheyLie, kByRows, kResized };

// An image of bytes, as it is flipped and erased.
template <Reading kReading>
class MappedImage {
 public:
  HEADRACE_ON_DEVICE MappedImage(const ByteMapping& mapping, uint64_t image)
      : mapping_(mapping), image_(image), bytes_(mapping.bytes + image * mapping.bytes_of_image()) {
    if constexpr (kReading == Reading::kAsTheyLie) return;
    erased_ = mapping.ErasedOf(image);
    const uint32_t flips = mapping.FlipsOf(image);
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
      const uint32_t last = mapping_.values_of_image() - 1;
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
    return ResizedImage(mapping_, image_).At(y < bottom ? y : bottom, x < right ? x : right, places.channel[i]);
  }

  const ByteMapping& mapping_;
  uint64_t image_;
  const uint8_t* bytes_;
  ImageBox erased_ = {0, 0, 0, 0};
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

  HEADRACE_ON_DEVICE void Find(const ByteMapping& mapping, uint64_t image, uint32_t run, uint32_t group) {
    const uint64_t first_of_run = image * mapping.values_of_image() + run * mapping.values_of_run();
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
class ImageOfRuns {
 public:
  HEADRACE_ON_DEVICE ImageOfRuns(const ByteMapping& mapping, const V* table, uint64_t image)
      : mapping_(mapping),
        table_(table),
        image_(image),
        places_(mapping),
        mix_(mapping, image),
        own_(mapping, image),
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
      four.Find(mapping_, image_, first + i, group);
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
  uint64_t image_;
  PlacesOfRuns<kReading != Reading::kAsTheyLie> places_;
  Mix<kMixing> mix_;
  MappedImage<kReading> own_;
  MappedImage<kReading> partner_;
};

// Each thread: four values of each run.
template <Reading kReading>
struct RunPass {
  template <typename V, Mixing kMixing>
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    const ImageOfRuns<V, kMixing, kReading> runs(mapping, table, image);
    const bool three = kReading != Reading::kResized && mapping.runs() == 3 && mapping.width >= kTogether;
    for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
      if (three) {
        runs.template Map<3>(thread, 0);
      } else {
        for (uint32_t run = 0; run < mapping.runs(); ++run) runs.template Map<1>(thread, run);
      }
    }
  }
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_RUN_PASSES_H_
