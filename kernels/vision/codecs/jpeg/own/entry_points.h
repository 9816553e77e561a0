// `EntryPoints` are places in the entropy-coded data of a JPEG at which decoding can begin: for every 16th MCU of a
// row, and its first, the next bit and the mean values so far. `CropDecoder` finds them in passing, and begins at those
// found before. As notes they take about a hundredth of the file's bytes; a checksum of the file and of themselves
// keeps those of other bytes, and damaged ones, from being used.
// Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_ENTRY_POINTS_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_ENTRY_POINTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

namespace headrace::jpeg {

struct EntryPoint {
  int64_t mcu = 0;   // its number in the image
  uint64_t bit = 0;  // of the data as the file has them
  std::array<int32_t, 3> means = {};
};

class EntryPoints {
 public:
  // MCUs of a row from one point to the next.
  static constexpr int64_t kEvery = 16;
  // Of notes, in a thread's memory for its next image.
  static constexpr size_t kMostBytesKept = size_t{64} << 10;

  // Takes the points in the notes of earlier times. False, and none: they are not of this file, or damaged. `known`:
  // the file's checksum, where it was needed before.
  bool Begin(const SequentialJpeg& jpeg, std::string_view notes, std::optional<uint64_t> known = std::nullopt);
  // The same without the checksum: for what is known to be of this file. False, and none: malformed.
  bool BeginUnchecked(const SequentialJpeg& jpeg, std::string_view points);

  // The last one that was known at the beginning; the first MCU: none was.
  const EntryPoint& last_known() const { return last_known_; }
  // The last one known up to this MCU, which is not before those asked for earlier.
  const EntryPoint& FindUpTo(int64_t mcu);

  // The first MCU that lacks a point; after the last one: none does.
  int64_t missing() const { return missing_; }
  // A point there. The points must be used only if all data before the last of them were found faultless.
  void Add(const EntryPoint& point);
  bool has_added() const { return points_.size() > known_bytes_; }
  // What Begin takes; valid until the next Begin.
  std::string_view Notes();
  // What BeginUnchecked takes.
  std::string_view points() const { return points_; }

  // Frees what an uncommonly large image has left.
  void KeepLittle();

 private:
  int64_t PointAfter(int64_t mcu) const;
  // The point after `before` at this place in the bytes, which it passes; nullopt: malformed.
  std::optional<EntryPoint> Read(const EntryPoint& before, size_t& at) const;
  void Clear(const SequentialJpeg& jpeg);

  std::string_view file_;
  int count_ = 0;  // of components
  int64_t mcus_per_row_ = 0;
  int64_t mcus_ = 0;
  uint64_t bits_ = 0;
  std::optional<uint64_t> checksum_;  // of the file, once it is needed
  std::string points_;
  size_t known_bytes_ = 0;
  EntryPoint last_known_;
  EntryPoint last_;
  int64_t missing_ = 0;
  EntryPoint found_;
  size_t found_end_ = 0;  // of its bytes
  std::string notes_;
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_ENTRY_POINTS_H_
