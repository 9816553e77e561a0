#include "ops/source/image_labels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "io/listings/kept_by_files.h"

namespace headrace {
namespace {

KeptByFiles<LabelList>& KeptLists() {
  static auto* const kept = new KeptByFiles<LabelList>;
  return *kept;
}

}  // namespace

ir::Attribute DeclareLabelWidth() {
  return {.name = "label_width",
          .doc = "The number of labels of an image; 1: `label` has shape (), otherwise (label_width,). -1: any number.",
          .default_value = "1",
          .minimum = kAnyLabels,
          .maximum = 1 << 24};
}

absl::Status SetLabelType(const ir::Attributes& attributes, ir::Schema& schema) {
  const int64_t width = attributes.Int("label_width");
  if (width == 0) return GraphError("label_width is 0; an image has at least one label, and -1 stands for any number");
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].name != "label") continue;
    Shape shape;
    if (width != 1) shape.push_back(width == kAnyLabels ? ir::kUnknownDim : width);
    schema.columns.type(i) = ir::ColumnType::Of(DType::kFloat32, shape);
  }
  return absl::OkStatus();
}

absl::Status CheckLabels(size_t labels, int64_t label_width) {
  if (label_width == kAnyLabels || labels == static_cast<size_t>(label_width)) return absl::OkStatus();
  return DataError("the image has ", labels, labels == 1 ? " label" : " labels", ", and label_width is ", label_width,
                   "; set label_width to the number of labels, or to -1 if it varies");
}

absl::StatusOr<BlockColumn> LabelColumn(size_t rows, int64_t label_width, absl::FunctionRef<size_t(size_t)> labels_of,
                                        absl::FunctionRef<void(size_t, float*)> copy) {
  Shape shape;
  if (label_width != kAnyLabels && rows > 1) {
    shape.push_back(static_cast<int64_t>(rows));
    if (label_width != 1) shape.push_back(label_width);
    HEADRACE_ASSIGN_OR_RETURN(Tensor labels, Tensor::Allocate(DType::kFloat32, shape));
    for (size_t i = 0; i < rows; ++i) copy(i, labels.mutable_data<float>() + i * static_cast<size_t>(label_width));
    return BlockColumn::Stacked(std::move(labels));
  }
  BlockColumn column;
  for (size_t i = 0; i < rows; ++i) {
    shape.clear();
    if (label_width != 1) shape.push_back(static_cast<int64_t>(labels_of(i)));
    HEADRACE_ASSIGN_OR_RETURN(Tensor labels, Tensor::Allocate(DType::kFloat32, shape));
    copy(i, labels.mutable_data<float>());
    column.Append(std::move(labels));
  }
  return column;
}

absl::StatusOr<LabelList> LabelList::Of(ImageList list, const std::string& path) {
  if (list.size() > std::numeric_limits<uint32_t>::max()) {
    return UnsupportedError(path, " has more than ", std::numeric_limits<uint32_t>::max(), " lines");
  }
  LabelList labels(std::move(list));
  const ImageList& lines = labels.list_;
  std::vector<uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), uint32_t{0});
  const auto less = [&](uint32_t a, uint32_t b) { return lines.index(a) < lines.index(b); };
  const bool sorted = std::is_sorted(order.begin(), order.end(), less);
  if (!sorted) std::stable_sort(order.begin(), order.end(), less);
  for (size_t i = 1; i < order.size(); ++i) {
    if (lines.index(order[i]) != lines.index(order[i - 1])) continue;
    return DataError(path, ": the index ", lines.index(order[i]), " comes twice, for ", lines.path(order[i - 1]),
                     " and ", lines.path(order[i]));
  }
  if (!sorted) labels.by_index_ = std::move(order);
  return labels;
}

std::optional<size_t> LabelList::Find(uint64_t index) const {
  const auto line = [this](size_t i) { return by_index_.empty() ? i : by_index_[i]; };
  size_t low = 0, high = list_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (list_.index(line(middle)) < index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == list_.size() || list_.index(line(low)) != index) return std::nullopt;
  return line(low);
}

absl::StatusOr<std::shared_ptr<const LabelList>> ReadLabelList(const FileSystem& files, const std::string& path) {
  return KeptLists().Get(files, path, {path}, [&]() -> absl::StatusOr<LabelList> {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor text, files.Read(path));
    HEADRACE_ASSIGN_OR_RETURN(ImageList list, ParseImageList(text.bytes_value(), path));
    return LabelList::Of(std::move(list), path);
  });
}

}  // namespace headrace
