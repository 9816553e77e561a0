#include "kernels/vision/codecs/jpeg/jpeg_device.h"

#include "core/error.h"

namespace headrace {
namespace {

// Registrations run before this file's own globals are initialised.
MakeJpegDevice& Registered() {
  static MakeJpegDevice make = nullptr;
  return make;
}

}  // namespace

NvJpegRegistration::NvJpegRegistration(MakeJpegDevice make) { Registered() = make; }

absl::StatusOr<std::shared_ptr<JpegDevice>> NvJpegDevice() {
  if (Registered() != nullptr) return Registered()();
  return UnsupportedError("this program has no decoder on a GPU: leave decoder out");
}

}  // namespace headrace
