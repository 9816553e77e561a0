// The kernels of ByteMapping, one for each way: each block copies the table to its shared memory, and does parts of the
// work in strides of the grid.
#include "engine/device/byte_mapping.h"
#include "engine/device/byte_passes.h"

namespace headrace {

// Of a piece: as few as keep the blocks equally busy, as many as make what is done once for a part cheap.
constexpr uint32_t kThreadsOfPart = 1024;

template <typename V, typename Way>
__device__ void MapInStrides(const ByteMapping& mapping) {
  __shared__ V table[kMostMappedChannels * kTableValues];
  for (uint32_t i = threadIdx.x; i < mapping.channels * kTableValues; i += blockDim.x) {
    table[i] = static_cast<const V*>(mapping.table)[i];
  }
  __syncthreads();
  const uint32_t threads = mapping.threads_of_piece();
  const uint32_t parts_of_piece = (threads + kThreadsOfPart - 1) / kThreadsOfPart;
  const uint64_t parts = mapping.pieces() * parts_of_piece;
  for (uint64_t part = blockIdx.x; part < parts; part += gridDim.x) {
    const uint64_t piece = Quotient(part, parts_of_piece);
    const uint32_t first = static_cast<uint32_t>(part - piece * parts_of_piece) * kThreadsOfPart;
    const uint32_t end = threads - first < kThreadsOfPart ? threads : first + kThreadsOfPart;
    Way::Map(mapping, table, piece, {first + threadIdx.x, end, blockDim.x});
  }
}

}  // namespace headrace

// So many blocks at once on each multiprocessor, of 64 registers a thread or of 80.
#define HEADRACE_FOUR_BLOCKS __launch_bounds__(headrace::kThreadsOfBlock, 4)
#define HEADRACE_THREE_BLOCKS __launch_bounds__(headrace::kThreadsOfBlock, 3)

#define HEADRACE_KERNELS(way, blocks)                                                  \
  extern "C" __global__ void blocks Headrace##way##16(headrace::ByteMapping mapping) { \
    headrace::MapInStrides<uint16_t, headrace::way<uint16_t>>(mapping);                \
  }                                                                                    \
  extern "C" __global__ void blocks Headrace##way##32(headrace::ByteMapping mapping) { \
    headrace::MapInStrides<uint32_t, headrace::way<uint32_t>>(mapping);                \
  }

HEADRACE_KERNELS(MapInPlace, )
HEADRACE_KERNELS(MapFourPixels, )
HEADRACE_KERNELS(MapMixedFourPixels, )
HEADRACE_KERNELS(MapWords, )
HEADRACE_KERNELS(MapMixedWords, )
HEADRACE_KERNELS(MapFours, HEADRACE_FOUR_BLOCKS)
HEADRACE_KERNELS(MapMixedFours, HEADRACE_FOUR_BLOCKS)
HEADRACE_KERNELS(MapResizedFours, HEADRACE_THREE_BLOCKS)
