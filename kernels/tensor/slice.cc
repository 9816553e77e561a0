#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/tensor/axis.h"

namespace headrace {
namespace {

// Python's start:stop:step on one axis, or chosen positions of it.
struct SliceRange {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  int64_t step = 1;
  std::optional<std::vector<int64_t>> indices;

  static absl::StatusOr<SliceRange> Of(const ir::Attributes& attributes) {
    SliceRange range;
    if (!attributes.IsNone("start")) range.start = attributes.Int("start");
    if (!attributes.IsNone("stop")) range.stop = attributes.Int("stop");
    range.step = attributes.Int("step");
    if (!attributes.IsNone("indices")) range.indices = attributes.Ints("indices");
    if (range.step == 0) return GraphError("step = 0 keeps no position; it must be above or below 0");
    const bool ranges = range.start.has_value() || range.stop.has_value() || range.step != 1;
    if (!range.indices.has_value() || !ranges) return range;
    return GraphError("has indices and a range of start, stop and step; give one of the two");
  }
};

// The positions kept: each `step` after the one before, or those listed.
struct Positions {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t step = 1;
  std::vector<int64_t> listed = {};

  int64_t At(int64_t i) const { return listed.empty() ? begin + i * step : listed[static_cast<size_t>(i)]; }
  bool all_of(int64_t size) const { return listed.empty() && step > 0 && count == size; }
};

// Counts negative ends from the last element and limits both to the axis, as Python does.
Positions PositionsInRange(const SliceRange& range, int64_t size) {
  const bool forward = range.step > 0;
  const int64_t least = forward ? 0 : -1;
  const int64_t most = forward ? size : size - 1;
  const auto at = [&](std::optional<int64_t> end, int64_t otherwise) {
    if (!end) return otherwise;
    return std::clamp<int64_t>(*end < 0 ? *end + size : *end, least, most);
  };
  const int64_t begin = at(range.start, forward ? 0 : size - 1);
  const int64_t end = at(range.stop, forward ? size : -1);
  const int64_t span = forward ? end - begin : begin - end;
  const int64_t step = forward ? range.step : -range.step;
  return {begin, span <= 0 ? 0 : (span - 1) / step + 1, range.step};
}

absl::StatusOr<Positions> PositionsIn(const SliceRange& range, int64_t size) {
  if (!range.indices.has_value()) return PositionsInRange(range, size);
  Positions positions;
  positions.count = static_cast<int64_t>(range.indices->size());
  for (const int64_t index : *range.indices) {
    if (index < -size || index >= size) {
      return GraphError("indices hold ", index, ", and the axis has ", size, " positions");
    }
    positions.listed.push_back(index < 0 ? index + size : index);
  }
  return positions;
}

// Calls `copy(first element)` for each run of `inner` elements that the slice keeps, in order.
template <typename Copy>
void ForEachRun(const AxisSplit& split, const Positions& positions, Copy copy) {
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t i = 0; i < positions.count; ++i) copy((outer * split.size + positions.At(i)) * split.inner);
  }
}

absl::StatusOr<Tensor> SliceOfTexts(const Tensor& input, int axis, const Positions& positions, const Shape& shape) {
  const AxisSplit split = SplitAt(input.shape(), axis);
  std::vector<std::string_view> elements;
  ForEachRun(split, positions, [&](int64_t first) {
    for (int64_t i = 0; i < split.inner; ++i) elements.push_back(input.bytes_at(first + i));
  });
  return Tensor::CopyBytesArray(input.dtype(), shape, elements);
}

absl::StatusOr<Tensor> SliceOfNumbers(const Tensor& input, int axis, const Positions& positions, const Shape& shape,
                                      KernelContext& context) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(input.dtype(), shape));
  const AxisSplit split = SplitAt(input.shape(), axis);
  const size_t item = ItemSize(input.dtype());
  uint8_t* target = output.mutable_raw();
  ForEachRun(split, positions, [&](int64_t first) {
    std::memcpy(target, dense.raw() + first * item, split.inner * item);
    target += split.inner * item;
  });
  return output;
}

class Slice : public UnaryKernel {
 public:
  Slice(SliceRange range, int64_t axis) : range_(std::move(range)), axis_(axis) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(SliceRange range, SliceRange::Of(attributes));
    return std::make_unique<Slice>(std::move(range), attributes.Int("axis"));
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const int axis, ResolveAxis(axis_, input.rank()));
    HEADRACE_ASSIGN_OR_RETURN(const Positions positions, PositionsIn(range_, input.dim(axis)));
    if (positions.all_of(input.dim(axis))) return input;
    Shape shape = input.shape();
    shape[axis] = positions.count;
    if (IsVariableLength(input.dtype())) return SliceOfTexts(input, axis, positions, shape);
    if (!range_.indices.has_value() && range_.step == 1) return input.Slice(axis, positions.begin, positions.count);
    return SliceOfNumbers(input, axis, positions, shape, context);
  }

 private:
  const SliceRange range_;
  const int64_t axis_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSlice(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  HEADRACE_ASSIGN_OR_RETURN(const SliceRange range, SliceRange::Of(attributes));
  if (!type.fields.empty()) return GraphError("needs a tensor; got ", ir::TypeName(type));
  if (!type.shape) return std::vector{type};
  HEADRACE_ASSIGN_OR_RETURN(const int axis, ResolveAxis(attributes.Int("axis"), static_cast<int>(type.shape->size())));
  int64_t& size = (*type.shape)[axis];
  if (size != ir::kUnknownDim) {
    HEADRACE_ASSIGN_OR_RETURN(const Positions positions, PositionsIn(range, size));
    size = positions.count;
  } else if (range.indices.has_value()) {
    size = static_cast<int64_t>(range.indices->size());
  }
  return std::vector{type};
}

// For every row, even of unknown length; but the rank must be known, because a missing axis is an error.
bool TakesEverything(const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  if (!type.shape) return false;
  const absl::StatusOr<int> axis = ResolveAxis(attributes.Int("axis"), static_cast<int>(type.shape->size()));
  if (!axis.ok()) return false;
  const absl::StatusOr<SliceRange> range = SliceRange::Of(attributes);
  if (!range.ok() || range->indices.has_value()) return false;
  if (range->start.value_or(0) == 0 && !range->stop && range->step == 1) return true;
  const int64_t size = (*type.shape)[*axis];
  return size != ir::kUnknownDim && PositionsInRange(*range, size).all_of(size);
}

const KernelRegistration slice_registration{
    {.name = "Slice",
     .summary = "Keeps a range of one axis, or chosen positions of it.",
     .doc =
         "Takes tensors of any type with at least one axis and gives x[start:stop:step] along `axis`, as Python and "
         "NumPy do: negative ends count from the last element, ends beyond the axis are cut off, the range may be "
         "empty, and a negative step goes backwards. With `indices` it gives the positions listed, in that order, as "
         "numpy.take. Several axes take one Slice each. With step 1 no numbers are copied.\n"
         "Errors: an axis that does not exist; an index beyond the axis; a step of 0; indices beside start, stop or "
         "step.",
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
                     .doc = "The distance of consecutive kept positions; below 0: backwards.",
                     .default_value = "1",
                     .minimum = -1e15,
                     .maximum = 1e15},
                    {.name = "axis",
                     .type = ir::AttributeType::kInt,
                     .doc = "Which axis; negative ones count from the last.",
                     .default_value = "0"},
                    {.name = "indices",
                     .type = ir::AttributeType::kInts,
                     .doc = "The positions kept, in this order and perhaps several times; negative ones count from "
                            "the last. None: those of the range.",
                     .default_value = "None",
                     .nullable = true,
                     .length = ir::ListLength{.least = 0}}},
     .python_module = "transforms",
     .example = "T.Slice(0, 10)",
     .sample = {.attributes = {{"start", "1"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferSlice,
     .is_kernel_identity = TakesEverything},
    Slice::Make};

}  // namespace
}  // namespace headrace
