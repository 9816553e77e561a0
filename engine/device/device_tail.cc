#include "engine/device/device_tail.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/printable.h"
#include "core/text.h"
#include "engine/device/byte_mapping.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/parameters.h"
#include "ir/passes/graph_editor.h"
#include "ir/value_text.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

constexpr int kImageRank = 3;
constexpr int64_t kMostImageBytes = int64_t{1} << 31;

struct StepAt {
  int node;
  int step;
};

bool Touches(const ir::proto::Step& step, const std::string& column) {
  const auto in = [&column](const auto& names) { return std::find(names.begin(), names.end(), column) != names.end(); };
  return in(step.inputs()) || in(step.outputs());
}

bool ReplacesColumn(const ir::proto::Step& step, const std::string& column) {
  if (step.inputs_size() != 1 || step.outputs_size() != 1 || step.branches_size() > 0) return false;
  return step.inputs(0) == column && step.outputs(0) == column && !ir::ReadsParameter(step);
}

// Null: a device does nothing in its place.
const ir::OnDevice* OnDeviceOf(const ir::proto::Step& step) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(step.kernel());
  if (declaration == nullptr || declaration->on_device.work == ir::DeviceWork::kNone) return nullptr;
  const ir::OnDevice& on_device = declaration->on_device;
  const bool fits = on_device.with == nullptr || on_device.with(ir::Attributes::Of(step));
  return fits ? &on_device : nullptr;
}

ir::DeviceWork WorkOf(const ir::proto::Step& step) {
  const ir::OnDevice* const on_device = OnDeviceOf(step);
  return on_device == nullptr ? ir::DeviceWork::kNone : on_device->work;
}

// Valid graphs have none after the channels were moved.
bool Flips(const ir::proto::Step& step) { return WorkOf(step) == ir::DeviceWork::kFlips; }
bool Resizes(const ir::proto::Step& step) { return WorkOf(step) == ir::DeviceWork::kResizes; }
bool Erases(const ir::proto::Step& step) { return WorkOf(step) == ir::DeviceWork::kErases; }

Mixing MixingOf(const ir::proto::Step& step) {
  const ir::DeviceWork work = WorkOf(step);
  if (work == ir::DeviceWork::kBlends) return Mixing::kBlend;
  return work == ir::DeviceWork::kPastes ? Mixing::kPaste : Mixing::kNone;
}

// Whether it takes images in that layout: planes, or channels last.
bool TakesLayoutOf(const ir::proto::Step& step, bool planes) {
  return ir::Registry::Global().Find(step.kernel())->TakesImage(ir::Attributes::Of(step), planes);
}

// Whether it mixes the images of a batch with each other, and their labels in another column.
bool MixesColumn(const ir::proto::Step& step, const std::string& column) {
  if (MixingOf(step) == Mixing::kNone || ir::ReadsParameter(step)) return false;
  const auto same = [&step](int i) { return step.inputs(i) == step.outputs(i); };
  return same(0) && same(1) && step.inputs(0) == column && step.inputs(1) != column;
}

// Whether what it gives for an image follows from each byte and its channel alone.
bool MapsBytes(const ir::proto::Step& step) {
  const ir::Traits traits = ir::TraitsOf(step);
  return (traits.pointwise || traits.layout) && traits.deterministic && !traits.random && !traits.python &&
         !traits.by_batch;
}

bool IsImageOfBytes(const ir::ColumnType& type) {
  return type.fully_known() && type.dtype == DType::kUInt8 && type.shape->size() == kImageRank &&
         ElementCount(*type.shape) > 0 && ElementCount(*type.shape) < kMostImageBytes &&
         (*type.shape)[2] <= static_cast<int64_t>(kMostMappedChannels);
}

using DeviceTailSteps = std::vector<const ir::proto::Step*>;

// Images are resized first, then flipped; or they are flipped, then erased, once, in the layout that they have there.
// What is erased is drawn for the size that images have on the host.
bool DrawsInOrder(const DeviceTailSteps& steps) {
  bool erased = false;
  bool planes = false;
  const bool resized = Resizes(*steps.front());
  return std::all_of(steps.begin(), steps.end(), [&](const ir::proto::Step* step) {
    planes = planes || ir::TraitsOf(*step).layout;
    if (Resizes(*step)) return step == steps.front();
    if (!Flips(*step) && !Erases(*step)) return true;
    if (Erases(*step) && !TakesLayoutOf(*step, planes)) return false;
    return !std::exchange(erased, Erases(*step)) && !(erased && resized);
  });
}

// All bytes of each channel: (256, 1, channels).
absl::StatusOr<Tensor> AllBytes(int64_t channels) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor bytes, Tensor::Allocate(DType::kUInt8, Shape{kErased, 1, channels}));
  for (int64_t i = 0; i < bytes.elements(); ++i) bytes.mutable_raw()[i] = static_cast<uint8_t>(i / channels);
  return bytes;
}

// What the steps make of the image.
absl::StatusOr<Tensor> Applied(const std::vector<ir::proto::Step>& steps, Tensor image) {
  for (const ir::proto::Step& step : steps) {
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> kernel,
                              MakeKernel(step.kernel(), ir::Attributes::Of(step)));
    if (kernel->may_warn()) return UnsupportedError("the warnings of ", step.kernel(), " would be lost");
    OutputAllocator output;
    KernelContext context(RowRandom(0, 0), output);
    HEADRACE_ASSIGN_OR_RETURN(Tensors made, kernel->Apply(absl::MakeConstSpan(&image, 1), context));
    image = std::move(made[0]);
  }
  return image.Contiguous();
}

// Sets the attribute as it is where the step always erases the middle one of 3 × 3 pixels.
void EraseMiddle(const ir::proto::Step& step, ir::proto::Attribute& attribute) {
  for (const auto& [name, text] : OnDeviceOf(step)->erases_middle) {
    if (name == attribute.name()) *attribute.mutable_value() = *ir::ParseValue(text);
  }
}

// The steps without those that draw; but with `erases` the one that erases, so that it always erases the middle one of
// 3 × 3 pixels.
std::vector<ir::proto::Step> Certain(const DeviceTailSteps& steps, bool erases) {
  std::vector<ir::proto::Step> certain;
  for (const ir::proto::Step* step : steps) {
    if (Resizes(*step) || Flips(*step) || (Erases(*step) && !erases)) continue;
    certain.push_back(*step);
    if (!Erases(*step)) continue;
    for (ir::proto::Attribute& attribute : *certain.back().mutable_attributes()) EraseMiddle(*step, attribute);
  }
  return certain;
}

// What an erased pixel becomes: an image of 3 × 3 pixels.
absl::StatusOr<Tensor> ErasedImage(const DeviceTailSteps& steps, int64_t channels) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor image, Tensor::Allocate(DType::kUInt8, Shape{3, 3, channels}));
  std::fill_n(image.mutable_raw(), image.bytes(), uint8_t{0});
  return Applied(Certain(steps, true), std::move(image));
}

// Copies value number `from` to number `to` of the table.
void CopyValue(const Tensor& made, int64_t from, Tensor& table, int64_t to) {
  const auto size = static_cast<int64_t>(ItemSize(table.dtype()));
  std::copy_n(made.raw() + from * size, size, table.mutable_raw() + to * size);
}

// Fills in table and planes; false: the steps cannot be a table.
bool MakeTable(const DeviceTailSteps& steps, int64_t channels, DeviceTail& tail) {
  absl::StatusOr<Tensor> bytes = AllBytes(channels);
  if (!bytes.ok()) return false;
  const absl::StatusOr<Tensor> made = Applied(Certain(steps, false), *std::move(bytes));
  if (!made.ok() || IsVariableLength(made->dtype())) return false;
  const size_t size = ItemSize(made->dtype());
  if (size != sizeof(uint16_t) && size != sizeof(uint32_t)) return false;
  tail.planes = made->shape() == Shape{channels, kErased, 1};
  if (!tail.planes && made->shape() != Shape{kErased, 1, channels}) return false;
  const absl::StatusOr<Tensor> erased = ErasedImage(steps, channels);
  if (!erased.ok() || erased->dtype() != made->dtype()) return false;
  absl::StatusOr<Tensor> table = Tensor::Allocate(made->dtype(), Shape{channels, kTableValues});
  if (!table.ok()) return false;
  constexpr int64_t kPixels = 9;
  constexpr int64_t kMiddle = 4;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const int64_t row = channel * kTableValues;
    for (int64_t byte = 0; byte < kErased; ++byte) {
      CopyValue(*made, tail.planes ? channel * kErased + byte : byte * channels + channel, *table, row + byte);
    }
    CopyValue(*erased, tail.planes ? channel * kPixels + kMiddle : kMiddle * channels + channel, *table, row + kErased);
  }
  tail.table = *std::move(table);
  return true;
}

bool AllFinite(const Tensor& floats) {
  return std::all_of(floats.data<float>(), floats.data<float>() + floats.elements(),
                     [](float value) { return std::isfinite(value); });
}

// Whether the step can mix what the tail gives.
bool CanMix(const ir::proto::Step& step, const DeviceTail& tail) {
  if (MixingOf(step) == Mixing::kBlend) return tail.table.dtype() == DType::kFloat32 && AllFinite(tail.table);
  // The rectangle is drawn for the size that images have on the host.
  return !tail.resizes() && TakesLayoutOf(step, tail.planes);
}

class TailTaker {
 public:
  explicit TailTaker(ir::GraphEditor editor) : editor_(std::move(editor)) {}

  absl::StatusOr<DeviceTails> Run() && {
    DeviceTails taken;
    const ir::Schema result = editor_.schema(editor_.size() - 1);
    for (const ir::Column& column : result.columns) {
      DeviceTail tail;
      HEADRACE_ASSIGN_OR_RETURN(const bool found, Take(column, tail));
      if (found) taken.tails.push_back(std::move(tail));
    }
    RemoveTaken();
    HEADRACE_ASSIGN_OR_RETURN(taken.graph, std::move(editor_).Finish());
    return taken;
  }

 private:
  // Steps on the column that nothing after them reads, the last one first.
  struct Candidates {
    std::optional<StepAt> mixing;  // above a batch
    bool batched = false;
    std::vector<StepAt> steps;
  };

  // False: it has none.
  absl::StatusOr<bool> Take(const ir::Column& column, DeviceTail& tail) {
    const Candidates candidates = CandidatesOf(column.name);
    // The longest run of steps to the end that begins with bytes.
    for (auto first = candidates.steps.rbegin(); first != candidates.steps.rend(); ++first) {
      HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType before, TypeBefore(*first, column.name));
      if (!IsImageOfBytes(before)) continue;
      DeviceTailSteps steps;
      for (auto each = first; each != candidates.steps.rend(); ++each) steps.push_back(&StepOf(*each));
      if (!DrawsInOrder(steps) || !MakeTable(steps, before.shape->back(), tail)) continue;
      HEADRACE_ASSIGN_OR_RETURN(const bool sized, SetSize(*first, column.name, before, tail));
      if (!sized) continue;
      if (candidates.mixing.has_value()) {
        steps.push_back(&StepOf(*candidates.mixing));
        if (!CanMix(*steps.back(), tail)) continue;
      }
      tail.column = column.name;
      tail.type = column.type;
      for (const ir::proto::Step* step : steps) Append(tail.steps, tail.steps.empty() ? "" : ", ", step->kernel());
      for (auto each = first; each != candidates.steps.rend(); ++each) Replace(*each, tail);
      if (candidates.mixing.has_value()) ReplaceMixing(*candidates.mixing, tail);
      return true;
    }
    return false;
  }

  // Of images that are resized after the copy. False: that would send more than the values.
  absl::StatusOr<bool> SetSize(const StepAt& first, const std::string& column, const ir::ColumnType& before,
                               DeviceTail& tail) const {
    tail.height = tail.width = 0;
    if (!Resizes(StepOf(first))) return true;
    HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType after, TypeBefore({first.node, first.step + 1}, column));
    if (!IsImageOfBytes(after)) return false;
    tail.height = static_cast<uint32_t>((*after.shape)[0]);
    tail.width = static_cast<uint32_t>((*after.shape)[1]);
    const auto value_bytes = static_cast<int64_t>(ItemSize(tail.table.dtype()));
    return ElementCount(*before.shape) <= ElementCount(*after.shape) * value_bytes;
  }

  const ir::proto::Step& StepOf(const StepAt& at) const { return editor_.node(at.node).steps(at.step); }

  Candidates CandidatesOf(const std::string& column) const {
    Candidates found;
    for (int id = editor_.size() - 1; id >= 0; id = editor_.OwnInput(id)) {
      const ir::proto::Node& node = editor_.node(id);
      if (node.op() == ir::kMapOp) {
        for (int step = node.steps_size() - 1; step >= 0; --step) {
          if (!Touches(node.steps(step), column)) continue;
          if (!AddCandidate({id, step}, column, found)) return found;
        }
        continue;
      }
      // Steps above a batch see it as one array.
      if (!found.steps.empty() || !PassesColumn(id, column, found.batched)) return found;
    }
    return found;
  }

  bool AddCandidate(const StepAt& at, const std::string& column, Candidates& found) const {
    const ir::proto::Step& step = StepOf(at);
    if (!found.batched && !found.mixing.has_value() && found.steps.empty() && MixesColumn(step, column)) {
      found.mixing = at;
      return true;
    }
    if (!ReplacesColumn(step, column) || (!Resizes(step) && !Flips(step) && !Erases(step) && !MapsBytes(step))) {
      return false;
    }
    found.steps.push_back(at);
    return true;
  }

  bool PassesColumn(int id, const std::string& column, bool& batched) const {
    const ir::Traits traits = ir::TraitsOf(editor_.node(id));
    if (traits.python || editor_.node(id).inputs_size() != 1) return false;
    const ir::Schema input = editor_.InputSchemas(id)[0];
    if (Reads(id, input, column)) return false;
    if (!traits.joins_rows) return traits.by_position || traits.repeats;
    const ir::Column* const above = editor_.schema(id).Find(column);
    const ir::Column* const below = input.Find(column);
    if (batched || above == nullptr || below == nullptr) return false;
    if (above->type.ragged || !below->type.fully_known()) return false;
    batched = true;
    return above->type.dtype == below->type.dtype && above->type.shape.has_value() &&
           above->type.shape->size() == below->type.shape->size() + 1;
  }

  // Whether the operator looks at the column for its own decisions, as a bucket by length does.
  bool Reads(int id, const ir::Schema& input, const std::string& column) const {
    const ir::Declaration& declaration = editor_.declaration(id);
    if (declaration.reads == nullptr) return true;
    const auto read = declaration.reads(ir::Attributes::Of(editor_.node(id)), {input}, {});
    return !read.empty() && read[0].count(column) > 0;
  }

  // The type of the column below the step.
  absl::StatusOr<ir::ColumnType> TypeBefore(const StepAt& at, const std::string& column) const {
    ir::Schema schema = editor_.InputSchemas(at.node)[0];
    for (int step = 0; step < at.step; ++step) {
      HEADRACE_RETURN_IF_ERROR(ir::ApplyStep(editor_.node(at.node).steps(step), schema));
    }
    return schema.Find(column)->type;
  }

  // Leaves of the step what it draws.
  void Replace(const StepAt& at, DeviceTail& tail) {
    const ir::proto::Step& step = StepOf(at);
    std::vector<ir::proto::Step>& left = left_[{at.node, at.step}];
    if (Flips(step)) {
      std::string& marks = tail.drawn_of(Drawn::kMarks);
      if (marks.empty()) {
        marks = NewColumn(Cat(tail.column, " (flips)"));
        left.push_back(MarkingStep(step, marks));
      }
      left.push_back(step);
      left.back().set_inputs(0, marks);
      left.back().set_outputs(0, marks);
    } else if (Resizes(step)) {
      std::string& taps = tail.drawn_of(Drawn::kTaps) = NewColumn(Cat(tail.column, " (taps)"));
      left.push_back(WithCompanion(step, ir::CompanionRole::kDraws));
      left.back().set_outputs(0, taps);
    } else if (Erases(step)) {
      std::string& erased = tail.drawn_of(Drawn::kErased) = NewColumn(Cat(tail.column, " (erased)"));
      left.push_back(WithCompanion(step, ir::CompanionRole::kDraws));
      left.back().set_outputs(0, erased);
    }
  }

  // What is drawn is given in place of the images.
  void ReplaceMixing(const StepAt& at, DeviceTail& tail) {
    const ir::proto::Step& step = StepOf(at);
    tail.mixing = MixingOf(step);
    std::string& mixed = tail.drawn_of(Drawn::kMixed) = NewColumn(Cat(tail.column, " (mixing)"));
    ir::proto::Step plan = WithCompanion(step, ir::CompanionRole::kDraws);
    plan.set_outputs(0, mixed);
    left_[{at.node, at.step}] = {plan};
  }

  // The kernel's companion with its attributes and its draws.
  static ir::proto::Step WithCompanion(ir::proto::Step step, ir::CompanionRole role) {
    const ir::Registry& registry = ir::Registry::Global();
    const ir::Declaration& companion = *registry.Find(*registry.Find(step.kernel())->CompanionFor(role));
    step.set_kernel(companion.name);
    step.set_version(static_cast<uint32_t>(companion.version));
    return step;
  }

  // In place of the step.
  static ir::proto::Step MarkingStep(const ir::proto::Step& step, const std::string& marks) {
    ir::proto::Step marking = WithCompanion(step, ir::CompanionRole::kMarks);
    marking.clear_attributes();
    marking.clear_salt();
    marking.set_outputs(0, marks);
    return marking;
  }

  // A name like that one which no column has.
  std::string NewColumn(std::string name) const {
    const auto taken = [&] {
      for (int id = 0; id < editor_.size(); ++id) {
        if (editor_.schema(id).Find(name) != nullptr) return true;
      }
      return false;
    };
    while (taken()) name += "'";
    return name;
  }

  void RemoveTaken() {
    std::set<int> nodes;
    for (const auto& [at, left] : left_) nodes.insert(at.first);
    for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
      auto& steps = *editor_.mutable_node(*id).mutable_steps();
      google::protobuf::RepeatedPtrField<ir::proto::Step> all;
      all.Swap(&steps);
      for (int step = 0; step < all.size(); ++step) {
        const auto found = left_.find({*id, step});
        if (found == left_.end()) {
          *steps.Add() = std::move(all[step]);
        } else {
          for (const ir::proto::Step& each : found->second) *steps.Add() = each;
        }
      }
      if (steps.empty()) editor_.Remove(*id);
    }
  }

  ir::GraphEditor editor_;
  // What is left of each step that is taken, by node and step.
  std::map<std::pair<int, int>, std::vector<ir::proto::Step>> left_;
};

}  // namespace

Shape DeviceTail::ShapeOf(const Shape& images) const {
  Shape shape = images;
  if (resizes()) {
    shape[shape.size() - 3] = height;
    shape[shape.size() - 2] = width;
  }
  if (planes) std::rotate(shape.end() - kImageRank, shape.end() - 1, shape.end());
  return shape;
}

absl::StatusOr<DeviceTails> TakeTails(const ir::proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(ir::GraphEditor editor, ir::GraphEditor::Of(graph));
  return TailTaker(std::move(editor)).Run();
}

std::string TailsText(const std::vector<DeviceTail>& tails) {
  std::string text;
  for (const DeviceTail& tail : tails) Append(text, text.empty() ? "" : "; ", tail.column, ": ", tail.steps);
  return Printable(text);
}

}  // namespace headrace
