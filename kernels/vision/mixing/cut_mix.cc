#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/beta.h"
#include "kernels/vision/image/window.h"
#include "kernels/vision/mixing/batch_images.h"
#include "kernels/vision/mixing/batch_mixing.h"

namespace headrace {
namespace {

// As torchvision: a centre anywhere, sides of √(1 - weight) of the image's, cut off at its edges.
Window DrawBox(int64_t height, int64_t width, double weight, RowRandom& random) {
  const auto x = static_cast<int64_t>(random.Below(static_cast<uint64_t>(width)));
  const auto y = static_cast<int64_t>(random.Below(static_cast<uint64_t>(height)));
  const double half = 0.5 * std::sqrt(1 - weight);
  const auto half_width = static_cast<int64_t>(half * static_cast<double>(width));
  const auto half_height = static_cast<int64_t>(half * static_cast<double>(height));
  Window box;
  box.left = std::max<int64_t>(x - half_width, 0);
  box.top = std::max<int64_t>(y - half_height, 0);
  box.width = std::min(x + half_width, width) - box.left;
  box.height = std::min(y + half_height, height) - box.top;
  return box;
}

absl::StatusOr<BatchMixture> DrawCutMix(const MixingBatch& batch, int64_t height, int64_t width,
                                        const MixingOptions& options, KernelContext& context) {
  return BatchMixture::Of(batch, options, context.fillers(), [&] {
    RowMixture drawn;
    drawn.box = DrawBox(height, width, DrawBeta(options.alpha, context.random()), context.random());
    const auto pasted = static_cast<double>(drawn.box.height * drawn.box.width);
    drawn.weight = 1 - pasted / static_cast<double>(width * height);
    return drawn;
  });
}

class CutMix : public Kernel {
 public:
  explicit CutMix(const ir::Attributes& attributes) : options_(attributes), layout_(attributes) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const MixingBatch batch, MixingBatch::Of(inputs, layout_.channels_first() ? 4 : 3));
    const Tensor& images = batch.images;
    HEADRACE_RETURN_IF_ERROR(layout_.Check(images));
    const int64_t height = layout_.HeightOf(images);
    const int64_t width = layout_.WidthOf(images);
    HEADRACE_ASSIGN_OR_RETURN(BatchMixture mixture, DrawCutMix(batch, height, width, options_, context));
    HEADRACE_ASSIGN_OR_RETURN(Tensor mixed, context.AllocateOutput(images.dtype(), images.shape()));
    std::memcpy(mixed.mutable_raw(), images.raw(), images.bytes());
    for (int64_t i = 0; i < batch.rows; ++i) {
      const RowMixture& row = mixture.rows[static_cast<size_t>(i)];
      if (row.partner != kAlone)
        Paste(images.Index(row.partner), row.box, width, mixed.mutable_raw() + i * images.Index(i).bytes());
    }
    return Tensors{std::move(mixed), std::move(mixture.labels)};
  }

 private:
  void Paste(const Tensor& image, const Window& box, int64_t width, uint8_t* target) const {
    const int64_t planes = layout_.channels_first() ? image.dim(0) : 1;
    const int64_t height = image.dim(layout_.channels_first() ? 1 : 0);
    const int64_t row_bytes = static_cast<int64_t>(image.bytes()) / planes / height;
    const int64_t pixel_bytes = row_bytes / width;
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t y = box.top; y < box.top + box.height; ++y) {
        const int64_t at = (plane * height + y) * row_bytes + box.left * pixel_bytes;
        std::memcpy(target + at, image.raw() + at, static_cast<size_t>(box.width * pixel_bytes));
      }
    }
  }

  MixingOptions options_;
  BatchImages layout_;
};

// Of images whose channels are last, whatever the layout is when they are mixed.
class CutMixPlan : public MixingPlan {
 public:
  using MixingPlan::MixingPlan;

 protected:
  absl::StatusOr<BatchMixture> Draw(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const MixingBatch batch, MixingBatch::Of(inputs, 4));
    const Tensor& images = batch.images;
    HEADRACE_RETURN_IF_ERROR(BatchImages(false).Check(images));
    return DrawCutMix(batch, images.dim(1), images.dim(2), options(), context);
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferCutMix(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(BatchImages(attributes).CheckType(inputs[0]));
  return InferMixing(attributes, inputs);
}

const ir::Declaration& DeclaredCutMix() {
  static const auto* const declared = new ir::Declaration(MixingDeclaration(
      {.name = "CutMix",
       .summary = "Replaces a rectangle of each image of a batch by that of another, and mixes their labels.",
       .doc =
           "Above `batch`, over two columns: images of any type of fixed size, of shape (B, C, H, W), or (B, H, W, "
           "C) or (B, H, W) with layout='HWC', and labels, whole numbers of shape (B,) or numbers of shape (B, "
           "num_classes). Gives images of the same type and shape, and labels float32 of shape (B, num_classes), "
           "mixed from one-hot vectors by the share of the area: torchvision's CutMix. The other row is the one "
           "before, for the first row the last. w is drawn from Beta(alpha, alpha), and with it a rectangle: its "
           "centre anywhere, its sides sqrt(1 - w) of the image's, cut off at the edges; both once for the batch, or "
           "with per='row' for each row, which is timm's mode 'elem'.\n"
           "Rows that even='pad' repeats (`_pad`) stay as they are and are pasted into none. The result depends on "
           "which rows meet in the batch, so on the number of ranks.\n"
           "Errors: images of another rank, with layout='CHW' images of 3 or 4 columns and more than 4 rows and "
           "channels, whose channels seem to be last, a class outside 0 … num_classes - 1, class numbers without "
           "`num_classes`, unequal numbers of rows.",
       .attributes = {BatchImages::LayoutAttribute()},
       .example = "V.CutMix(alpha=1.0, num_classes=1000)",
       .sample = {.attributes = {{"layout", "'HWC'"}}},
       .infer_kernel = InferCutMix,
       .takes_layout = BatchImages::TakesLayout,
       .companions = {{ir::CompanionRole::kDraws, "CutMixPlan"}},
       .on_device = {.work = ir::DeviceWork::kPastes}}));
  return *declared;
}

const KernelRegistration cut_mix_registration{DeclaredCutMix(), Makes<CutMix>()};
const KernelRegistration cut_mix_plan_registration{MixtureDeclaration(DeclaredCutMix()), Makes<CutMixPlan>()};

}  // namespace
}  // namespace headrace
