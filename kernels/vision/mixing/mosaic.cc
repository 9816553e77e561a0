#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/ragged_columns.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/mixing/batch_images.h"
#include "kernels/vision/mixing/mosaic_boxes.h"
#include "kernels/vision/mixing/mosaic_draws.h"

namespace headrace {
namespace {

constexpr size_t kFirstLabels = 3;

// Images, boxes with their splits, then columns of labels, each with its splits.
absl::Status CheckNumberOfColumns(size_t given) {
  if (given >= kFirstLabels && given % 2 == 1) return absl::OkStatus();
  return GraphError(
      "takes images, boxes and their splits, and then columns of labels, each with its splits: [\"image\", \"boxes\", "
      "\"boxes_splits\", \"label\", \"label_splits\"] above batch(…, ragged=\"splits\"); got columns: ",
      given);
}

absl::Status NotSplits(std::string_view got) {
  return GraphError("needs after each column its splits, int64 of shape (B + 1,), as batch(…, ragged=\"splits\") ",
                    "makes them: \"boxes\", \"boxes_splits\"; got ", got);
}

// Masks of single boxes would have to move with the pixels.
absl::Status CheckNoMasks(const Tensor& images, const BatchImages& layout, const Tensor& labels) {
  const bool masks = labels.rank() == 3 && labels.dim(1) == layout.HeightOf(images) &&
                     labels.dim(2) == layout.WidthOf(images) && layout.HeightOf(images) > 1;
  if (!masks) return absl::OkStatus();
  return GraphError("moves images and boxes, and these seem to be masks of single boxes: leave them out of the batch; ",
                    "got ", labels.TypeName());
}

absl::StatusOr<Tensor> SplitsOf(const Tensor& given, const Tensor& values, int64_t rows) {
  if (given.dtype() != DType::kInt64 || given.rank() != 1) return NotSplits(given.TypeName());
  HEADRACE_ASSIGN_OR_RETURN(Tensor splits, given.Contiguous());
  HEADRACE_RETURN_IF_ERROR(ir::CheckSplits(splits, values));
  if (splits.dim(0) == rows + 1) return splits;
  return GraphError("needs the splits of as many rows as there are images, ", rows, "; got ", splits.TypeName());
}

absl::Span<const int64_t> NumbersOf(const Tensor& splits) {
  return {splits.data<int64_t>(), static_cast<size_t>(splits.dim(0))};
}

absl::Status CheckOneLabelABox(absl::Span<const int64_t> boxes, absl::Span<const int64_t> labels, size_t input) {
  for (size_t row = 0; row + 1 < boxes.size(); ++row) {
    const int64_t count = boxes[row + 1] - boxes[row];
    if (labels[row + 1] - labels[row] == count) continue;
    return DataError("each column after the boxes needs one element for each box; input ", input, " has ",
                     labels[row + 1] - labels[row], " in row ", row, " of the batch, which has so many boxes: ", count);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Taken(const Tensor& labels, const std::vector<int64_t>& sources, OutputAllocator& output) {
  if (IsVariableLength(labels.dtype())) {
    std::vector<Tensor> rows;
    for (const int64_t source : sources) rows.push_back(labels.Index(source));
    if (rows.empty()) return labels.Slice(0, 0, 0);
    return Stack(rows);
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, labels.Contiguous());
  Shape shape = labels.shape();
  const size_t bytes = shape[0] == 0 ? 0 : dense.bytes() / static_cast<size_t>(shape[0]);
  shape[0] = static_cast<int64_t>(sources.size());
  HEADRACE_ASSIGN_OR_RETURN(Tensor taken, output.Allocate(labels.dtype(), shape));
  uint8_t* target = taken.mutable_raw();
  for (const int64_t source : sources) {
    if (bytes > 0) std::memcpy(target, dense.raw() + static_cast<size_t>(source) * bytes, bytes);
    target += bytes;
  }
  return taken;
}

// Each column has memory of its own, as users may write to what nothing else shares.
absl::Status AddSplits(const std::vector<int64_t>& splits, OutputAllocator& output, Tensors& outputs) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, output.Allocate(DType::kInt64, {static_cast<int64_t>(splits.size())}));
  std::memcpy(tensor.mutable_raw(), splits.data(), splits.size() * sizeof(int64_t));
  outputs.push_back(std::move(tensor));
  return absl::OkStatus();
}

class Mosaic : public Kernel {
 public:
  Mosaic(const ir::Attributes& attributes, Interval centers)
      : layout_(attributes),
        options_{.p = attributes.Float("p"), .centers = centers},
        least_{.size = attributes.Float("min_size"), .visibility = attributes.Float("min_visibility")} {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_RETURN_IF_ERROR(CheckNumberOfColumns(inputs.size()));
    HEADRACE_RETURN_IF_ERROR(layout_.Check(inputs[0]));
    HEADRACE_ASSIGN_OR_RETURN(const Tensor images, inputs[0].Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<Box> boxes, RowsOfFour(inputs[1]));
    HEADRACE_ASSIGN_OR_RETURN(const Tensor splits, SplitsOf(inputs[2], inputs[1], images.dim(0)));
    HEADRACE_RETURN_IF_ERROR(CheckLabels(inputs, images, splits));
    const int64_t height = layout_.HeightOf(images);
    const int64_t width = layout_.WidthOf(images);
    const std::vector<RowMosaic> mosaics =
        DrawMosaics(images.dim(0), height, width, options_, context.fillers(), context.random());
    const MosaicBoxes found = MosaicBoxes::Of(mosaics, height, width, boxes, NumbersOf(splits), least_);

    Tensors outputs(1);
    HEADRACE_ASSIGN_OR_RETURN(outputs[0], Joined(images, mosaics, context));
    HEADRACE_ASSIGN_OR_RETURN(Tensor moved, TensorOfRows(found.boxes, inputs[1].dtype(), context.output()));
    outputs.push_back(std::move(moved));
    HEADRACE_RETURN_IF_ERROR(AddSplits(found.splits, context.output(), outputs));
    for (size_t i = kFirstLabels; i < inputs.size(); i += 2) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor taken, Taken(inputs[i], found.sources, context.output()));
      outputs.push_back(std::move(taken));
      HEADRACE_RETURN_IF_ERROR(AddSplits(found.splits, context.output(), outputs));
    }
    return outputs;
  }

 private:
  absl::Status CheckLabels(absl::Span<const Tensor> inputs, const Tensor& images, const Tensor& splits) const {
    for (size_t i = kFirstLabels; i < inputs.size(); i += 2) {
      HEADRACE_RETURN_IF_ERROR(CheckNoMasks(images, layout_, inputs[i]));
      HEADRACE_ASSIGN_OR_RETURN(const Tensor own, SplitsOf(inputs[i + 1], inputs[i], images.dim(0)));
      HEADRACE_RETURN_IF_ERROR(CheckOneLabelABox(NumbersOf(splits), NumbersOf(own), i));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Joined(const Tensor& images, const std::vector<RowMosaic>& mosaics,
                                KernelContext& context) const {
    HEADRACE_ASSIGN_OR_RETURN(Tensor joined, context.AllocateOutput(images.dtype(), images.shape()));
    const size_t bytes = images.bytes() / mosaics.size();
    for (size_t row = 0; row < mosaics.size(); ++row) {
      uint8_t* const target = joined.mutable_raw() + row * bytes;
      if (!mosaics[row].joined) std::memcpy(target, images.raw() + row * bytes, bytes);
      for (int tile = 0; mosaics[row].joined && tile < RowMosaic::kTiles; ++tile) {
        CopyTile(images, mosaics[row], tile, target);
      }
    }
    return joined;
  }

  void CopyTile(const Tensor& images, const RowMosaic& mosaic, int tile, uint8_t* target) const {
    const int64_t height = layout_.HeightOf(images);
    const int64_t width = layout_.WidthOf(images);
    const int64_t planes = layout_.channels_first() ? images.dim(1) : 1;
    const int64_t image_bytes = static_cast<int64_t>(images.bytes()) / images.dim(0);
    const int64_t row_bytes = image_bytes / planes / height;
    const int64_t pixel_bytes = row_bytes / width;
    const Window window = mosaic.WindowOf(tile, height, width);
    const uint8_t* const source = images.raw() + mosaic.rows[static_cast<size_t>(tile)] * image_bytes;
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t y = window.top; y < window.top + window.height; ++y) {
        const int64_t from = (plane * height + y - mosaic.TopOf(tile, height)) * row_bytes +
                             (window.left - mosaic.LeftOf(tile, width)) * pixel_bytes;
        const int64_t to = (plane * height + y) * row_bytes + window.left * pixel_bytes;
        std::memcpy(target + to, source + from, static_cast<size_t>(window.width * pixel_bytes));
      }
    }
  }

  BatchImages layout_;
  MosaicOptions options_;
  LeastBox least_;
};

absl::Status CheckSplitsType(const ir::ColumnType& type) {
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  const bool fits = (unknown || type.dtype == DType::kInt64) && (!type.shape || type.shape->size() == 1);
  return fits ? absl::OkStatus() : NotSplits(ir::TypeName(type));
}

// Of what has another number of elements.
ir::ColumnType OfOtherLength(ir::ColumnType type) {
  if (type.shape && !type.shape->empty()) (*type.shape)[0] = ir::kUnknownDim;
  return type;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferMosaic(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(Interval::Of(attributes, "center_range").status());
  HEADRACE_RETURN_IF_ERROR(CheckNumberOfColumns(inputs.size()));
  HEADRACE_RETURN_IF_ERROR(BatchImages(attributes).CheckType(inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType boxes, RowsOfFourType(inputs[1], 0));
  std::vector<ir::ColumnType> types = {inputs[0], OfOtherLength(boxes)};
  for (size_t i = 2; i < inputs.size(); ++i) {
    const bool splits = i % 2 == 0;
    if (splits) HEADRACE_RETURN_IF_ERROR(CheckSplitsType(inputs[i]));
    if (!splits && inputs[i].shape && inputs[i].shape->empty()) return NotSplits(ir::TypeName(inputs[i]));
    types.push_back(splits ? inputs[i] : OfOtherLength(inputs[i]));
  }
  return types;
}

const KernelRegistration mosaic_registration{
    {.name = "Mosaic",
     .summary = "Joins four images of a batch in each of its images, with their boxes.",
     .doc =
         "Above `batch(…, ragged=\"splits\")`, over images of any type of fixed size, of shape (B, C, H, W), or (B, H, "
         "W, C) or (B, H, W) with layout='HWC', boxes of shape (n, 4), left, top, right and bottom in pixels, and "
         "boxes_splits; then columns with one element for each box, such as labels, each with its splits. Gives "
         "columns of the same types. Each image becomes a mosaic of itself and three others of the batch, which meet "
         "at "
         "a point drawn for each row, each with one of its corners, in an order drawn too: the mosaic of YOLOv4, and "
         "that of YOLOv5 cut to the size of an image. No pixel is scaled or filled.\n"
         "Boxes are those of the four images, moved, cut off at the edges of their image's part, and left out, with "
         "their labels, where less is left than `min_size` and `min_visibility` say.\n"
         "The three others are different rows where the batch has four, else any of its rows. Rows that even='pad' "
         "repeats (`_pad`) stay as they are and are in no mosaic. The result depends on which rows meet in the batch, "
         "so "
         "on the number of ranks. `unbatch` gives rows for a map with hr.boxes(…).\n"
         "Errors: images of another rank, with layout='CHW' those whose channels seem to be last, boxes of another "
         "type, "
         "splits of another number of rows, another number of labels than of boxes, and masks of "
         "single "
         "boxes, (n, H, W), which it does not move.",
     .min_inputs = 3,
     .max_inputs = -1,
     .attributes = {{.name = "p",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The chance of a mosaic, for each row; another stays as it is.",
                     .default_value = "1.0",
                     .minimum = 0,
                     .maximum = 1},
                    {.name = "center_range",
                     .type = ir::AttributeType::kFloats,
                     .doc = "Where the images meet, from and to, as parts of width and height.",
                     .default_value = "(0.2, 0.8)",
                     .minimum = 0,
                     .maximum = 1,
                     .lengths = {2}},
                    {.name = "min_size",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The least width and height of what is left of a box, in pixels.",
                     .default_value = "1.0",
                     .minimum = 0},
                    {.name = "min_visibility",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The least share of its area that is left of a box.",
                     .default_value = "0.0",
                     .minimum = 0,
                     .maximum = 1},
                    BatchImages::LayoutAttribute()},
     .traits = {.random = true, .by_batch = true, .keeps_classes = true},
     .python_module = "vision",
     .example = "V.Mosaic(layout=\"HWC\", min_visibility=0.1)",
     .sample = {.attributes = {{"layout", "'HWC'"}}},
     .infer_kernel = InferMosaic,
     .takes_layout = BatchImages::TakesLayout},
    [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      HEADRACE_ASSIGN_OR_RETURN(const Interval centers, Interval::Of(attributes, "center_range"));
      return std::make_unique<Mosaic>(attributes, centers);
    }};

}  // namespace
}  // namespace headrace
