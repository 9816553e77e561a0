// What each byte becomes and where it comes to lie, in each way of dividing the work, against a definition value by
// value.
#include "engine/device/byte_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "core/testing/rounds.h"
#include "engine/device/byte_passes.h"
#include "engine/device/byte_places.h"
#include "engine/testing/cooperative_threads.h"

namespace headrace {
namespace {

const uint64_t kShapes = Rounds(5000, {.quick = 500, .sanitized = 500});

constexpr size_t kAlignment = 256;
constexpr uint8_t kGuard = 0x5B;

// Memory aligned as a device's, with bytes after it that must stay.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : memory_(bytes + 2 * kAlignment, kGuard), bytes_(bytes) {}
  uint8_t* data() {
    const auto begin = reinterpret_cast<uintptr_t>(memory_.data());
    return memory_.data() + (kAlignment - begin % kAlignment) % kAlignment;
  }
  bool Whole() {
    for (uint8_t* at = data() + bytes_; at < memory_.data() + memory_.size(); ++at) {
      if (*at != kGuard) return false;
    }
    return true;
  }

 private:
  std::vector<uint8_t> memory_;
  size_t bytes_;
};

// Memory that ends where no byte can be read, so that a read after it ends the test.
class Walled {
 public:
  Walled(size_t bytes, size_t alignment) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + alignment + page - 1) / page * page + page;
    void* const all = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    begin_ = static_cast<uint8_t*>(all);
    uint8_t* const wall = begin_ + mapped_ - page;
    if (mprotect(wall, page, PROT_NONE) != 0) std::abort();
    data_ = wall - (bytes + alignment - 1) / alignment * alignment;
  }
  ~Walled() { munmap(begin_, mapped_); }
  Walled(const Walled&) = delete;
  uint8_t* data() { return data_; }

 private:
  uint8_t* begin_;
  uint8_t* data_;
  size_t mapped_;
};

template <typename T>
class WalledOf {
 public:
  explicit WalledOf(const std::vector<T>& values) : memory_(values.size() * sizeof(T), alignof(T)) {
    std::copy(values.begin(), values.end(), data());
  }
  T* data() { return reinterpret_cast<T*>(memory_.data()); }

 private:
  Walled memory_;
};

void FillRandomly(ScheduleRandom& random, uint8_t* memory, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) memory[i] = static_cast<uint8_t>(random.Below(256));
}

bool IsIn(const ImageBox& box, int64_t y, int64_t x) {
  return x >= box.left && x < box.left + box.width && y >= box.top && y < box.top + box.height;
}

// Of the image as it is resized.
uint8_t ByteAt(const ByteMapping& mapping, uint64_t image, uint32_t channel, uint32_t y, uint32_t x) {
  const auto byte_at = [&](int64_t row, int64_t column) -> int64_t {
    const auto pixel = (image * mapping.byte_height + static_cast<uint64_t>(row)) * mapping.byte_width;
    return mapping.bytes[(pixel + static_cast<uint64_t>(column)) * mapping.channels + channel];
  };
  if (mapping.taps == nullptr) return static_cast<uint8_t>(byte_at(y, x));
  const int32_t* const taps = mapping.taps + image * mapping.numbers_of_taps();
  const auto sum = [&](uint32_t position, const auto& value) {
    const int32_t* const at = taps + 1 + position * (2 + mapping.weights);
    int64_t all = 1 << 21;
    for (int32_t i = 0; i < at[1]; ++i) all += value(at[0] + i) * at[2 + i];
    return std::clamp<int64_t>(all >> 22, 0, 255);
  };
  const auto of_rows = [&](const auto& value) { return sum(y, value); };
  const auto of_columns = [&](const auto& value) { return sum(mapping.height + x, value); };
  if (taps[0] == 0) {
    return static_cast<uint8_t>(
        of_rows([&](int64_t row) { return of_columns([&](int64_t column) { return byte_at(row, column); }); }));
  }
  return static_cast<uint8_t>(
      of_columns([&](int64_t column) { return of_rows([&](int64_t row) { return byte_at(row, column); }); }));
}

template <typename V>
V AloneAt(const ByteMapping& mapping, uint64_t image, uint32_t channel, uint32_t y, uint32_t x) {
  const auto* const table = static_cast<const V*>(mapping.table) + channel * kTableValues;
  if (mapping.erased != nullptr && IsIn(mapping.erased[image], y, x)) return table[kErased];
  const uint32_t flips = mapping.marks == nullptr ? 0 : mapping.marks[image * kCorners];
  if ((flips & kFlippedLeftRight) != 0) x = mapping.width - 1 - x;
  if ((flips & kFlippedTopBottom) != 0) y = mapping.height - 1 - y;
  return table[ByteAt(mapping, image, channel, y, x)];
}

template <typename V>
V ValueAt(const ByteMapping& mapping, uint64_t image, uint32_t channel, uint32_t y, uint32_t x) {
  const V own = AloneAt<V>(mapping, image, channel, y, x);
  if (mapping.mixing == Mixing::kNone || mapping.mixed[image].partner == kNotMixed) return own;
  const MixedImage& mixed = mapping.mixed[image];
  const V partner = AloneAt<V>(mapping, static_cast<uint64_t>(mixed.partner), channel, y, x);
  if (mapping.mixing == Mixing::kPaste) return IsIn(mixed.box, y, x) ? partner : own;
  const float blended = std::bit_cast<float>(static_cast<uint32_t>(partner)) * mixed.of_partner +
                        std::bit_cast<float>(static_cast<uint32_t>(own)) * mixed.of_own;
  return static_cast<V>(std::bit_cast<uint32_t>(blended));
}

template <typename V>
void Check(const ByteMapping& mapping) {
  const auto* value = static_cast<const V*>(mapping.values);
  const uint32_t outer = mapping.planes == 0 ? 1 : mapping.channels;
  const uint32_t inner = mapping.planes == 0 ? mapping.channels : 1;
  for (uint64_t image = 0; image < mapping.images; ++image) {
    for (uint32_t plane = 0; plane < outer; ++plane) {
      for (uint32_t y = 0; y < mapping.height; ++y) {
        for (uint32_t x = 0; x < mapping.width; ++x) {
          for (uint32_t channel = 0; channel < inner; ++channel) {
            ASSERT_EQ(*value++, ValueAt<V>(mapping, image, plane + channel, y, x))
                << mapping.images << " images of " << mapping.height << " x " << mapping.width << " x "
                << mapping.channels << ", planes " << mapping.planes;
          }
        }
      }
    }
  }
}

ImageBox RandomBox(ScheduleRandom& random, const ByteMapping& mapping) {
  const auto below = [&random](uint32_t bound) { return static_cast<int32_t>(random.Below(bound)); };
  ImageBox box = {below(mapping.width), below(mapping.height), 0, 0};
  box.width = below(mapping.width - static_cast<uint32_t>(box.left) + 1);
  box.height = below(mapping.height - static_cast<uint32_t>(box.top) + 1);
  return box;
}

// Tables of floats are finite, as the host's are.
template <typename V>
void FillTable(ScheduleRandom& random, uint8_t* table, uint32_t channels) {
  for (uint32_t i = 0; i < channels * kTableValues; ++i) {
    const float value = static_cast<float>(random.Below(1 << 20)) * 0.37f - 7000;
    const auto entry = static_cast<V>(std::bit_cast<uint32_t>(value));
    std::memcpy(table + i * sizeof(V), &entry, sizeof(V));
  }
}

// Weighted sums of bytes anywhere in each image, whose weights may be below 0.
std::vector<int32_t> RandomTaps(ScheduleRandom& random, const ByteMapping& mapping) {
  std::vector<int32_t> taps(mapping.images * mapping.numbers_of_taps());
  int32_t* at = taps.data();
  for (uint64_t image = 0; image < mapping.images; ++image) {
    *at++ = static_cast<int32_t>(random.Below(2));
    for (uint32_t position = 0; position < mapping.height + mapping.width; ++position, at += 2 + mapping.weights) {
      const uint32_t size = position < mapping.height ? mapping.byte_height : mapping.byte_width;
      const uint64_t count = 1 + random.Below(std::min(size, mapping.weights));
      at[0] = static_cast<int32_t>(random.Below(size - count + 1));
      at[1] = static_cast<int32_t>(count);
      for (uint64_t i = 0; i < count; ++i) at[2 + i] = static_cast<int32_t>(random.Below(3 << 20)) - (1 << 20);
    }
  }
  return taps;
}

template <typename V>
MappingWay CheckOne(ScheduleRandom& random) {
  ByteMapping mapping{};
  mapping.images = 1 + random.Below(4);
  mapping.height = static_cast<uint32_t>(1 + random.Below(12));
  mapping.width = static_cast<uint32_t>(1 + random.Below(17));
  mapping.byte_height = mapping.height;
  mapping.byte_width = mapping.width;
  mapping.channels = random.OneIn(2) ? 3 : static_cast<uint32_t>(1 + random.Below(kMostMappedChannels));
  mapping.planes = random.OneIn(2) ? 1 : 0;
  const bool resizes = random.OneIn(3);
  if (resizes) {
    mapping.byte_height = static_cast<uint32_t>(1 + random.Below(9));
    mapping.byte_width = static_cast<uint32_t>(1 + random.Below(9));
    mapping.weights = static_cast<uint32_t>(1 + random.Below(4));
  }
  WalledOf<int32_t> taps(resizes ? RandomTaps(random, mapping) : std::vector<int32_t>());
  if (resizes) mapping.taps = taps.data();
  Walled table(mapping.channels * kTableValues * sizeof(V), sizeof(V));
  Guarded values(mapping.all_values() * sizeof(V));
  Walled marks(mapping.images * kCorners, 1);
  FillTable<V>(random, table.data(), mapping.channels);
  std::vector<ImageBox> erased_boxes;
  std::vector<MixedImage> mixed_images;
  for (uint64_t i = 0; i < mapping.images; ++i) {
    marks.data()[i * kCorners] = static_cast<uint8_t>(random.Below(4));
    erased_boxes.push_back(RandomBox(random, mapping));
    const auto partner = static_cast<int32_t>(random.Below(mapping.images + 1)) - 1;
    mixed_images.push_back({partner, 0.37f, 0.63f, 0, RandomBox(random, mapping)});
  }
  WalledOf<ImageBox> erased(erased_boxes);
  WalledOf<MixedImage> mixed(mixed_images);
  mapping.table = table.data();
  mapping.values = values.data();
  if (random.OneIn(2)) mapping.marks = marks.data();
  if (random.OneIn(2)) mapping.erased = erased.data();
  if (random.OneIn(2)) {
    mapping.mixed = mixed.data();
    mapping.mixing = sizeof(V) == sizeof(float) && random.OneIn(2) ? Mixing::kBlend : Mixing::kPaste;
  }
  // Words are aligned; all other bytes end at the wall.
  const uint64_t all_bytes = mapping.images * mapping.bytes_of_image();
  Walled bytes(all_bytes, mapping.way() == MappingWay::kInPlace ? sizeof(uint32_t) : 1);
  FillRandomly(random, bytes.data(), all_bytes);
  mapping.bytes = bytes.data();
  MapAllBytes<V>(mapping);
  Check<V>(mapping);
  EXPECT_TRUE(values.Whole());
  return mapping.way();
}

TEST(ByteMapping, GivesEachValueOnEveryWay) {
  ScheduleRandom random(1);
  std::set<MappingWay> ways;
  for (uint64_t i = 0; i < kShapes; ++i) {
    ways.insert(CheckOne<uint16_t>(random));
    ways.insert(CheckOne<uint32_t>(random));
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_EQ(ways.size(), static_cast<size_t>(kMappingWays));
  std::printf("HEADRACE-COUNT variants=%d\n", static_cast<int>(2 * kShapes));
}

TEST(ByteMapping, DividesByMultiplication) {
  ScheduleRandom random(2);
  for (int i = 0; i < 100000; ++i) {
    const auto divisor = static_cast<uint32_t>(1 + random.Below(uint64_t{1} << random.Below(32)));
    const auto multiple = static_cast<uint32_t>(random.Below(uint64_t{1} << 32) / divisor * divisor);
    for (const uint32_t number : {multiple, multiple - 1, multiple + divisor - 1, uint32_t{0}, UINT32_MAX}) {
      ASSERT_EQ(Divisor(divisor).Quotient(number), number / divisor) << number << " by " << divisor;
    }
  }
}

}  // namespace
}  // namespace headrace
