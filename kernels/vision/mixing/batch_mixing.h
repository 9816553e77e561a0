// `BatchMixture` says how the rows of a batch are mixed: which rows meet, by what weights, and with which labels. Use
// it in kernels that mix images, with `MixingDeclaration`, and with `MixingPlan` in those that only draw.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_MIXING_BATCH_MIXING_H_
#define HEADRACE_KERNELS_VISION_MIXING_BATCH_MIXING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/window.h"

namespace headrace {

// A row that is not mixed.
inline constexpr int64_t kAlone = -1;

// For each row its partner: the row before it, and for the first one the last, among the rows that are not marked in
// `fillers` (KernelContext). A marked row is alone.
std::vector<int64_t> MixingPartners(int64_t rows, absl::Span<const bool> fillers);

// Images and labels of one batch, as a kernel gets them.
struct MixingBatch {
  // Dense. kGraph if they are not two tensors with equally many rows, or `least_rank` is not reached.
  static absl::StatusOr<MixingBatch> Of(absl::Span<const Tensor> inputs, int least_rank);

  Tensor images;
  Tensor labels;
  int64_t rows = 0;
};

// The attributes of both kernels.
struct MixingOptions {
  explicit MixingOptions(const ir::Attributes& attributes);
  static std::vector<ir::Attribute> Declared();

  double alpha;
  std::optional<int64_t> classes;  // nullopt: labels are vectors already
  bool by_row;                     // each row draws its own weight
};

// How a row is mixed: `weight` · own + (1 - weight) · partner's, or the partner's `box` in its place.
struct RowMixture {
  int64_t partner = kAlone;
  double weight = 1;
  Window box = {};
};

// Blends rows of so many `values` each by their weights, each operation rounded to float32; a row alone is copied.
void BlendRows(absl::Span<const RowMixture> rows, const float* values, int64_t length, float* target);

// How the rows of a batch are mixed.
struct BatchMixture {
  // Weight and box are of `draw`: called once for the batch, or once for each row that is not alone, in their order.
  static absl::StatusOr<BatchMixture> Of(const MixingBatch& batch, const MixingOptions& options,
                                         absl::Span<const bool> fillers, absl::FunctionRef<RowMixture()> draw);

  // For who mixes the images elsewhere: eight numbers of 32 bits a row, which are the partner, or -1, the weights of
  // the row and of its partner as float32, 0, and the box's left, top, width and height.
  absl::StatusOr<Tensor> Records(OutputAllocator& output) const;

  std::vector<RowMixture> rows;
  // float32 (B, classes): blended (BlendRows) from one-hot vectors. Of class numbers of shape (B,), or numbers of shape
  // (B, classes): Of gives kData for a class that there is not, kGraph for other types.
  Tensor labels;
};

// Of Records, and of the labels.
absl::StatusOr<std::vector<ir::ColumnType>> InferMixture(const ir::Attributes& attributes,
                                                         absl::Span<const ir::ColumnType> inputs);

// A kernel that draws how a batch is mixed, for who mixes the images elsewhere: it gives Records, and the labels.
class MixingPlan : public Kernel {
 public:
  explicit MixingPlan(const ir::Attributes& attributes) : options_(attributes) {}
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const final;

 protected:
  const MixingOptions& options() const { return options_; }
  virtual absl::StatusOr<BatchMixture> Draw(absl::Span<const Tensor> inputs, KernelContext& context) const = 0;

 private:
  MixingOptions options_;
};

// Completes `own` with what the kernels that mix batches declare alike: inputs, traits, module, sample, and the
// attributes of MixingOptions, with those of `own` before `per`.
ir::Declaration MixingDeclaration(ir::Declaration own);

// Declares the kernel that gives Records and labels for `mixing`: it has its attributes, and draws the same numbers.
ir::Declaration MixtureDeclaration(const ir::Declaration& mixing);

// The types of the mixtures; kGraph if no batch of these types can be mixed.
absl::StatusOr<std::vector<ir::ColumnType>> InferMixing(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_MIXING_BATCH_MIXING_H_
