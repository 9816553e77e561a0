#include "engine/device/cuda_device.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

// Of what the device has free when the run begins.
constexpr int64_t kBudgetShare = 4;

// Memory of batches on streams that nobody named, let go of while a graph was captured. It keeps its context open.
struct LeftMemory {
  std::mutex mutex;
  std::vector<std::pair<std::shared_ptr<CudaContext>, CUdeviceptr>> pieces;  // under mutex
};

LeftMemory& AllLeftMemory() {
  static auto* const left = new LeftMemory;
  return *left;
}

// What a capture on another stream forbids.
bool IsOfCapture(CUresult result) {
  return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

class CudaFence : public Fence {
 public:
  CudaFence(std::shared_ptr<CudaContext> context, CUevent event) : context_(std::move(context)), event_(event) {}
  ~CudaFence() override {
    const CudaScope scope(*context_);
    if (scope.status().ok()) context_->driver().EventDestroy(event_);
  }

  CUevent event() const { return event_; }
  // Whether this process has seen that it was reached: later work of any stream comes after it.
  bool seen() const { return seen_.load(std::memory_order_acquire); }
  void See() { seen_.store(true, std::memory_order_release); }
  // For a stream that is captured into a graph: the event is recorded once that has ended.
  void RecordLater(CUstream stream) {
    stream_ = stream;
    waits_ = true;
  }
  // True: it is recorded. With the context current.
  bool Recorded() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!waits_) return true;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CudaDriver& driver = context_->driver();
    const bool captured =
        driver.StreamIsCapturing(stream_, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
    waits_ = captured || driver.EventRecord(event_, stream_) != CUDA_SUCCESS;
    return !waits_;
  }

 private:
  const std::shared_ptr<CudaContext> context_;
  const CUevent event_;
  std::atomic<bool> seen_{false};
  std::mutex mutex_;
  CUstream stream_ = nullptr;
  bool waits_ = false;
};

CudaFence& CudaFenceOf(const FencePtr& fence) { return static_cast<CudaFence&>(*fence); }
CUevent EventOf(const Fence& fence) { return static_cast<const CudaFence&>(fence).event(); }
CUstream StreamOf(DeviceStream stream) { return reinterpret_cast<CUstream>(stream); }
CUdeviceptr PointerOf(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

#define HEADRACE_IN_CONTEXT()       \
  const CudaScope scope(*context_); \
  HEADRACE_RETURN_IF_ERROR(scope.status())

absl::StatusOr<std::shared_ptr<Device>> CudaDevice::Open(int number) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<CudaContext> context, CudaContext::Open(number));
  const CudaScope scope(*context);
  HEADRACE_RETURN_IF_ERROR(scope.status());
  const CudaDriver& driver = context->driver();
  CUstream stream = nullptr;
  HEADRACE_RETURN_IF_ERROR(driver.Check(driver.StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
                                        Cat("cuda:", number, ": cuStreamCreateWithPriority")));
  return std::shared_ptr<Device>(new CudaDevice(number, std::move(context), stream));
}

CudaDevice::CudaDevice(int number, std::shared_ptr<CudaContext> context, CUstream stream)
    : Device(Cat("cuda:", number)),
      number_(number),
      context_(std::move(context)),
      driver_(context_->driver()),
      stream_(stream),
      host_(PageLockedMemory::Of(number)),
      refusals_before_(host_.refusals()) {}

CudaDevice::~CudaDevice() {
  kernels_.reset();
  const CudaScope scope(*context_);
  if (scope.status().ok()) driver_.StreamDestroy(stream_);
  host_.pool().Trim(0);
}

absl::Status CudaDevice::Check(CUresult result, std::string_view call) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  return driver_.Check(result, Cat(name(), ": ", call));
}

absl::StatusOr<int64_t> CudaDevice::DefaultBudget() {
  HEADRACE_IN_CONTEXT();
  size_t free = 0;
  size_t all = 0;
  HEADRACE_RETURN_IF_ERROR(Check(driver_.MemGetInfo(&free, &all), "cuMemGetInfo"));
  return static_cast<int64_t>(free) / kBudgetShare;
}

absl::StatusOr<DeviceMemory> CudaDevice::Allocate(size_t bytes) {
  HEADRACE_IN_CONTEXT();
  FreeLeft();
  CUdeviceptr memory = 0;
  const CUresult result = driver_.MemAlloc(&memory, bytes);
  const absl::Status status = Check(result, "cuMemAlloc");
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return DeviceMemory{.refusal = status};
  HEADRACE_RETURN_IF_ERROR(status);
  return DeviceMemory{reinterpret_cast<uint8_t*>(memory)};
}

void CudaDevice::Free(uint8_t* memory) {
  const CudaScope scope(*context_);
  if (scope.status().ok()) driver_.MemFree(PointerOf(memory));
}

void CudaDevice::FreeAfterCapture(uint8_t* memory) {
  LeftMemory& left = AllLeftMemory();
  const std::lock_guard<std::mutex> lock(left.mutex);
  left.pieces.emplace_back(context_, PointerOf(memory));
}

void CudaDevice::FreeLeft() {
  LeftMemory& left = AllLeftMemory();
  const std::lock_guard<std::mutex> lock(left.mutex);
  const auto elsewhere = [this](const auto& piece) { return piece.first != context_; };
  const auto first = std::partition(left.pieces.begin(), left.pieces.end(), elsewhere);
  if (first == left.pieces.end()) return;
  const absl::StatusOr<bool> unused = Synchronize();
  if (unused.ok() && !*unused) return;
  // After a fault there is nothing to free.
  for (auto it = first; unused.ok() && it != left.pieces.end(); ++it) driver_.MemFree(it->second);
  left.pieces.erase(first, left.pieces.end());
}

absl::StatusOr<FencePtr> CudaDevice::NewFence() {
  CUevent event = nullptr;
  HEADRACE_RETURN_IF_ERROR(Check(driver_.EventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
  return std::make_shared<CudaFence>(context_, event);
}

absl::StatusOr<bool> CudaDevice::Maps() {
  HEADRACE_IN_CONTEXT();
  HEADRACE_ASSIGN_OR_RETURN(kernels_, CudaKernels::Load(context_));
  return kernels_ != nullptr;
}

absl::StatusOr<FencePtr> CudaDevice::Fill(const DeviceFill& fill, absl::Span<const FencePtr> after) {
  HEADRACE_IN_CONTEXT();
  HEADRACE_ASSIGN_OR_RETURN(FencePtr done, NewFence());
  HEADRACE_RETURN_IF_ERROR(QueueFill(fill, after, *done));
  return done;
}

absl::Status CudaDevice::QueueFill(const DeviceFill& fill, absl::Span<const FencePtr> after, const Fence& done) {
  for (const FencePtr& fence : after) {
    HEADRACE_RETURN_IF_ERROR(Check(driver_.StreamWaitEvent(stream_, EventOf(*fence), 0), "cuStreamWaitEvent"));
  }
  for (const DeviceCopy& copy : fill.copies) {
    HEADRACE_RETURN_IF_ERROR(
        Check(driver_.MemcpyHtoDAsync(PointerOf(copy.to), copy.from, copy.bytes, stream_), "cuMemcpyHtoDAsync"));
  }
  if (fill.copied != nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(FencePtr copied, NewFence());
    HEADRACE_RETURN_IF_ERROR(Check(driver_.EventRecord(EventOf(*copied), stream_), "cuEventRecord"));
    (*fill.copied)(std::move(copied));
  }
  for (const DeviceMapping& mapping : fill.mappings) {
    HEADRACE_RETURN_IF_ERROR(kernels_->Map(mapping, stream_));
  }
  return Check(driver_.EventRecord(EventOf(done), stream_), "cuEventRecord");
}

absl::Status CudaDevice::Wait(const FencePtr& fence) {
  if (fence == nullptr || CudaFenceOf(fence).seen()) return absl::OkStatus();
  HEADRACE_IN_CONTEXT();
  HEADRACE_RETURN_IF_ERROR(Check(driver_.EventSynchronize(EventOf(*fence)), "cuEventSynchronize"));
  CudaFenceOf(fence).See();
  return absl::OkStatus();
}

absl::Status CudaDevice::WaitForCopies() {
  HEADRACE_IN_CONTEXT();
  return Check(driver_.StreamSynchronize(stream_), "cuStreamSynchronize");
}

absl::StatusOr<bool> CudaDevice::WaitForAll() {
  HEADRACE_IN_CONTEXT();
  return Synchronize();
}

// The attempt breaks a capture. It can be seen before if the legacy stream waits for the stream that is captured.
absl::StatusOr<bool> CudaDevice::Synchronize() const {
  HEADRACE_ASSIGN_OR_RETURN(const bool captured, Captured(CU_STREAM_LEGACY));
  if (captured) return false;
  const CUresult result = driver_.CtxSynchronize();
  if (IsOfCapture(result)) return false;
  HEADRACE_RETURN_IF_ERROR(Check(result, "cuCtxSynchronize"));
  return true;
}

absl::Status CudaDevice::CheckStream(DeviceStream stream) {
  // A number that each device has.
  if (StreamOf(stream) == CU_STREAM_LEGACY) return absl::OkStatus();
  HEADRACE_IN_CONTEXT();
  CUcontext owner = nullptr;
  HEADRACE_RETURN_IF_ERROR(Check(driver_.StreamGetCtx(StreamOf(stream), &owner), "cuStreamGetCtx"));
  if (owner == context_->handle()) return absl::OkStatus();
  return UnsupportedError("the stream belongs to another device or context than the batch on ", name(),
                          ": make a stream of ", name(), " wait for it, and give that one");
}

absl::StatusOr<bool> CudaDevice::Captured(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver_.StreamIsCapturing(stream, &status);
  // The legacy stream, if one that it waits for is captured.
  if (IsOfCapture(result)) return true;
  HEADRACE_RETURN_IF_ERROR(Check(result, "cuStreamIsCapturing"));
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// A graph cannot contain a wait for work outside of it, so the host waits while one is captured.
absl::Status CudaDevice::MakeWait(DeviceStream stream, const FencePtr& fence) {
  // The usual case, as batches are made ahead: it costs no call of the driver.
  if (fence == nullptr || CudaFenceOf(fence).seen()) return absl::OkStatus();
  HEADRACE_IN_CONTEXT();
  HEADRACE_ASSIGN_OR_RETURN(const bool captured, Captured(StreamOf(stream)));
  if (captured) return Check(driver_.EventSynchronize(EventOf(*fence)), "cuEventSynchronize");
  return Check(driver_.StreamWaitEvent(StreamOf(stream), EventOf(*fence), 0), "cuStreamWaitEvent");
}

absl::StatusOr<FencePtr> CudaDevice::RecordFence(DeviceStream stream) {
  HEADRACE_IN_CONTEXT();
  HEADRACE_ASSIGN_OR_RETURN(FencePtr fence, NewFence());
  HEADRACE_ASSIGN_OR_RETURN(const bool captured, Captured(StreamOf(stream)));
  if (captured) {
    CudaFenceOf(fence).RecordLater(StreamOf(stream));
    return fence;
  }
  HEADRACE_RETURN_IF_ERROR(Check(driver_.EventRecord(EventOf(*fence), StreamOf(stream)), "cuEventRecord"));
  return fence;
}

bool CudaDevice::Reached(const FencePtr& fence) {
  if (fence == nullptr) return true;
  const CudaScope scope(*context_);
  return !scope.status().ok() || CudaFenceOf(fence).Recorded();
}

}  // namespace headrace
