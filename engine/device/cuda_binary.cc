#include "engine/device/cuda_binary.h"

namespace headrace {
namespace {

// Set while objects with static storage are made, whatever their order.
constinit absl::Span<const uint8_t> cuda_binary;

}  // namespace

absl::Span<const uint8_t> CudaBinary() { return cuda_binary; }

CudaBinaryRegistration::CudaBinaryRegistration(absl::Span<const uint8_t> binary) { cuda_binary = binary; }

}  // namespace headrace
