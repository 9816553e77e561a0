// The kernels of ByteMapping, one for each way: each block copies the table to its shared memory, and its threads do
// the work in strides of the grid.
#include "engine/device/byte_mapping.h"

namespace headrace {

template <typename V, void (*kMap)(const ByteMapping& mapping, const V* table, uint64_t thread)>
__device__ void MapInStrides(const ByteMapping& mapping) {
  __shared__ V table[kMostMappedChannels * kTableValues];
  for (uint32_t i = threadIdx.x; i < mapping.channels * kTableValues; i += blockDim.x) {
    table[i] = static_cast<const V*>(mapping.table)[i];
  }
  __syncthreads();
  const uint64_t threads = mapping.threads();
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; thread < threads; thread += stride) {
    kMap(mapping, table, thread);
  }
}

}  // namespace headrace

#define HEADRACE_KERNELS(way)                                                   \
  extern "C" __global__ void Headrace##way##16(headrace::ByteMapping mapping) { \
    headrace::MapInStrides<uint16_t, headrace::way<uint16_t>>(mapping);         \
  }                                                                             \
  extern "C" __global__ void Headrace##way##32(headrace::ByteMapping mapping) { \
    headrace::MapInStrides<uint32_t, headrace::way<uint32_t>>(mapping);         \
  }

HEADRACE_KERNELS(MapInPlace)
HEADRACE_KERNELS(MapFourPixels)
HEADRACE_KERNELS(MapMixedFourPixels)
HEADRACE_KERNELS(MapWords)
HEADRACE_KERNELS(MapMixedWords)
HEADRACE_KERNELS(MapFours)
HEADRACE_KERNELS(MapMixedFours)
HEADRACE_KERNELS(MapResizedFours)
