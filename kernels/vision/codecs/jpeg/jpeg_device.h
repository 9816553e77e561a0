// `JpegDevice` is a device that decodes JPEGs. It is registered by engine/device, because kernels must not depend on
// devices; Decode uses it where the user says so.
// Threads: any thread; registration before main, or while nothing else calls.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_DEVICE_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/jpeg/plain_jpeg.h"

namespace headrace {

struct JpegRows {
  int64_t top = 0;
  int64_t height = 0;
};

class JpegDevice {
 public:
  virtual ~JpegDevice() = default;
  // Writes whole rows of the image to `pixels`, row-major: red, green and blue of an image of three components, the
  // luma of one. False, with `pixels` undefined: it cannot decode these bytes, wherever and whenever it is asked.
  // Errors are those of the machine: kUnsupported, with what is missing, or kResource.
  virtual absl::StatusOr<bool> Decode(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels) = 0;
};

// Costs little: a device is looked for by its first Decode.
using MakeJpegDevice = std::shared_ptr<JpegDevice> (*)();

// The device of Decode(decoder="nvjpeg"). Use at namespace scope.
struct NvJpegRegistration {
  explicit NvJpegRegistration(MakeJpegDevice make);
};
// kUnsupported: none is linked in.
absl::StatusOr<std::shared_ptr<JpegDevice>> NvJpegDevice();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_DEVICE_H_
