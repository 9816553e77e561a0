#include "kernels/plugin/plugin_kernel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "kernels/plugin/plugin_call.h"
#include "kernels/plugin/plugin_type.h"
#include "kernels/plugin/plugin_values.h"

namespace headrace {
namespace {

using Types = absl::InlinedVector<headrace_type, 2>;

template <typename Struct>
absl::InlinedVector<Struct*, 4> PointersTo(absl::Span<Struct> structs) {
  absl::InlinedVector<Struct*, 4> pointers;
  for (Struct& each : structs) pointers.push_back(&each);
  return pointers;
}

absl::StatusOr<headrace_type> GivenType(const ir::ColumnType& type) {
  if (!type.fields.empty()) return GraphError("takes tensors, not ", ir::TypeName(type));
  headrace_type given = {};
  given.struct_size = sizeof(given);
  given.dtype = static_cast<int32_t>(type.dtype);
  given.axes = -1;
  if (!type.shape.has_value()) return given;
  if (type.shape->size() > HEADRACE_MOST_AXES) {
    return GraphError("takes at most ", HEADRACE_MOST_AXES, " axes; got ", ir::TypeName(type));
  }
  given.axes = static_cast<int32_t>(type.shape->size());
  std::copy(type.shape->begin(), type.shape->end(), given.shape);
  return given;
}

absl::Status BrokenInference(const PluginKernelTable& table, std::string_view how) {
  return BrokenRule(table.op, "infer", how);
}

absl::StatusOr<ir::ColumnType> MadeType(const PluginKernelTable& table, const headrace_type& made) {
  if (made.reserved != 0) return BrokenInference(table, Cat("sets the reserved field of a type to ", made.reserved));
  absl::StatusOr<ir::ColumnType> type = TypeOfParts(made.dtype, made.axes, made.shape);
  if (!type.ok()) return BrokenInference(table, Cat("gives ", ToStd(type.status().message())));
  return type;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferTypes(const PluginKernelTable& table, const PluginValues& values,
                                                       absl::Span<headrace_type> given) {
  Types made(table.given.outputs);  // of zeros
  for (headrace_type& type : made) {
    type.struct_size = sizeof(type);
    type.axes = -1;
  }
  const auto inputs = PointersTo(given);
  const auto outputs = PointersTo(absl::MakeSpan(made));
  headrace_call call(table.op, "infer");
  HEADRACE_RETURN_IF_ERROR(call.Run([&](headrace_call* call) {
    return table.given.infer(call, values.values(), inputs.data(), static_cast<uint32_t>(inputs.size()),
                             outputs.data());
  }));
  std::vector<ir::ColumnType> types;
  for (const headrace_type& type : made) {
    HEADRACE_ASSIGN_OR_RETURN(types.emplace_back(), MadeType(table, type));
  }
  return types;
}

// Row-major, and aligned to its elements; byte strings end to end.
absl::StatusOr<Tensor> Dense(const Tensor& input) {
  if (IsVariableLength(input.dtype())) return input.Joined();
  HEADRACE_ASSIGN_OR_RETURN(Tensor dense, input.Contiguous());
  if (reinterpret_cast<uintptr_t>(dense.raw()) % ItemSize(dense.dtype()) == 0) return dense;
  HEADRACE_ASSIGN_OR_RETURN(Tensor aligned, Tensor::Allocate(dense.dtype(), dense.shape()));
  dense.CopyTo(aligned.mutable_raw());
  return aligned;
}

// In elements.
Shape StridesOf(absl::Span<const int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * std::max<int64_t>(shape[axis], 1);
  return strides;
}

// The inputs of one row as the interface has them; copies where they are not row-major and aligned.
class Inputs {
 public:
  explicit Inputs(size_t count) : kept_(count), tensors_(count) {}
  Inputs(const Inputs&) = delete;

  absl::Status Set(size_t i, const Tensor& input) {
    Kept& kept = kept_[i];
    HEADRACE_ASSIGN_OR_RETURN(kept.tensor, Dense(input));
    kept.strides = StridesOf(kept.tensor.shape());
    constexpr int32_t kHost = 1;
    headrace_tensor& tensor = tensors_[i];
    tensor.struct_size = sizeof(tensor);
    tensor.dtype = static_cast<int32_t>(kept.tensor.dtype());
    tensor.axes = kept.tensor.rank();
    tensor.device_type = kHost;
    tensor.data = kept.tensor.raw();
    tensor.shape = kept.tensor.shape().data();
    tensor.strides = kept.strides.data();
    tensor.offsets = OffsetsOf(kept);
    tensor.bytes = tensor.offsets == nullptr ? kept.tensor.bytes() : tensor.offsets[kept.tensor.elements()];
    return absl::OkStatus();
  }
  absl::Span<headrace_tensor> tensors() { return absl::MakeSpan(tensors_); }

 private:
  struct Kept {
    Tensor tensor;
    Shape strides;
    std::array<int64_t, 2> lone_ends;
  };

  static const int64_t* OffsetsOf(Kept& kept) {
    if (!IsVariableLength(kept.tensor.dtype())) return nullptr;
    if (kept.tensor.rank() > 0) return kept.tensor.ends().data();
    kept.lone_ends = {0, static_cast<int64_t>(kept.tensor.bytes())};
    return kept.lone_ends.data();
  }

  absl::InlinedVector<Kept, 2> kept_;
  absl::InlinedVector<headrace_tensor, 2> tensors_;
};

// What infer() says of rows of these types.
struct Answer {
  bool IsFor(absl::Span<const Tensor> row) const {
    return std::equal(row.begin(), row.end(), inputs.begin(), inputs.end(),
                      [](const Tensor& tensor, const headrace_type& type) {
                        return static_cast<int32_t>(tensor.dtype()) == type.dtype && tensor.rank() == type.axes &&
                               std::equal(tensor.shape().begin(), tensor.shape().end(), type.shape);
                      });
  }

  Types inputs = {};
  std::vector<ir::ColumnType> outputs = {};
};

class PluginKernel : public Kernel {
 public:
  PluginKernel(const PluginKernelTable& table, const ir::Attributes& attributes)
      : table_(table), values_(table.attributes, attributes) {}
  PluginKernel(const PluginKernel&) = delete;
  ~PluginKernel() override {
    delete answer_.load();
    if (table_.given.destroy == nullptr || state_ == nullptr) return;
    try {
      table_.given.destroy(state_);
    } catch (...) {  // the interface forbids it, and nobody is there to be told
    }
  }

  absl::Status Create() {
    if (table_.given.create == nullptr) return absl::OkStatus();
    headrace_call call(table_.op, "create");
    const absl::Status made =
        call.Run([this](headrace_call* call) { return table_.given.create(call, values_.values(), &state_); });
    if (!made.ok()) state_ = nullptr;
    return made;
  }

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    const Answer* const known = answer_.load(std::memory_order_acquire);
    if (known != nullptr && known->IsFor(inputs)) return Call(inputs, known->outputs, context);
    HEADRACE_ASSIGN_OR_RETURN(Answer answer, Infer(inputs));
    absl::StatusOr<Tensors> made = Call(inputs, answer.outputs, context);
    if (known == nullptr) Remember(std::move(answer));
    return made;
  }
  bool applies_to_stacks() const override { return Has(HEADRACE_POINTWISE); }

 private:
  bool Has(uint64_t trait) const { return (table_.given.traits & trait) != 0; }

  // Of this row, whose shapes are known: what is inferred before may leave lengths open.
  absl::StatusOr<Answer> Infer(absl::Span<const Tensor> inputs) const {
    Answer answer;
    for (const Tensor& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(answer.inputs.emplace_back(),
                                GivenType(ir::ColumnType::Of(input.dtype(), input.shape())));
    }
    HEADRACE_ASSIGN_OR_RETURN(answer.outputs, InferTypes(table_, values_, absl::MakeSpan(answer.inputs)));
    if (!Has(HEADRACE_POINTWISE)) return answer;
    for (const ir::ColumnType& output : answer.outputs) {
      if (output.shape == inputs[0].shape()) continue;
      return BrokenInference(table_, Cat("gives ", ir::TypeName(output), " for ", inputs[0].TypeName(),
                                         ", and its kernel declares HEADRACE_POINTWISE"));
    }
    return answer;
  }

  // The first one alone, because rows mostly have one type: then threads read it without a lock.
  void Remember(Answer answer) const {
    auto kept = std::make_unique<const Answer>(std::move(answer));
    const Answer* none = nullptr;
    if (answer_.compare_exchange_strong(none, kept.get(), std::memory_order_acq_rel)) (void)kept.release();
  }

  absl::StatusOr<Tensors> Call(absl::Span<const Tensor> inputs, absl::Span<const ir::ColumnType> types,
                               KernelContext& context) const {
    Inputs given(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) HEADRACE_RETURN_IF_ERROR(given.Set(i, inputs[i]));
    headrace_call call(table_.op, "apply");
    headrace_call::Row row = {.inputs = inputs,
                              .types = types,
                              .context = &context,
                              .random = Has(HEADRACE_RANDOM),
                              .outputs = Tensors(types.size())};
    call.Give(&row);
    const auto pointers = PointersTo(given.tensors());
    HEADRACE_RETURN_IF_ERROR(call.Run([&](headrace_call* call) {
      return table_.given.apply(call, state_, pointers.data(), static_cast<uint32_t>(pointers.size()));
    }));
    HEADRACE_RETURN_IF_ERROR(FinishOutputs(table_.op, "apply", inputs, row.outputs));
    for (const Tensor& output : row.outputs) HEADRACE_RETURN_IF_ERROR(CheckRows(inputs[0], output));
    return std::move(row.outputs);
  }

  absl::Status CheckRows(const Tensor& input, const Tensor& output) const {
    if (!Has(HEADRACE_BY_BATCH) || input.rank() == 0) return absl::OkStatus();
    if (output.rank() > 0 && output.dim(0) == input.dim(0)) return absl::OkStatus();
    return BrokenRule(table_.op, "apply", Cat("gives ", output.TypeName(), " for a batch of ", input.dim(0), " rows"));
  }

  const PluginKernelTable& table_;
  const PluginValues values_;
  void* state_ = nullptr;
  mutable std::atomic<const Answer*> answer_ = nullptr;
};

// The latest answers of infer() before anything runs, where the same is asked several times. Any thread.
class LatestInferences {
 public:
  std::optional<std::vector<ir::ColumnType>> Find(const std::string& asked) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, types] : latest_) {
      if (key == asked) return types;
    }
    return std::nullopt;
  }
  void Add(std::string asked, std::vector<ir::ColumnType> types) {
    const std::lock_guard lock(mutex_);
    latest_.emplace_front(std::move(asked), std::move(types));
    if (latest_.size() > kMost) latest_.pop_back();
  }

 private:
  static constexpr size_t kMost = 64;
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::vector<ir::ColumnType>>> latest_;
};

// What infer() depends on.
std::string AskedOf(const PluginKernelTable& table, const ir::Attributes& attributes,
                    absl::Span<const headrace_type> inputs) {
  std::string asked;
  for (const headrace_attribute& attribute : table.attributes) {
    const ir::proto::Value* const value = attributes.Find(attribute.name);
    const std::string bytes = value == nullptr ? "" : value->SerializeAsString();
    Append(asked, bytes.size(), ":", bytes);
  }
  for (const headrace_type& type : inputs) {
    asked.append(reinterpret_cast<const char*>(&type), sizeof(type));
  }
  return asked;
}

}  // namespace

ir::InferKernel InferOf(const PluginKernelTable& table) {
  return [&table, latest = std::make_shared<LatestInferences>()](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    Types given;
    for (const ir::ColumnType& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(given.emplace_back(), GivenType(input));
    }
    std::string asked = AskedOf(table, attributes, given);
    if (auto found = latest->Find(asked); found.has_value()) return *std::move(found);
    HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> types,
                              InferTypes(table, PluginValues(table.attributes, attributes), absl::MakeSpan(given)));
    latest->Add(std::move(asked), types);
    return types;
  };
}

KernelFactory FactoryOf(const PluginKernelTable& table) {
  return [&table](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    auto kernel = std::make_unique<PluginKernel>(table, attributes);
    HEADRACE_RETURN_IF_ERROR(kernel->Create());
    return kernel;
  };
}

}  // namespace headrace
