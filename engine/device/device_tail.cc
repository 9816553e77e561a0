#include "engine/device/device_tail.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/text.h"
#include "engine/device/byte_mapping.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/parameters.h"
#include "ir/passes/graph_editor.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

constexpr int kImageRank = 3;
constexpr int64_t kMostPictureBytes = int64_t{1} << 31;
constexpr std::string_view kMarkKernel = "CornerMarks";

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

// Whether it flips pictures or leaves them, whatever their size. Valid graphs have none after the channels were moved.
bool Flips(const ir::proto::Step& step) {
  return step.kernel() == "RandomHorizontalFlip" || step.kernel() == "RandomVerticalFlip";
}

// Whether what it gives for a picture follows from each byte and its channel alone.
bool MapsBytes(const ir::proto::Step& step) {
  const ir::Traits traits = ir::TraitsOf(step);
  return (traits.pointwise || traits.layout) && traits.deterministic && !traits.random && !traits.python &&
         !traits.by_batch;
}

bool IsPictureOfBytes(const ir::ColumnType& type) {
  return type.fully_known() && type.dtype == DType::kUInt8 && type.shape->size() == kImageRank &&
         ElementCount(*type.shape) > 0 && ElementCount(*type.shape) < kMostPictureBytes &&
         (*type.shape)[2] <= static_cast<int64_t>(kMostMappedChannels);
}

// All bytes of each channel: (256, 1, channels).
absl::StatusOr<Tensor> AllBytes(int64_t channels) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor bytes, Tensor::Allocate(DType::kUInt8, Shape{kTableValues, 1, channels}));
  for (int64_t i = 0; i < bytes.elements(); ++i) bytes.mutable_raw()[i] = static_cast<uint8_t>(i / channels);
  return bytes;
}

// What the steps make of the picture.
absl::StatusOr<Tensor> Applied(const std::vector<const ir::proto::Step*>& steps, Tensor picture) {
  for (const ir::proto::Step* step : steps) {
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> kernel,
                              MakeKernel(step->kernel(), ir::Attributes::Of(*step)));
    if (kernel->may_warn()) return UnsupportedError("the warnings of ", step->kernel(), " would be lost");
    OutputAllocator output;
    KernelContext context(RowRandom(0, 0), output);
    HEADRACE_ASSIGN_OR_RETURN(Tensors made, kernel->Apply(absl::MakeConstSpan(&picture, 1), context));
    picture = std::move(made[0]);
  }
  return picture.Contiguous();
}

// Fills in table and planes; false: the steps, without flips, cannot be a table.
bool MakeTable(std::vector<const ir::proto::Step*> steps, int64_t channels, DeviceTail& tail) {
  absl::StatusOr<Tensor> bytes = AllBytes(channels);
  if (!bytes.ok()) return false;
  std::erase_if(steps, [](const ir::proto::Step* step) { return Flips(*step); });
  const absl::StatusOr<Tensor> made = Applied(steps, *std::move(bytes));
  if (!made.ok() || IsVariableLength(made->dtype())) return false;
  const size_t size = ItemSize(made->dtype());
  if (size != sizeof(uint16_t) && size != sizeof(uint32_t)) return false;
  tail.planes = made->shape() == Shape{channels, kTableValues, 1};
  if (!tail.planes && made->shape() != Shape{kTableValues, 1, channels}) return false;
  absl::StatusOr<Tensor> table = Tensor::Allocate(made->dtype(), Shape{channels, kTableValues});
  if (!table.ok()) return false;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t byte = 0; byte < kTableValues; ++byte) {
      const int64_t at = channel * kTableValues + byte;
      const int64_t from = tail.planes ? at : byte * channels + channel;
      std::copy_n(made->raw() + from * static_cast<int64_t>(size), size,
                  table->mutable_raw() + at * static_cast<int64_t>(size));
    }
  }
  tail.table = *std::move(table);
  return true;
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
  // False: it has none.
  absl::StatusOr<bool> Take(const ir::Column& column, DeviceTail& tail) {
    const std::vector<StepAt> candidates = CandidatesOf(column.name);
    // The longest run of steps to the end that begins with bytes.
    for (auto first = candidates.rbegin(); first != candidates.rend(); ++first) {
      HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType before, TypeBefore(*first, column.name));
      if (!IsPictureOfBytes(before)) continue;
      std::vector<const ir::proto::Step*> steps;
      for (auto each = first; each != candidates.rend(); ++each) {
        steps.push_back(&editor_.node(each->node).steps(each->step));
      }
      if (!MakeTable(steps, before.shape->back(), tail)) continue;
      tail.column = column.name;
      tail.type = column.type;
      for (const ir::proto::Step* step : steps) Append(tail.steps, tail.steps.empty() ? "" : ", ", step->kernel());
      Replace({candidates.begin(), first.base()}, tail);
      return true;
    }
    return false;
  }

  // Steps on the column that nothing after them reads, the last one first.
  std::vector<StepAt> CandidatesOf(const std::string& column) const {
    std::vector<StepAt> candidates;
    bool batched = false;
    for (int id = editor_.size() - 1; id >= 0; id = editor_.OwnInput(id)) {
      const ir::proto::Node& node = editor_.node(id);
      if (node.op() == ir::kMapOp) {
        for (int step = node.steps_size() - 1; step >= 0; --step) {
          if (!Touches(node.steps(step), column)) continue;
          if (!ReplacesColumn(node.steps(step), column)) return candidates;
          if (!Flips(node.steps(step)) && !MapsBytes(node.steps(step))) return candidates;
          candidates.push_back({id, step});
        }
        continue;
      }
      // Steps above a batch see it as one array.
      if (!candidates.empty() || !PassesColumn(id, column, batched)) return candidates;
    }
    return candidates;
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

  // Leaves of the steps, the last one first, what is drawn.
  void Replace(const std::vector<StepAt>& steps, DeviceTail& tail) {
    for (auto each = steps.rbegin(); each != steps.rend(); ++each) {
      const ir::proto::Step& step = editor_.node(each->node).steps(each->step);
      std::vector<ir::proto::Step>& left = left_[{each->node, each->step}];
      if (!Flips(step)) continue;
      if (tail.marks.empty()) {
        tail.marks = NewColumn(Cat(tail.column, " (flips)"));
        left.push_back(MarkingStep(step, tail.marks));
      }
      left.push_back(step);
      left.back().set_inputs(0, tail.marks);
      left.back().set_outputs(0, tail.marks);
    }
  }

  // In place of the step.
  static ir::proto::Step MarkingStep(const ir::proto::Step& step, const std::string& marks) {
    ir::proto::Step marking;
    marking.set_kernel(std::string(kMarkKernel));
    marking.set_version(static_cast<uint32_t>(ir::Registry::Global().Find(kMarkKernel)->version));
    marking.add_inputs(step.inputs(0));
    marking.add_outputs(marks);
    *marking.mutable_location() = step.location();
    marking.set_user_node(step.user_node());
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

Shape DeviceTail::ShapeOf(const Shape& pictures) const {
  Shape shape = pictures;
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
  return text;
}

}  // namespace headrace
