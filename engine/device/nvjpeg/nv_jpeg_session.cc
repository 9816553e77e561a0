#include "engine/device/nvjpeg/nv_jpeg_session.h"

#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

// Pixels' memory grows in steps, as system calls for it take long.
constexpr size_t kRoomStep = size_t{1} << 20;

size_t Rounded(size_t bytes) { return (bytes + kRoomStep - 1) / kRoomStep * kRoomStep; }

// Whether nvJPEG goes on. False: the fault is in the file, hence always the same.
absl::StatusOr<bool> Accepts(NvJpegStatus status, std::string_view call) {
  if (status == kNvJpegBadJpeg || status == kNvJpegJpegNotSupported || status == kNvJpegIncompleteBitstream)
    return false;
  HEADRACE_RETURN_IF_ERROR(CheckNvJpeg(status, call));
  return true;
}

// Of a phase that works on the host alone, where only the file can be what failed.
absl::StatusOr<bool> AcceptsOnHost(NvJpegStatus status, std::string_view call) {
  if (status == kNvJpegExecutionFailed || status == kNvJpegInternalError) return false;
  return Accepts(status, call);
}

// Memory that a session asks for.
absl::Status CheckRoom(const CudaDriver& driver, CUresult result, std::string_view call) {
  const absl::Status status = driver.Check(result, call);
  if (result != CUDA_ERROR_OUT_OF_MEMORY) return status;
  return ResourceError(status.message(), ": let fewer workers decode");
}

template <typename Object>
void Destroy(NvJpegStatus (*destroy)(Object*), Object* object) {
  if (object != nullptr) destroy(object);
}

}  // namespace

absl::StatusOr<std::unique_ptr<NvJpegSession>> NvJpegSession::Make(const CudaDriver& driver,
                                                                   const NvJpegLibrary& library, NvJpegHandle* handle) {
  std::unique_ptr<NvJpegSession> session(new NvJpegSession(driver, library, handle));
  HEADRACE_RETURN_IF_ERROR(session->MakeStream());
  HEADRACE_RETURN_IF_ERROR(session->MakeObjects());
  return session;
}

NvJpegSession::~NvJpegSession() {
  if (stream_ != nullptr) driver_.StreamSynchronize(stream_);
  Destroy(library_.DecodeParamsDestroy, params_);
  Destroy(library_.JpegStreamDestroy, bits_);
  Destroy(library_.JpegStateDestroy, state_);
  Destroy(library_.BufferPinnedDestroy, pinned_buffer_);
  Destroy(library_.BufferDeviceDestroy, device_buffer_);
  Destroy(library_.DecoderDestroy, decoder_);
  FreePixels().IgnoreError();
  if (done_ != nullptr) driver_.EventDestroy(done_);
  if (stream_ != nullptr) driver_.StreamDestroy(stream_);
}

absl::Status NvJpegSession::MakeStream() {
  HEADRACE_RETURN_IF_ERROR(driver_.Check(driver_.StreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0),
                                         "cuStreamCreateWithPriority"));
  // The thread sleeps while it waits: others decode meanwhile.
  return driver_.Check(driver_.EventCreate(&done_, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC), "cuEventCreate");
}

absl::Status NvJpegSession::MakeObjects() {
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.DecoderCreate(handle_, kNvJpegHybrid, &decoder_), "nvjpegDecoderCreate"));
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.DecoderStateCreate(handle_, decoder_, &state_), "nvjpegDecoderStateCreate"));
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.BufferDeviceCreate(handle_, nullptr, &device_buffer_), "nvjpegBufferDeviceCreate"));
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.BufferPinnedCreate(handle_, nullptr, &pinned_buffer_), "nvjpegBufferPinnedCreate"));
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.StateAttachDeviceBuffer(state_, device_buffer_), "nvjpegStateAttachDeviceBuffer"));
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.StateAttachPinnedBuffer(state_, pinned_buffer_), "nvjpegStateAttachPinnedBuffer"));
  HEADRACE_RETURN_IF_ERROR(CheckNvJpeg(library_.JpegStreamCreate(handle_, &bits_), "nvjpegJpegStreamCreate"));
  return CheckNvJpeg(library_.DecodeParamsCreate(handle_, &params_), "nvjpegDecodeParamsCreate");
}

absl::StatusOr<bool> NvJpegSession::Decode(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels) {
  const size_t row_bytes = static_cast<size_t>(jpeg.width) * static_cast<size_t>(jpeg.components);
  const size_t bytes = static_cast<size_t>(rows.height) * row_bytes;
  HEADRACE_ASSIGN_OR_RETURN(const bool read, ReadOnHost(jpeg));
  if (!read) return false;
  HEADRACE_RETURN_IF_ERROR(MakeRoom(static_cast<size_t>(jpeg.height) * row_bytes, bytes));
  HEADRACE_ASSIGN_OR_RETURN(const bool queued, QueueOnDevice(jpeg));
  if (!queued) return false;
  HEADRACE_RETURN_IF_ERROR(CopyToHost(static_cast<size_t>(rows.top) * row_bytes, bytes));
  std::memcpy(pixels, on_host_, bytes);
  return true;
}

absl::StatusOr<bool> NvJpegSession::ReadOnHost(const PlainJpeg& jpeg) {
  const auto* const data = reinterpret_cast<const unsigned char*>(jpeg.bytes.data());
  const NvJpegOutput output = jpeg.components == 1 ? kNvJpegLuma : kNvJpegInterleavedRgb;
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_.DecodeParamsSetOutputFormat(params_, output), "nvjpegDecodeParamsSetOutputFormat"));
  HEADRACE_ASSIGN_OR_RETURN(
      const bool parsed,
      AcceptsOnHost(library_.JpegStreamParse(handle_, data, jpeg.bytes.size(), 0, 0, bits_), "nvjpegJpegStreamParse"));
  if (!parsed) return false;
  return AcceptsOnHost(library_.DecodeJpegHost(handle_, decoder_, state_, params_, bits_), "nvjpegDecodeJpegHost");
}

absl::StatusOr<bool> NvJpegSession::QueueOnDevice(const PlainJpeg& jpeg) {
  HEADRACE_ASSIGN_OR_RETURN(const bool transferred,
                            Accepts(library_.DecodeJpegTransferToDevice(handle_, decoder_, state_, bits_, stream_),
                                    "nvjpegDecodeJpegTransferToDevice"));
  if (!transferred) return false;
  NvJpegImage image = {};
  image.channel[0] = reinterpret_cast<unsigned char*>(on_device_);
  image.pitch[0] = static_cast<size_t>(jpeg.width) * static_cast<size_t>(jpeg.components);
  return Accepts(library_.DecodeJpegDevice(handle_, decoder_, state_, &image, stream_), "nvjpegDecodeJpegDevice");
}

absl::Status NvJpegSession::CopyToHost(size_t begin, size_t bytes) {
  HEADRACE_RETURN_IF_ERROR(
      driver_.Check(driver_.MemcpyDtoHAsync(on_host_, on_device_ + begin, bytes, stream_), "cuMemcpyDtoHAsync"));
  HEADRACE_RETURN_IF_ERROR(driver_.Check(driver_.EventRecord(done_, stream_), "cuEventRecord"));
  return driver_.Check(driver_.EventSynchronize(done_), "cuEventSynchronize");
}

absl::Status NvJpegSession::MakeRoom(size_t on_device, size_t on_host) {
  if (on_device <= device_room_ && on_host <= host_room_) return absl::OkStatus();
  HEADRACE_RETURN_IF_ERROR(FreePixels());
  HEADRACE_RETURN_IF_ERROR(CheckRoom(driver_, driver_.MemAlloc(&on_device_, Rounded(on_device)), "cuMemAlloc"));
  device_room_ = Rounded(on_device);
  HEADRACE_RETURN_IF_ERROR(CheckRoom(
      driver_, driver_.MemHostAlloc(&on_host_, Rounded(on_host), CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc"));
  host_room_ = Rounded(on_host);
  return absl::OkStatus();
}

absl::Status NvJpegSession::FreePixels() {
  absl::Status status;
  if (device_room_ > 0) status = driver_.Check(driver_.MemFree(on_device_), "cuMemFree");
  if (host_room_ > 0) status.Update(driver_.Check(driver_.MemFreeHost(on_host_), "cuMemFreeHost"));
  device_room_ = host_room_ = 0;
  return status;
}

}  // namespace headrace
