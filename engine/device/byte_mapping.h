// `ByteMapping` is what a device does with images after their copy: each byte becomes the value that a table has for it
// and its channel; images may be resized, flipped, erased in part and mixed with others of the batch, and channels may
// become planes. There is one definition for the host and for CUDA, of moves, integers, and products and sums of floats
// that are rounded one by one, so that both give the same bytes. Use byte_passes.h to do the work.
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
struct alignas(16) ImageBox {
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
struct MixedImage {
  int32_t partner;  // its number in the batch, or kNotMixed
  float of_own;
  float of_partner;
  int32_t unused;
  ImageBox box;
};
static_assert(sizeof(MixedImage) == 32);

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
  const int32_t* taps;      // of what bytes each row and column is made: [images, numbers_of_taps()], see ResizeTaps
  const uint8_t* marks;     // of its corners, as it was resized: [images, 4]
  const ImageBox* erased;   // after it was flipped
  const MixedImage* mixed;  // after that
  uint64_t images;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t planes;       // 0 or 1
  Mixing mixing;         // kBlend: values are float32
  uint32_t byte_height;  // differ from height and width where there are taps
  uint32_t byte_width;
  uint32_t weights;  // of a position, in taps

  HEADRACE_ON_DEVICE uint32_t pixels() const { return height * width; }  // of an image
  HEADRACE_ON_DEVICE uint64_t all_values() const { return images * values_of_image(); }
  HEADRACE_ON_DEVICE uint32_t values_of_image() const { return pixels() * channels; }
  HEADRACE_ON_DEVICE uint32_t bytes_of_image() const { return byte_height * byte_width * channels; }
  HEADRACE_ON_DEVICE uint32_t numbers_of_taps() const { return 1 + (height + width) * (2 + weights); }
  // An image is so many runs of values that lie together.
  HEADRACE_ON_DEVICE uint32_t runs() const { return planes == 0 ? 1 : channels; }
  HEADRACE_ON_DEVICE uint32_t values_of_run() const { return planes == 0 ? values_of_image() : pixels(); }
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
    if (way() != MappingWay::kInPlace) return images;
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
        return values_of_image() / kTogether;
      case MappingWay::kFours:
      case MappingWay::kMixedFours:
      case MappingWay::kResizedFours:
        break;
    }
    return fours_of_run();
  }
  HEADRACE_ON_DEVICE uint32_t FlipsOf(uint64_t image) const { return marks == nullptr ? 0 : marks[image * kCorners]; }
  HEADRACE_ON_DEVICE ImageBox ErasedOf(uint64_t image) const {
    return erased == nullptr ? ImageBox{0, 0, 0, 0} : erased[image];
  }
};
static_assert(sizeof(ByteMapping) == 96);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_BYTE_MAPPING_H_
