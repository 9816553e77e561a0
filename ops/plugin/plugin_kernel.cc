#include "ops/plugin/plugin_kernel.h"

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/plugin/plugin_call.h"
#include "ops/plugin/plugin_values.h"

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
  if (made.dtype < HEADRACE_UNKNOWN || made.dtype > HEADRACE_STRING) {
    return BrokenInference(table, Cat("gives dtype ", made.dtype, ", which is no headrace_dtype"));
  }
  ir::ColumnType type = ir::ColumnType::AnyShape(static_cast<DType>(made.dtype));
  if (made.axes == -1) return type;
  if (made.axes < 0 || made.axes > HEADRACE_MOST_AXES) {
    return BrokenInference(table,
                           Cat("gives ", made.axes, " axes; -1 (not known) to ", HEADRACE_MOST_AXES, " are possible"));
  }
  type.shape.emplace(made.shape, made.shape + made.axes);
  for (const int64_t length : *type.shape) {
    if (length < ir::kUnknownDim) {
      return BrokenInference(table,
                             Cat("gives shape ", ShapeName(*type.shape), "; lengths are -1 (not known) or more"));
    }
  }
  return type;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferTypes(const PluginKernelTable& table, const PluginValues& values,
                                                       absl::Span<headrace_type> given) {
  Types made(table.kernel.outputs);
  for (headrace_type& type : made) {
    type.struct_size = sizeof(type);
    type.axes = -1;
  }
  const auto inputs = PointersTo(given);
  const auto outputs = PointersTo(absl::MakeSpan(made));
  headrace_call call(table.op, "infer");
  HEADRACE_RETURN_IF_ERROR(call.Run([&](headrace_call* call) {
    return table.kernel.infer(call, values.values(), inputs.data(), static_cast<uint32_t>(inputs.size()),
                              outputs.data());
  }));
  std::vector<ir::ColumnType> types;
  for (const headrace_type& type : made) {
    HEADRACE_ASSIGN_OR_RETURN(types.emplace_back(), MadeType(table, type));
  }
  return types;
}

DLDataType DLTypeOf(DType dtype) {
  enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kOpaque = 3, kBFloat = 4, kBool = 6 };
  const auto bits = static_cast<uint8_t>(ItemSize(dtype) * 8);
  if (IsVariableLength(dtype)) return {kOpaque, 8, 1};
  if (dtype == DType::kBool) return {kBool, 8, 1};
  if (dtype == DType::kBFloat16) return {kBFloat, 16, 1};
  if (IsFloating(dtype)) return {kFloat, bits, 1};
  return {dtype >= DType::kUInt8 ? kUInt : kInt, bits, 1};
}

// The inputs of one row as the interface has them; row-major copies where they are not so.
class Inputs {
 public:
  explicit Inputs(absl::Span<const Tensor> row) : lone_ends_(row.size()) {}
  Inputs(const Inputs&) = delete;

  absl::Status Add(const Tensor& input) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor dense, input.Contiguous());
    const Tensor& kept = kept_.emplace_back(std::move(dense));
    headrace_tensor tensor = {};
    tensor.struct_size = sizeof(tensor);
    tensor.dtype = static_cast<int32_t>(kept.dtype());
    // The interface says that inputs are read-only.
    tensor.dl.data = const_cast<uint8_t*>(kept.raw());
    tensor.dl.device = {1, 0};
    tensor.dl.ndim = kept.rank();
    tensor.dl.dtype = DLTypeOf(kept.dtype());
    tensor.dl.shape = const_cast<int64_t*>(kept.shape().data());
    tensor.offsets = OffsetsOf(kept);
    tensors_.push_back(tensor);
    return absl::OkStatus();
  }
  absl::Span<headrace_tensor> tensors() { return absl::MakeSpan(tensors_); }

 private:
  const int64_t* OffsetsOf(const Tensor& tensor) {
    if (!IsVariableLength(tensor.dtype())) return nullptr;
    if (tensor.rank() > 0) return tensor.ends().data();
    std::array<int64_t, 2>& ends = lone_ends_[tensors_.size()];
    ends = {0, static_cast<int64_t>(tensor.bytes())};
    return ends.data();
  }

  std::deque<Tensor> kept_;
  absl::InlinedVector<headrace_tensor, 2> tensors_;
  absl::InlinedVector<std::array<int64_t, 2>, 2> lone_ends_;
};

class PluginKernel : public Kernel {
 public:
  PluginKernel(const PluginKernelTable& table, const ir::Attributes& attributes)
      : table_(table), values_(table.attributes, attributes) {}
  PluginKernel(const PluginKernel&) = delete;
  ~PluginKernel() override {
    if (table_.kernel.destroy == nullptr || state_ == nullptr) return;
    try {
      table_.kernel.destroy(state_);
    } catch (...) {  // the interface forbids it, and nobody is there to be told
    }
  }

  absl::Status Create() {
    if (table_.kernel.create == nullptr) return absl::OkStatus();
    headrace_call call(table_.op, "create");
    const absl::Status made =
        call.Run([this](headrace_call* call) { return table_.kernel.create(call, values_.values(), &state_); });
    if (!made.ok()) state_ = nullptr;
    return made;
  }

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    // Of this row, whose shapes are known: what is inferred before may leave lengths open.
    Types given;
    for (const Tensor& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(given.emplace_back(), GivenType(ir::ColumnType::Of(input.dtype(), input.shape())));
    }
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<ir::ColumnType> types,
                              InferTypes(table_, values_, absl::MakeSpan(given)));
    Inputs row(inputs);
    for (const Tensor& input : inputs) HEADRACE_RETURN_IF_ERROR(row.Add(input));
    return Call(inputs, row.tensors(), types, context);
  }

 private:
  absl::StatusOr<Tensors> Call(absl::Span<const Tensor> inputs, absl::Span<headrace_tensor> tensors,
                               absl::Span<const ir::ColumnType> types, KernelContext& context) const {
    headrace_call call(table_.op, "apply");
    headrace_call::Row row = {.inputs = inputs,
                              .types = types,
                              .context = &context,
                              .random = (table_.kernel.traits & HEADRACE_RANDOM) != 0,
                              .outputs = Tensors(types.size())};
    call.Give(&row);
    const auto pointers = PointersTo(tensors);
    HEADRACE_RETURN_IF_ERROR(call.Run([&](headrace_call* call) {
      return table_.kernel.apply(call, state_, pointers.data(), static_cast<uint32_t>(pointers.size()));
    }));
    for (size_t i = 0; i < row.outputs.size(); ++i) {
      if (!row.outputs[i].valid()) {
        return BrokenRule(table_.op, "apply", Cat("gives no output ", i, " and no error"));
      }
    }
    return std::move(row.outputs);
  }

  const PluginKernelTable& table_;
  const PluginValues values_;
  void* state_ = nullptr;
};

}  // namespace

ir::InferKernel InferOf(const PluginKernelTable& table) {
  return [&table](const ir::Attributes& attributes,
                  absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    Types given;
    for (const ir::ColumnType& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(given.emplace_back(), GivenType(input));
    }
    return InferTypes(table, PluginValues(table.attributes, attributes), absl::MakeSpan(given));
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
