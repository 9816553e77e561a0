#include "io/formats/compressed/zstd_decompressor.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "core/error.h"

namespace headrace {
namespace {

// Of a frame's window: libzstd allocates it when a frame begins, whatever the frame then holds.
constexpr int kMostWindowLog = 27;

absl::Status ZstdOutOfMemory() { return ResourceError("no memory to decompress zstd"); }

class ZstdDecompressor : public Decompressor {
 public:
  ZstdDecompressor() : context_(ZSTD_createDCtx()) {}
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ~ZstdDecompressor() override { ZSTD_freeDCtx(context_); }

  absl::Status Begin() {
    if (context_ == nullptr) return ZstdOutOfMemory();
    const size_t set = ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMostWindowLog);
    return ZSTD_isError(set) ? InternalError("libzstd does not begin: ", ZSTD_getErrorName(set)) : absl::OkStatus();
  }

  Progress Decompress(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target) override {
    ZSTD_inBuffer input = {compressed.data(), compressed.size(), 0};
    ZSTD_outBuffer output = {target.data(), target.size(), 0};
    const size_t wanted = ZSTD_decompressStream(context_, &output, &input);
    Progress progress;
    progress.used = input.pos;
    progress.made = output.pos;
    if (ZSTD_isError(wanted)) {
      progress.wrong = ErrorOf(wanted);
      return progress;
    }
    between_ = progress.complete = wanted == 0;
    return progress;
  }

 private:
  absl::Status ErrorOf(size_t result) const {
    switch (ZSTD_getErrorCode(result)) {
      case ZSTD_error_memory_allocation:
        return ZstdOutOfMemory();
      case ZSTD_error_frameParameter_windowTooLarge:
        return DataError("its window is larger than ", 1 << (kMostWindowLog - 20),
                         " MiB; compress the file without --long");
      case ZSTD_error_dictionary_wrong:
        return DataError("it was made with a dictionary, which none can be given for; compress the file without one");
      case ZSTD_error_prefix_unknown:
        if (between_) return DataError("other bytes follow its end");
        [[fallthrough]];
      default:
        return DataError(ZSTD_getErrorName(result));
    }
  }

  ZSTD_DCtx* const context_;
  bool between_ = false;  // a frame has ended
};

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> MakeZstdDecompressor() {
  auto made = std::make_unique<ZstdDecompressor>();
  HEADRACE_RETURN_IF_ERROR(made->Begin());
  return made;
}

}  // namespace headrace
