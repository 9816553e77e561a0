// `ScanBytes` holds the next bytes of a scan's entropy-coded data, without those that only tell data from markers. They
// are copied a few thousand at a time, so that what lies after the last wanted block is not read.
// Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SCAN_BYTES_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SCAN_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/vision/codecs/jpeg/own/bit_window.h"

namespace headrace::jpeg {

class ScanBytes {
 public:
  // More than one block can have: 64 codes of 16 bits, each with a number of 15, and what a window holds.
  static constexpr ptrdiff_t kMostOfBlock = 64 * 31 / 8 + 16;

  ScanBytes();

  // Of data that begin at `first` and end before `end`, where a marker may stand at any place.
  void Begin(const uint8_t* first, const uint8_t* end, BitWindow& window);
  // The same from this bit of `first` on, 0 … 7.
  void BeginAt(const uint8_t* first, int bit, const uint8_t* end, BitWindow& window);
  // The next bit, for BeginAt.
  struct Place {
    const uint8_t* byte = nullptr;
    int bit = 0;
  };
  Place PlaceOf(const BitWindow& window) const;
  // Before each block: what it can have lies after window.next. Zeros follow the last byte before a marker.
  void Prepare(BitWindow& window) {
    if (limit_ - window.next < kMostOfBlock) [[unlikely]]
      More(window);
  }
  // Whether bits were dropped that the data do not have.
  bool Overran(const BitWindow& window) const;
  // Goes on after the restart marker of this number (0 … 7), which must come next. False: something else does.
  bool PassRestart(int number, BitWindow& window);

 private:
  void More(BitWindow& window);
  // Copies up to the next marker, or until enough is there.
  uint8_t* CopyData(uint8_t* to, uint8_t* end);

  const uint8_t* next_ = nullptr;  // not copied yet
  const uint8_t* end_ = nullptr;
  std::vector<uint8_t> bytes_;
  const uint8_t* limit_ = nullptr;     // what is copied, and the zeros after it
  const uint8_t* data_end_ = nullptr;  // what is copied
  bool ended_ = false;                 // a marker comes next, or nothing
  // Where in what is copied, from its beginning, a byte stands after which a zero was left out.
  std::vector<ptrdiff_t> left_out_;
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SCAN_BYTES_H_
