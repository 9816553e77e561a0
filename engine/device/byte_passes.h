// `MapAllBytes` does the work of a ByteMapping on the host. Use it there; CUDA's kernels run each of its ways.
// Threads: values; calls with different threads write different memory.
#ifndef HEADRACE_ENGINE_DEVICE_BYTE_PASSES_H_
#define HEADRACE_ENGINE_DEVICE_BYTE_PASSES_H_

#include <stdint.h>

#include "engine/device/byte_mapping.h"
#include "engine/device/byte_mixing.h"
#include "engine/device/byte_places.h"
#include "engine/device/byte_run_passes.h"
#include "engine/device/byte_word_passes.h"

namespace headrace {

// The ways: the work of threads of a piece in each.
template <typename V>
struct MapInPlace {
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t piece,
                                     const Threads& threads) {
    for (uint32_t thread = threads.first; thread < threads.end; thread += threads.step) {
      MapOne(mapping, table, piece, thread);
    }
  }

 private:
  HEADRACE_ON_DEVICE static void MapOne(const ByteMapping& mapping, const V* table, uint64_t piece, uint32_t thread) {
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
};

template <typename V, typename Pass>
struct MapUnmixed {
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    Pass::template Map<V, Mixing::kNone>(mapping, table, image, threads);
  }
};

// Which mixing is decided once, so that there are no branches between the reads.
template <typename V, typename Pass>
struct MapMixed {
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    if constexpr (sizeof(V) == sizeof(float)) {
      if (mapping.mixing == Mixing::kBlend) {
        return Pass::template Map<V, Mixing::kBlend>(mapping, table, image, threads);
      }
    }
    Pass::template Map<V, Mixing::kPaste>(mapping, table, image, threads);
  }
};

template <typename V>
using MapFourPixels = MapUnmixed<V, PixelPass>;
template <typename V>
using MapMixedFourPixels = MapMixed<V, PixelPass>;
template <typename V>
using MapWords = MapUnmixed<V, WordPass>;
template <typename V>
using MapMixedWords = MapMixed<V, WordPass>;
template <typename V>
using MapMixedFours = MapMixed<V, RunPass<Reading::kByRows>>;

template <typename V>
struct MapFours {
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    if (!mapping.by_rows()) {
      return MapUnmixed<V, RunPass<Reading::kAsTheyLie>>::Map(mapping, table, image, threads);
    }
    MapUnmixed<V, RunPass<Reading::kByRows>>::Map(mapping, table, image, threads);
  }
};

template <typename V>
struct MapResizedFours {
  HEADRACE_ON_DEVICE static void Map(const ByteMapping& mapping, const V* table, uint64_t image,
                                     const Threads& threads) {
    using Resized = RunPass<Reading::kResized>;
    if (mapping.mixing == Mixing::kNone) return MapUnmixed<V, Resized>::Map(mapping, table, image, threads);
    MapMixed<V, Resized>::Map(mapping, table, image, threads);
  }
};

// The work of all threads in one of the ways, on this one.
template <typename V, typename Way>
void MapAll(const ByteMapping& mapping) {
  for (uint64_t piece = 0; piece < mapping.pieces(); ++piece) {
    Way::Map(mapping, static_cast<const V*>(mapping.table), piece, {0, mapping.threads_of_piece(), 1});
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

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_PASSES_H_
