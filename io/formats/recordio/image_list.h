// `ImageList` holds one of MXNet's lists of images, .lst: lines `index\tlabel[\tlabel…]\tpath\n`. The labels of
// detection are the width of their head, the width of an object, further head values, and the objects; here they are
// labels like others.
// Threads: a value; const functions from any thread.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_IMAGE_LIST_H_
#define HEADRACE_IO_FORMATS_RECORDIO_IMAGE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace headrace {

// In the order of its lines. Kept in columns: a million entries take their bytes and some 20 each.
class ImageList {
 public:
  size_t size() const { return indices_.size(); }
  uint64_t index(size_t i) const { return indices_[i]; }
  // At least one.
  absl::Span<const float> labels(size_t i) const;
  // As the line has it, relative to the folder of the images; never empty.
  std::string_view path(size_t i) const;

  void Add(uint64_t index, absl::Span<const float> labels, std::string_view path);

 private:
  std::vector<uint64_t> indices_;
  std::vector<float> labels_;
  std::vector<size_t> label_ends_;
  std::string paths_;
  std::vector<size_t> path_ends_;
};

// Fields are between tabs; spaces around them are left out, and those within paths belong to them. Lines end with \n or
// \r\n, empty ones and a byte order mark are left out. kData, naming `path` and the line: fewer than three fields, an
// index that is not a whole number below 2^64, a label that is not a number, or a whole one that float32 does not hold.
absl::StatusOr<ImageList> ParseImageList(std::string_view text, std::string_view path);

enum class LabelText {
  kFixed,     // "%f", as MXNet 1.x writes: 6 digits after the point
  kShortest,  // the fewest digits that give the same float32, as MXNet 2.x: 0.5, 3
};

// Appends the line of an entry.
void AppendImageListLine(uint64_t index, absl::Span<const float> labels, std::string_view path, LabelText label_text,
                         std::string& text);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_IMAGE_LIST_H_
