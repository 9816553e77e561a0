#include "kernels/vision/mixing/batch_mixing.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "kernels/companion.h"
#include "kernels/numbers/convert.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

constexpr int64_t kRecordNumbers = 8;

absl::Status NotLabels(std::string_view got) {
  return GraphError("needs labels that are whole numbers of shape (B,), or numbers of shape (B, num_classes); got ",
                    got);
}

absl::Status NoClasses(std::string_view got) {
  return GraphError("num_classes is None, but the labels are class numbers, ", got,
                    "; write how many classes there are");
}

absl::StatusOr<Tensor> OneHot(const Tensor& labels, int64_t classes) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor hot, Tensor::Allocate(DType::kFloat32, {labels.dim(0), classes}));
  float* const values = hot.mutable_data<float>();
  std::fill_n(values, hot.elements(), 0.0f);
  absl::Status status;
  VisitNumber(labels.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* const numbers = labels.data<T>();
      for (int64_t i = 0; i < labels.dim(0); ++i) {
        if (numbers[i] < 0 || static_cast<uint64_t>(numbers[i]) >= static_cast<uint64_t>(classes)) {
          status = DataError("the label of row ", i, " of the batch is not one of 0 … ", classes - 1,
                             " (num_classes=", classes, "): ", static_cast<int64_t>(numbers[i]));
          return;
        }
        values[i * classes + static_cast<int64_t>(numbers[i])] = 1;
      }
    }
  });
  HEADRACE_RETURN_IF_ERROR(status);
  return hot;
}

absl::StatusOr<Tensor> AsVectors(const Tensor& labels, std::optional<int64_t> classes) {
  if (labels.rank() == 1 && IsInteger(labels.dtype())) {
    if (!classes.has_value()) return NoClasses(labels.TypeName());
    return OneHot(labels, *classes);
  }
  if (labels.rank() != 2 || ItemSize(labels.dtype()) == 0) return NotLabels(labels.TypeName());
  if (classes.has_value() && labels.dim(1) != *classes) {
    return GraphError("num_classes is ", *classes, ", but the labels are vectors of ", labels.dim(1));
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor floats, Tensor::Allocate(DType::kFloat32, labels.shape()));
  ConvertValues(labels.raw(), labels.dtype(), labels.elements(), DType::kFloat32, floats.mutable_raw());
  return floats;
}

absl::StatusOr<Tensor> MixedLabels(const MixingBatch& batch, const MixingOptions& options,
                                   absl::Span<const RowMixture> rows) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor own, AsVectors(batch.labels, options.classes));
  HEADRACE_ASSIGN_OR_RETURN(Tensor mixed, Tensor::Allocate(DType::kFloat32, own.shape()));
  BlendRows(rows, own.data<float>(), own.dim(1), mixed.mutable_data<float>());
  return mixed;
}

}  // namespace

void BlendRows(absl::Span<const RowMixture> rows, const float* values, int64_t length, float* target) {
  const float* own = values;
  for (const RowMixture& row : rows) {
    if (row.partner == kAlone) {
      std::copy_n(own, length, target);
    } else {
      const float* const other = values + row.partner * length;
      const auto of_own = static_cast<float>(row.weight);
      const auto of_partner = static_cast<float>(1 - row.weight);
      for (int64_t k = 0; k < length; ++k) target[k] = other[k] * of_partner + own[k] * of_own;
    }
    own += length;
    target += length;
  }
}

std::vector<int64_t> MixingPartners(int64_t rows, absl::Span<const bool> fillers) {
  std::vector<int64_t> partners(static_cast<size_t>(rows), kAlone);
  int64_t before = kAlone;
  int64_t first = kAlone;
  for (int64_t i = 0; i < rows; ++i) {
    if (!fillers.empty() && fillers[static_cast<size_t>(i)]) continue;
    if (first == kAlone) first = i;
    partners[static_cast<size_t>(i)] = before;
    before = i;
  }
  if (first != kAlone) partners[static_cast<size_t>(first)] = before;
  return partners;
}

absl::StatusOr<MixingBatch> MixingBatch::Of(absl::Span<const Tensor> inputs, int least_rank) {
  if (inputs.size() != 2) return GraphError("needs two columns, images and labels; got ", inputs.size());
  const Tensor& images = inputs[0];
  if (ItemSize(images.dtype()) == 0 || images.rank() < least_rank) {
    return GraphError("needs a batch of images as its first column; got ", images.TypeName());
  }
  if (inputs[1].rank() == 0 || inputs[1].dim(0) != images.dim(0)) {
    return GraphError("needs as many labels as images; got ", images.TypeName(), " and ", inputs[1].TypeName());
  }
  MixingBatch batch;
  HEADRACE_ASSIGN_OR_RETURN(batch.images, images.Contiguous());
  HEADRACE_ASSIGN_OR_RETURN(batch.labels, inputs[1].Contiguous());
  batch.rows = images.dim(0);
  return batch;
}

MixingOptions::MixingOptions(const ir::Attributes& attributes)
    : alpha(attributes.Float("alpha")), by_row(attributes.String("per") == "row") {
  if (!attributes.IsNone("num_classes")) classes = attributes.Int("num_classes");
}

std::vector<ir::Attribute> MixingOptions::Declared() {
  return {{.name = "alpha",
           .type = ir::AttributeType::kFloat,
           .doc = "Both parameters of the beta distribution of the weight.",
           .default_value = "1.0",
           // Beyond these the methods of DrawBeta leave the range of a double.
           .minimum = 1e-6,
           .maximum = 1e6},
          {.name = "num_classes",
           .type = ir::AttributeType::kInt,
           .doc = "The number of classes; None: the labels are vectors already.",
           .default_value = "None",
           .nullable = true,
           .minimum = 1,
           .maximum = 1 << 30},
          {.name = "per",
           .type = ir::AttributeType::kString,
           .doc = "What draws once: the batch, or each row for itself.",
           .default_value = "'batch'",
           .choices = {"batch", "row"}}};
}

absl::StatusOr<BatchMixture> BatchMixture::Of(const MixingBatch& batch, const MixingOptions& options,
                                              absl::Span<const bool> fillers, absl::FunctionRef<RowMixture()> draw) {
  const std::vector<int64_t> partners = MixingPartners(batch.rows, fillers);
  BatchMixture mixture;
  mixture.rows.resize(partners.size());
  RowMixture drawn;
  if (!options.by_row) drawn = draw();
  for (size_t i = 0; i < partners.size(); ++i) {
    if (options.by_row && partners[i] != kAlone) drawn = draw();
    mixture.rows[i] = drawn;
    mixture.rows[i].partner = partners[i];
  }
  HEADRACE_ASSIGN_OR_RETURN(mixture.labels, MixedLabels(batch, options, mixture.rows));
  return mixture;
}

absl::StatusOr<Tensor> BatchMixture::Records(OutputAllocator& output) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor records,
                            output.Allocate(DType::kInt32, {static_cast<int64_t>(rows.size()), kRecordNumbers}));
  int32_t* record = records.mutable_data<int32_t>();
  for (const RowMixture& row : rows) {
    record[0] = static_cast<int32_t>(row.partner);
    record[1] = std::bit_cast<int32_t>(static_cast<float>(row.weight));
    record[2] = std::bit_cast<int32_t>(static_cast<float>(1 - row.weight));
    record[3] = 0;
    record[4] = static_cast<int32_t>(row.box.left);
    record[5] = static_cast<int32_t>(row.box.top);
    record[6] = static_cast<int32_t>(row.box.width);
    record[7] = static_cast<int32_t>(row.box.height);
    record += kRecordNumbers;
  }
  return records;
}

absl::StatusOr<Tensors> MixingPlan::Apply(absl::Span<const Tensor> inputs, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(BatchMixture mixture, Draw(inputs, context));
  HEADRACE_ASSIGN_OR_RETURN(Tensor records, mixture.Records(context.output()));
  return Tensors{std::move(records), std::move(mixture.labels)};
}

ir::Declaration MixingDeclaration(ir::Declaration own) {
  std::vector<ir::Attribute> attributes = MixingOptions::Declared();
  attributes.insert(attributes.end() - 1, own.attributes.begin(), own.attributes.end());
  own.attributes = std::move(attributes);
  own.min_inputs = 2;
  own.max_inputs = 2;
  own.traits = {.random = true, .by_batch = true, .keeps_classes = true};
  own.python_module = "vision";
  own.sample.attributes.insert(own.sample.attributes.begin(), {"num_classes", "5"});
  own.sample.inputs = {ir::SampleInput::kImages, ir::SampleInput::kClasses};
  return own;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferMixture(const ir::Attributes& attributes,
                                                         absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ir::ColumnType> mixed, InferMixing(attributes, inputs));
  return std::vector{ir::ColumnType::Of(DType::kInt32, {(*mixed[1].shape)[0], kRecordNumbers}), mixed[1]};
}

ir::Declaration MixtureDeclaration(const ir::Declaration& mixing) {
  ir::Declaration mixture = CompanionOf(mixing, ir::CompanionRole::kDraws);
  mixture.summary = Cat("Says how ", mixing.name, " mixes the images of a batch, and mixes their labels.");
  mixture.doc = Cat("Has the attributes of ", mixing.name,
                    " and draws the same numbers; takes a batch of images (B, H, W, C) of any type, and labels. Gives "
                    "int32 of shape (B, 8) and the labels.\nErrors: those of ",
                    mixing.name, ", but for the type of images.");
  mixture.min_inputs = mixing.min_inputs;
  mixture.max_inputs = mixing.max_inputs;
  mixture.traits = mixing.traits;
  mixture.example = "ds.to_device(\"cuda:0\")";
  mixture.sample = mixing.sample;
  mixture.infer_kernel = InferMixture;
  return mixture;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferMixing(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  const MixingOptions options(attributes);
  const ir::ColumnType& images = inputs[0];
  const ir::ColumnType& labels = inputs[1];
  if (IsVariableLength(images.dtype) || !images.fields.empty()) {
    return GraphError("needs a batch of images as its first column; got ", ir::TypeName(images));
  }
  const bool known = labels.dtype != DType::kUnknown && labels.shape.has_value();
  const bool numbers = known && labels.shape->size() == 1 && IsInteger(labels.dtype);
  const bool vectors = known && labels.shape->size() == 2 && ItemSize(labels.dtype) > 0;
  if (!labels.fields.empty() || IsVariableLength(labels.dtype) || (known && !numbers && !vectors)) {
    return NotLabels(ir::TypeName(labels));
  }
  if (numbers && !options.classes.has_value()) return NoClasses(ir::TypeName(labels));
  Shape shape = {ir::kUnknownDim, options.classes.value_or(ir::kUnknownDim)};
  if (known) shape[0] = (*labels.shape)[0];
  if (vectors) {
    const int64_t length = (*labels.shape)[1];
    if (options.classes.has_value() && length != ir::kUnknownDim && length != *options.classes) {
      return GraphError("num_classes is ", *options.classes, ", but the labels are vectors of ", length);
    }
    if (!options.classes.has_value()) shape[1] = length;
  }
  return std::vector{images, ir::ColumnType::Of(DType::kFloat32, shape)};
}

}  // namespace headrace
