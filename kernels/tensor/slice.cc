#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/tensor/axis.h"

namespace headrace {
namespace {

// Python's start:stop:step on one axis.
struct SliceRange {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  int64_t step = 1;

  static SliceRange Of(const ir::Attributes& attributes) {
    SliceRange range;
    if (!attributes.IsNone("start")) range.start = attributes.Int("start");
    if (!attributes.IsNone("stop")) range.stop = attributes.Int("stop");
    range.step = attributes.Int("step");
    return range;
  }
};

struct Positions {
  int64_t begin = 0;
  int64_t count = 0;
};

// Counts negative ends from the last element and limits both to the axis, as Python does.
Positions PositionsIn(const SliceRange& range, int64_t size) {
  const auto at = [&](std::optional<int64_t> end, int64_t otherwise) {
    if (!end) return otherwise;
    return std::clamp<int64_t>(*end < 0 ? *end + size : *end, 0, size);
  };
  const int64_t begin = at(range.start, 0);
  const int64_t end = std::max(at(range.stop, size), begin);
  return {begin, (end - begin) / range.step + ((end - begin) % range.step != 0)};
}

// Calls `copy(first element)` for each run of `inner` elements that the slice keeps, in order.
template <typename Copy>
void ForEachRun(const AxisSplit& split, Positions positions, int64_t step, Copy copy) {
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t i = 0; i < positions.count; ++i) {
      copy((outer * split.size + positions.begin + i * step) * split.inner);
    }
  }
}

absl::StatusOr<Tensor> SliceOfTexts(const Tensor& input, int axis, Positions positions, int64_t step,
                                    const Shape& shape) {
  const AxisSplit split = SplitAt(input.shape(), axis);
  std::vector<std::string_view> elements;
  ForEachRun(split, positions, step, [&](int64_t first) {
    for (int64_t i = 0; i < split.inner; ++i) elements.push_back(input.bytes_at(first + i));
  });
  return Tensor::CopyBytesArray(input.dtype(), shape, elements);
}

absl::StatusOr<Tensor> SliceOfNumbers(const Tensor& input, int axis, Positions positions, int64_t step,
                                      const Shape& shape, KernelContext& context) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(input.dtype(), shape));
  const AxisSplit split = SplitAt(input.shape(), axis);
  const size_t item = ItemSize(input.dtype());
  uint8_t* target = output.mutable_raw();
  ForEachRun(split, positions, step, [&](int64_t first) {
    std::memcpy(target, dense.raw() + first * item, split.inner * item);
    target += split.inner * item;
  });
  return output;
}

class Slice : public UnaryKernel {
 public:
  explicit Slice(const ir::Attributes& attributes)
      : range_(SliceRange::Of(attributes)), axis_(attributes.Int("axis")) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const int axis, ResolveAxis(axis_, input.rank()));
    const Positions positions = PositionsIn(range_, input.dim(axis));
    if (positions.count == input.dim(axis)) return input;
    Shape shape = input.shape();
    shape[axis] = positions.count;
    if (IsVariableLength(input.dtype())) return SliceOfTexts(input, axis, positions, range_.step, shape);
    if (range_.step == 1) return input.Slice(axis, positions.begin, positions.count);
    return SliceOfNumbers(input, axis, positions, range_.step, shape, context);
  }

 private:
  SliceRange range_;
  int64_t axis_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSlice(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  if (!type.fields.empty()) return GraphError("needs a tensor; got ", ir::TypeName(type));
  if (!type.shape) return std::vector{type};
  HEADRACE_ASSIGN_OR_RETURN(const int axis, ResolveAxis(attributes.Int("axis"), static_cast<int>(type.shape->size())));
  int64_t& size = (*type.shape)[axis];
  if (size != ir::kUnknownDim) size = PositionsIn(SliceRange::Of(attributes), size).count;
  return std::vector{type};
}

// For every row, even of unknown length; but the rank must be known, because a missing axis is an error.
bool TakesEverything(const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  if (!type.shape) return false;
  const absl::StatusOr<int> axis = ResolveAxis(attributes.Int("axis"), static_cast<int>(type.shape->size()));
  if (!axis.ok()) return false;
  const SliceRange range = SliceRange::Of(attributes);
  if (range.start.value_or(0) == 0 && !range.stop && range.step == 1) return true;
  const int64_t size = (*type.shape)[*axis];
  return size != ir::kUnknownDim && PositionsIn(range, size).count == size;
}

const KernelRegistration slice_registration{
    {.name = "Slice",
     .summary = "Keeps a range of one axis.",
     .doc =
         "Takes tensors of any type with at least one axis and gives x[start:stop:step] along `axis`, as Python and "
         "NumPy do: negative ends count from the last element, ends beyond the axis are cut off, and the range may be "
         "empty. Several axes take one Slice each. With step 1 no numbers are copied.\n"
         "Errors: an axis that does not exist.",
     .attributes = {{.name = "start",
                     .type = ir::AttributeType::kInt,
                     .doc = "The first position kept; None: the first there is.",
                     .default_value = "None",
                     .nullable = true},
                    {.name = "stop",
                     .type = ir::AttributeType::kInt,
                     .doc = "The position after the last kept; None: the end.",
                     .default_value = "None",
                     .nullable = true},
                    {.name = "step",
                     .type = ir::AttributeType::kInt,
                     .doc = "The distance of consecutive kept positions.",
                     .default_value = "1",
                     .minimum = 1},
                    {.name = "axis",
                     .type = ir::AttributeType::kInt,
                     .doc = "Which axis; negative ones count from the last.",
                     .default_value = "0"}},
     .python_module = "transforms",
     .example = "T.Slice(0, 10)",
     .sample = {.attributes = {{"start", "1"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferSlice,
     .is_kernel_identity = TakesEverything},
    Makes<Slice>()};

}  // namespace
}  // namespace headrace
