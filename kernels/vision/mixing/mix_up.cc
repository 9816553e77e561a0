#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/beta.h"
#include "kernels/vision/mixing/batch_mixing.h"

namespace headrace {
namespace {

absl::Status NotFloats(std::string_view got) {
  return GraphError("mixes float32 images: put Normalize or Rescale before it; got ", got);
}

absl::StatusOr<BatchMixture> DrawMixUp(const MixingBatch& batch, const MixingOptions& options, KernelContext& context) {
  return BatchMixture::Of(batch, options, context.fillers(),
                          [&] { return RowMixture{.weight = DrawBeta(options.alpha, context.random())}; });
}

class MixUp : public Kernel {
 public:
  explicit MixUp(const ir::Attributes& attributes) : options_(attributes) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const MixingBatch batch, MixingBatch::Of(inputs, 1));
    if (batch.images.dtype() != DType::kFloat32) return NotFloats(batch.images.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(BatchMixture mixture, DrawMixUp(batch, options_, context));
    HEADRACE_ASSIGN_OR_RETURN(Tensor images, context.AllocateOutput(DType::kFloat32, batch.images.shape()));
    const int64_t length = batch.rows == 0 ? 0 : batch.images.elements() / batch.rows;
    BlendRows(mixture.rows, batch.images.data<float>(), length, images.mutable_data<float>());
    return Tensors{std::move(images), std::move(mixture.labels)};
  }

 private:
  MixingOptions options_;
};

class MixUpPlan : public MixingPlan {
 public:
  using MixingPlan::MixingPlan;

 protected:
  absl::StatusOr<BatchMixture> Draw(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const MixingBatch batch, MixingBatch::Of(inputs, 1));
    return DrawMixUp(batch, options(), context);
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferMixUp(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> types, InferMixing(attributes, inputs));
  if (types[0].dtype != DType::kFloat32 && types[0].dtype != DType::kUnknown) return NotFloats(ir::TypeName(inputs[0]));
  if (types[0].shape && types[0].shape->empty()) {
    return GraphError("needs a batch of images as its first column; got ", ir::TypeName(inputs[0]));
  }
  types[0].dtype = DType::kFloat32;
  return types;
}

const ir::Declaration& DeclaredMixUp() {
  static const auto* const declared = new ir::Declaration(MixingDeclaration(
      {.name = "MixUp",
       .summary = "Mixes each image of a batch, and its label, with another.",
       .doc =
           "Above `batch`, over two columns: float32 images of shape (B, …), and labels, whole numbers of shape (B,) "
           "or numbers of shape (B, num_classes). Gives images of the same shape, w * own + (1 - w) * other in "
           "float32, and labels float32 of shape (B, num_classes), mixed alike from one-hot vectors: torchvision's "
           "MixUp. The other row is the one before, for the first row the last; w is drawn from Beta(alpha, alpha), "
           "once for the batch, or with per='row' for each row, which is timm's mode 'elem'.\n"
           "Rows that even='pad' repeats (`_pad`) stay as they are and are mixed into none. The result depends on "
           "which rows meet in the batch, so on the number of ranks.\n"
           "Errors: images of another type, a class outside 0 … num_classes - 1, class numbers without "
           "`num_classes`, unequal numbers of rows.",
       .example = "V.MixUp(alpha=0.2, num_classes=1000)",
       .infer_kernel = InferMixUp,
       .companions = {{ir::CompanionRole::kDraws, "MixUpPlan"}},
       .on_device = {.work = ir::DeviceWork::kBlends}}));
  return *declared;
}

const KernelRegistration mix_up_registration{DeclaredMixUp(), Makes<MixUp>()};
const KernelRegistration mix_up_plan_registration{MixtureDeclaration(DeclaredMixUp()), Makes<MixUpPlan>()};

}  // namespace
}  // namespace headrace
