#include "io/formats/compressed/bzip2_decompressor.h"

#include <bzlib.h>

#include "core/error.h"

namespace headrace {
namespace {

absl::Status Bzip2OutOfMemory() { return ResourceError("no memory to decompress bzip2"); }

class Bzip2Decompressor : public Decompressor {
 public:
  Bzip2Decompressor() = default;
  Bzip2Decompressor(const Bzip2Decompressor&) = delete;
  ~Bzip2Decompressor() override { End(); }

  // Of the next stream.
  absl::Status Begin() {
    End();
    stream_ = {};
    const int begun = BZ2_bzDecompressInit(&stream_, 0, 0);
    if (begun == BZ_MEM_ERROR) return Bzip2OutOfMemory();
    if (begun != BZ_OK) return InternalError("libbz2 does not begin: ", begun);
    begun_ = true;
    return absl::OkStatus();
  }

  Progress Decompress(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target) override {
    Progress progress;
    if (between_) {
      progress.complete = compressed.empty();
      if (compressed.empty()) return progress;
      progress.wrong = Begin();
      if (!progress.wrong.ok()) return progress;
      between_ = false;
      follows_ = true;
    }
    stream_.next_in = reinterpret_cast<char*>(const_cast<uint8_t*>(compressed.data()));
    stream_.avail_in = static_cast<unsigned>(compressed.size());
    stream_.next_out = reinterpret_cast<char*>(target.data());
    stream_.avail_out = static_cast<unsigned>(target.size());
    const int result = BZ2_bzDecompress(&stream_);
    progress.used = compressed.size() - stream_.avail_in;
    progress.made = target.size() - stream_.avail_out;
    progress.complete = between_ = result == BZ_STREAM_END;
    // What is not bzip2 is wrong from its first byte on.
    if (result == BZ_DATA_ERROR_MAGIC) progress.used = 0;
    if (result != BZ_OK && result != BZ_STREAM_END) progress.wrong = ErrorOf(result);
    return progress;
  }

 private:
  void End() {
    if (begun_) BZ2_bzDecompressEnd(&stream_);
    begun_ = false;
  }

  absl::Status ErrorOf(int result) const {
    if (result == BZ_MEM_ERROR) return Bzip2OutOfMemory();
    if (result == BZ_DATA_ERROR_MAGIC && follows_) return DataError("other bytes follow its end");
    return DataError(result == BZ_DATA_ERROR_MAGIC ? "not bzip2" : "a block does not have its checksum");
  }

  bz_stream stream_ = {};
  bool begun_ = false;    // there is a stream to end
  bool between_ = false;  // a stream has ended
  bool follows_ = false;  // one had ended before the current one
};

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> MakeBzip2Decompressor() {
  auto made = std::make_unique<Bzip2Decompressor>();
  HEADRACE_RETURN_IF_ERROR(made->Begin());
  return made;
}

}  // namespace headrace
