#include <cstdint>

#include "absl/types/span.h"
#include "engine/device/cuda_binary.h"

namespace headrace {
namespace {

// A fat binary; one byte: built without nvcc.
alignas(16) constexpr uint8_t kByteMapping[] = {
#include "engine/device/byte_mapping.fatbin.inc"
};

const CudaBinaryRegistration byte_mapping_registration(sizeof(kByteMapping) == 1 ? absl::Span<const uint8_t>()
                                                                                 : kByteMapping);

}  // namespace
}  // namespace headrace
