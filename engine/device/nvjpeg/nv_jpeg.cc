#include "engine/device/nvjpeg/nv_jpeg.h"

#include <atomic>
#include <utility>

#include "core/error.h"
#include "core/fork_watch.h"
#include "core/text.h"
#include "engine/device/nvjpeg/nv_jpeg_session.h"

namespace headrace {
namespace {

// nvJPEG keeps memory for the largest image that a session had: after one of more pixels it is let go.
constexpr int64_t kKeptPixels = int64_t{1} << 24;
constexpr int kDevice = 0;

const NvJpegRegistration nv_jpeg_registration{&NvJpeg::Shared};

absl::Status Named(const absl::Status& status) {
  return MakeError(KindOf(status), Cat("decoder=\"nvjpeg\" on cuda:", kDevice, ": ", status.message()));
}

}  // namespace

std::shared_ptr<JpegDevice> NvJpeg::Shared() {
  // Before the lock, which a thread of the parent may hold. Its Decode says what is wrong.
  if (LostInFork()) return std::make_shared<NvJpeg>();
  static auto* const mutex = new std::mutex;
  static auto* const shared = new std::weak_ptr<NvJpeg>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::shared_ptr<NvJpeg> device = shared->lock();
  if (device == nullptr) *shared = device = std::make_shared<NvJpeg>();
  return device;
}

NvJpeg::~NvJpeg() {
  if (context_ != nullptr && !Free()) LeaveBehind();
}

bool NvJpeg::Free() {
  if (LostInFork()) return false;
  const CudaScope scope(*context_);
  if (!scope.status().ok()) return false;
  idle_.clear();
  library_->Destroy(handle_);
  return true;
}

// Without a lock, as it may be in a forked child.
void NvJpeg::LeaveBehind() {
  struct Left {
    NvJpegHandle* handle;
    std::vector<std::unique_ptr<NvJpegSession>> sessions;
    Left* before;
  };
  static std::atomic<Left*> last{nullptr};
  auto* const left = new Left{handle_, std::move(idle_), nullptr};
  left->before = last.exchange(left);
}

absl::StatusOr<bool> NvJpeg::Decode(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels) {
  absl::StatusOr<bool> decoded = DecodeHere(jpeg, rows, pixels);
  if (!decoded.ok()) return Named(decoded.status());
  return decoded;
}

absl::StatusOr<bool> NvJpeg::DecodeHere(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels) {
  // Fails after a fork, before a lock that a thread of the parent may hold.
  HEADRACE_RETURN_IF_ERROR(CudaDriver::Load().status());
  HEADRACE_RETURN_IF_ERROR(Open());
  const CudaScope scope(*context_);
  HEADRACE_RETURN_IF_ERROR(scope.status());
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<NvJpegSession> session, TakeSession());
  HEADRACE_ASSIGN_OR_RETURN(const bool decoded, session->Decode(jpeg, rows, pixels));
  if (!decoded || jpeg.pixels() > kKeptPixels) return decoded;
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(session));
  return true;
}

absl::Status NvJpeg::Open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (handle_ != nullptr) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(const CudaDriver* const driver, CudaDriver::Load());
  HEADRACE_ASSIGN_OR_RETURN(library_, NvJpegLibrary::Load(*driver));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<CudaContext> context, CudaContext::Open(kDevice));
  const CudaScope scope(*context);
  HEADRACE_RETURN_IF_ERROR(scope.status());
  constexpr unsigned kFlags = kNvJpegStrict | kNvJpegInterpolatedUpsampling;
  NvJpegHandle* handle = nullptr;
  HEADRACE_RETURN_IF_ERROR(
      CheckNvJpeg(library_->CreateEx(kNvJpegHybrid, nullptr, nullptr, kFlags, &handle), "nvjpegCreateEx"));
  context_ = std::move(context);
  handle_ = handle;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<NvJpegSession>> NvJpeg::TakeSession() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<NvJpegSession> session = std::move(idle_.back());
      idle_.pop_back();
      return session;
    }
  }
  return NvJpegSession::Make(context_->driver(), *library_, handle_);
}

}  // namespace headrace
