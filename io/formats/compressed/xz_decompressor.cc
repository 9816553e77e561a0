#include "io/formats/compressed/xz_decompressor.h"

#include <lzma.h>

#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

constexpr uint64_t kMostDictionary = uint64_t{128} << 20;
// What liblzma takes beside the dictionary, of one filter or several.
constexpr uint64_t kBesideDictionary = uint64_t{1} << 20;
constexpr uint8_t kFirstOfStream = 0xFD;

absl::Status XzOutOfMemory() { return ResourceError("no memory to decompress xz"); }

class XzDecompressor : public Decompressor {
 public:
  XzDecompressor() = default;
  XzDecompressor(const XzDecompressor&) = delete;
  ~XzDecompressor() override { lzma_end(&stream_); }

  // Of the next stream; liblzma frees what the last one needed.
  absl::Status Begin() {
    const lzma_ret begun = lzma_stream_decoder(&stream_, kMostDictionary + kBesideDictionary, 0);
    if (begun == LZMA_OK) return absl::OkStatus();
    return begun == LZMA_MEM_ERROR ? XzOutOfMemory()
                                   : InternalError("liblzma does not begin: ", static_cast<int>(begun));
  }

  Progress Decompress(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target) override {
    Progress progress;
    if (between_) {
      // Streams are padded with zeros, to a multiple of 4 bytes.
      while (progress.used < compressed.size() && compressed[progress.used] == 0) ++progress.used;
      compressed.remove_prefix(progress.used);
      progress.complete = compressed.empty();
      if (progress.complete) return progress;
      progress.wrong = compressed[0] == kFirstOfStream ? Begin() : DataError("other bytes follow its end");
      if (!progress.wrong.ok()) return progress;
    }
    Decode(compressed, target, progress);
    return progress;
  }

 private:
  void Decode(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target, Progress& progress) {
    stream_.next_in = compressed.data();
    stream_.avail_in = compressed.size();
    stream_.next_out = target.data();
    stream_.avail_out = target.size();
    const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
    progress.used += compressed.size() - stream_.avail_in;
    progress.made = target.size() - stream_.avail_out;
    progress.complete = between_ = result == LZMA_STREAM_END;
    // LZMA_BUF_ERROR: there was nothing to do.
    if (result == LZMA_OK || result == LZMA_STREAM_END || result == LZMA_BUF_ERROR) return;
    progress.wrong = ErrorOf(result);
  }

  static absl::Status ErrorOf(lzma_ret result) {
    switch (result) {
      case LZMA_MEM_ERROR:
        return XzOutOfMemory();
      case LZMA_MEMLIMIT_ERROR:
        return DataError("its dictionary is larger than ", kMostDictionary >> 20,
                         " MiB; compress the file with one of the levels, such as xz -9");
      case LZMA_FORMAT_ERROR:
        return DataError("not xz");
      case LZMA_OPTIONS_ERROR:
        return DataError("it asks for options that this version does not have");
      default:
        return DataError("a block does not have its checksum");
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool between_ = false;  // a stream has ended
};

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> MakeXzDecompressor() {
  auto made = std::make_unique<XzDecompressor>();
  HEADRACE_RETURN_IF_ERROR(made->Begin());
  return made;
}

}  // namespace headrace
