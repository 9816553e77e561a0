#include "io/formats/compressed/gzip_decompressor.h"

#include <zlib.h>

#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

// The largest window of deflate, in a stream of zlib and in a member of gzip.
constexpr int kZlibWindow = 15;
constexpr int kGzipWindow = 15 + 16;
constexpr uint8_t kFirstOfMember = 0x1F;

class Inflater : public Decompressor {
 public:
  explicit Inflater(Compression compression) : gzip_(compression == Compression::kGzip) {}
  Inflater(const Inflater&) = delete;
  ~Inflater() override { inflateEnd(&stream_); }

  absl::Status Begin() {
    const int begun = inflateInit2(&stream_, gzip_ ? kGzipWindow : kZlibWindow);
    if (begun == Z_OK) return absl::OkStatus();
    return begun == Z_MEM_ERROR ? OutOfMemory() : InternalError("zlib does not begin: ", begun);
  }

  Progress Decompress(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target) override {
    Progress progress;
    if (between_) {
      // Zeros fill up blocks of tapes; gzip and Python's gzip pass over them, too.
      while (gzip_ && progress.used < compressed.size() && compressed[progress.used] == 0) ++progress.used;
      compressed.remove_prefix(progress.used);
      progress.complete = compressed.empty();
      if (progress.complete) return progress;
      if (!gzip_ || compressed[0] != kFirstOfMember) {
        progress.wrong = DataError("other bytes follow its end");
        return progress;
      }
      inflateReset(&stream_);
    }
    Inflate(compressed, target, progress);
    return progress;
  }

 private:
  absl::Status OutOfMemory() const { return ResourceError("no memory to decompress ", gzip_ ? "gzip" : "zlib"); }

  void Inflate(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target, Progress& progress) {
    stream_.next_in = const_cast<Bytef*>(compressed.data());
    stream_.avail_in = static_cast<uInt>(compressed.size());
    stream_.next_out = target.data();
    stream_.avail_out = static_cast<uInt>(target.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    progress.used += compressed.size() - stream_.avail_in;
    progress.made = target.size() - stream_.avail_out;
    progress.complete = between_ = result == Z_STREAM_END;
    // Z_BUF_ERROR: there was nothing to do.
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return;
    const std::string_view other = gzip_ ? "not gzip" : "not zlib";
    const std::string_view message = stream_.msg == nullptr ? other : stream_.msg;
    progress.wrong = result == Z_MEM_ERROR ? OutOfMemory() : DataError(message);
  }

  const bool gzip_;
  z_stream stream_ = {};
  bool between_ = false;  // a member, or the stream, has ended
};

absl::StatusOr<std::unique_ptr<Decompressor>> MakeInflater(Compression compression) {
  auto made = std::make_unique<Inflater>(compression);
  HEADRACE_RETURN_IF_ERROR(made->Begin());
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> MakeGzipDecompressor() { return MakeInflater(Compression::kGzip); }

absl::StatusOr<std::unique_ptr<Decompressor>> MakeZlibDecompressor() { return MakeInflater(Compression::kZlib); }

}  // namespace headrace
