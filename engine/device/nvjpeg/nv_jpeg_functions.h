// `HEADRACE_NVJPEG_FUNCTIONS` lists the part of nvJPEG's C interface that we call, which is the same in 12.1 and all
// later versions, so that its headers are not needed. Enumerator values and the order of fields match nvJPEG's.
#ifndef HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_FUNCTIONS_H_
#define HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_FUNCTIONS_H_

#include <cuda.h>

#include <cstddef>

namespace headrace {

// nvjpegStatus_t and so on: enums, which have the size of int.
enum NvJpegStatus : int {
  kNvJpegSuccess = 0,
  kNvJpegBadJpeg = 3,
  kNvJpegJpegNotSupported = 4,
  kNvJpegAllocatorFailure = 5,
  kNvJpegExecutionFailed = 6,
  kNvJpegInternalError = 8,
  kNvJpegIncompleteBitstream = 10,
};
enum NvJpegProperty : int { kNvJpegMajorVersion = 0, kNvJpegMinorVersion = 1 };
enum NvJpegBackend : int { kNvJpegHybrid = 1 };
enum NvJpegOutput : int { kNvJpegLuma = 2, kNvJpegInterleavedRgb = 5 };
enum NvJpegFlags : unsigned { kNvJpegStrict = 1 << 2, kNvJpegInterpolatedUpsampling = 1 << 5 };

struct NvJpegImage {
  unsigned char* channel[4];
  size_t pitch[4];
};

struct NvJpegHandle;
struct NvJpegDecoder;
struct NvJpegState;
struct NvJpegDeviceBuffer;
struct NvJpegPinnedBuffer;
struct NvJpegStream;
struct NvJpegParams;

// Name without "nvjpeg", and parameters. Null allocators are CUDA's own.
#define HEADRACE_NVJPEG_FUNCTIONS(USE)                                                                              \
  USE(GetProperty, (NvJpegProperty, int*))                                                                          \
  USE(CreateEx, (NvJpegBackend, void* device_allocator, void* pinned_allocator, unsigned flags, NvJpegHandle**))    \
  USE(Destroy, (NvJpegHandle*))                                                                                     \
  USE(DecoderCreate, (NvJpegHandle*, NvJpegBackend, NvJpegDecoder**))                                               \
  USE(DecoderDestroy, (NvJpegDecoder*))                                                                             \
  USE(DecoderStateCreate, (NvJpegHandle*, NvJpegDecoder*, NvJpegState**))                                           \
  USE(JpegStateDestroy, (NvJpegState*))                                                                             \
  USE(BufferDeviceCreate, (NvJpegHandle*, void* allocator, NvJpegDeviceBuffer**))                                   \
  USE(BufferDeviceDestroy, (NvJpegDeviceBuffer*))                                                                   \
  USE(BufferPinnedCreate, (NvJpegHandle*, void* allocator, NvJpegPinnedBuffer**))                                   \
  USE(BufferPinnedDestroy, (NvJpegPinnedBuffer*))                                                                   \
  USE(StateAttachDeviceBuffer, (NvJpegState*, NvJpegDeviceBuffer*))                                                 \
  USE(StateAttachPinnedBuffer, (NvJpegState*, NvJpegPinnedBuffer*))                                                 \
  USE(JpegStreamCreate, (NvJpegHandle*, NvJpegStream**))                                                            \
  USE(JpegStreamDestroy, (NvJpegStream*))                                                                           \
  USE(JpegStreamParse,                                                                                              \
      (NvJpegHandle*, const unsigned char* data, size_t length, int save_metadata, int save_stream, NvJpegStream*)) \
  USE(DecodeParamsCreate, (NvJpegHandle*, NvJpegParams**))                                                          \
  USE(DecodeParamsDestroy, (NvJpegParams*))                                                                         \
  USE(DecodeParamsSetOutputFormat, (NvJpegParams*, NvJpegOutput))                                                   \
  USE(DecodeJpegHost, (NvJpegHandle*, NvJpegDecoder*, NvJpegState*, NvJpegParams*, NvJpegStream*))                  \
  USE(DecodeJpegTransferToDevice, (NvJpegHandle*, NvJpegDecoder*, NvJpegState*, NvJpegStream*, CUstream))           \
  USE(DecodeJpegDevice, (NvJpegHandle*, NvJpegDecoder*, NvJpegState*, NvJpegImage*, CUstream))

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_NVJPEG_NV_JPEG_FUNCTIONS_H_
