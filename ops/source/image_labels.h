// `LabelColumn` makes the labels of images in MXNet's lists and records: `label_width` of them, float32. One label is a
// number, several are an array, and a width of -1 takes rows of any number.
// Threads: pure functions; a LabelList is immutable.
#ifndef HEADRACE_OPS_SOURCE_IMAGE_LABELS_H_
#define HEADRACE_OPS_SOURCE_IMAGE_LABELS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "io/files/file_system.h"
#include "io/formats/recordio/image_list.h"
#include "ir/attributes.h"
#include "ir/declaration.h"

namespace headrace {

inline constexpr int64_t kAnyLabels = -1;

ir::Attribute DeclareLabelWidth();
// Sets the type of the column `label`, if the schema has one. kGraph: the width is 0.
absl::Status SetLabelType(const ir::Attributes& attributes, ir::Schema& schema);
// kData if there are not as many labels as the width says.
absl::Status CheckLabels(size_t labels, int64_t label_width);
// The labels of `rows` rows: row i has labels_of(i) of them, which copy(i, target) copies.
absl::StatusOr<BlockColumn> LabelColumn(size_t rows, int64_t label_width, absl::FunctionRef<size_t(size_t)> labels_of,
                                        absl::FunctionRef<void(size_t, float*)> copy);

// An image list (.lst), and its lines by their indices.
class LabelList {
 public:
  // kData: two lines have the same index.
  static absl::StatusOr<LabelList> Of(ImageList list, const std::string& path);

  const ImageList& list() const { return list_; }
  // The number of the line with that index.
  std::optional<size_t> Find(uint64_t index) const;

 private:
  explicit LabelList(ImageList list) : list_(std::move(list)) {}

  ImageList list_;
  std::vector<uint32_t> by_index_;  // lines in order of their indices; empty: they are
};

// The list in the file, as it was parsed last if the file is unchanged.
absl::StatusOr<std::shared_ptr<const LabelList>> ReadLabelList(const FileSystem& files, const std::string& path);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_IMAGE_LABELS_H_
