// `TarFormat` reads the samples of WebDataset archives: a record is a run of consecutive members of one key, from the
// first header to the end of the last one's data, as TarSample takes it apart. Members that belong to no sample are
// passed over. An archive may be compressed by gzip, zstd, bzip2 or xz, as its first bytes show; offsets are then those
// of the bytes that it holds. It is one split, as no header can be found but from the one before.
//
// An archive ends with two blocks of zeros, and with nothing else after them. One that ends otherwise is damaged, and
// the sample that is then not known to be whole is not given.
// Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_TAR_TAR_FORMAT_H_
#define HEADRACE_IO_FORMATS_TAR_TAR_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/formats/record_reader.h"

namespace headrace {

class TarFormat : public Format {
 public:
  // Of a sample in bytes; that of a compressed archive is held without a look at how much there is.
  static constexpr int64_t kLongest = (int64_t{1} << 32) - (int64_t{1} << 20);
  static constexpr int64_t kLongestCompressed = int64_t{1} << 30;

  explicit TarFormat(int64_t longest = kLongest, int64_t longest_compressed = kLongestCompressed)
      : longest_(longest), longest_compressed_(longest_compressed) {}

  PartBorders part_borders() const override { return {1, false}; }
  absl::StatusOr<bool> IsOneSplit(const FileSystem& /*files*/, const std::string& /*path*/) const override {
    return true;
  }
  // kData for a sample that is longer.
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  const int64_t longest_;
  const int64_t longest_compressed_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TAR_FORMAT_H_
