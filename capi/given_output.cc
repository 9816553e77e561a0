#include "capi/given_output.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/viewed_tensor.h"
#include "core/error.h"
#include "engine/serve/kernel_chain.h"

namespace headrace::capi {
namespace {

// Whether it can be given as it is: bytes and strings may share a block with others, as nobody writes to them.
bool IsAlone(const Tensor& tensor) {
  if (tensor.rank() > HR_MOST_AXES) return false;
  if (IsStringTable(tensor)) return tensor.joined();
  return IsVariableLength(tensor.dtype()) || (tensor.contiguous() && tensor.buffer().unique());
}

// As Own(), which leaves bytes and strings as they are.
absl::StatusOr<Tensor> OwnStrings(Tensor tensor) {
  if (tensor.buffer().unique()) return tensor;
  if (!IsStringTable(tensor)) return Tensor::CopyBytes(tensor.dtype(), tensor.bytes_value());
  std::vector<std::string_view> strings;
  for (int64_t i = 0; i < tensor.elements(); ++i) strings.push_back(tensor.bytes_at(i));
  return Tensor::CopyBytesArray(tensor.dtype(), tensor.shape(), strings);
}

absl::StatusOr<Tensor> Alone(Tensor result) {
  if (result.rank() > HR_MOST_AXES) {
    return UnsupportedError("an output may have ", HR_MOST_AXES, " axes; it has ", result.rank());
  }
  if (IsVariableLength(result.dtype())) {
    if (IsStringTable(result)) {
      HEADRACE_ASSIGN_OR_RETURN(result, result.Joined());
    }
    return OwnStrings(std::move(result));
  }
  HEADRACE_ASSIGN_OR_RETURN(result, result.Contiguous());
  return Own(std::move(result));
}

void GiveOwned(std::unique_ptr<Tensor> tensor, hr_tensor& output) noexcept {
  output.dtype = static_cast<int32_t>(tensor->dtype());
  output.axes = tensor->rank();
  std::fill(std::begin(output.shape), std::end(output.shape), 0);
  std::copy(tensor->shape().begin(), tensor->shape().end(), output.shape);
  output.data = tensor->mutable_raw();
  output.offsets = IsStringTable(*tensor) ? tensor->ends().data() : nullptr;
  output.bytes = IsStringTable(*tensor) ? static_cast<uint64_t>(tensor->ends().back()) : tensor->bytes();
  output.owner = tensor.release();
}

}  // namespace

absl::Status GivenOutputs::Take(std::vector<Tensor> results, absl::Span<const hr_tensor> outputs) {
  owned_.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (outputs[i].data != nullptr) continue;
    HEADRACE_ASSIGN_OR_RETURN(Tensor alone, Alone(std::move(results[i])));
    owned_[i] = std::make_unique<Tensor>(std::move(alone));
  }
  return absl::OkStatus();
}

absl::Status GivenOutputs::TakeRow(std::vector<Tensor>& results) {
  owned_.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    owned_[i] = std::make_unique<Tensor>();
    if (IsAlone(results[i])) continue;
    HEADRACE_ASSIGN_OR_RETURN(*owned_[i], Alone(results[i]));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!owned_[i]->valid()) *owned_[i] = std::move(results[i]);
  }
  return absl::OkStatus();
}

void GivenOutputs::Give(absl::Span<hr_tensor> outputs) noexcept {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (owned_[i] != nullptr) GiveOwned(std::move(owned_[i]), outputs[i]);
  }
}

std::unique_ptr<Tensor> TakeOwned(hr_tensor& output) noexcept {
  std::unique_ptr<Tensor> tensor(static_cast<Tensor*>(std::exchange(output.owner, nullptr)));
  if (tensor == nullptr) return nullptr;
  output.data = nullptr;
  output.offsets = nullptr;
  return tensor;
}

}  // namespace headrace::capi

void hr_release(hr_tensor* tensor) {
  if (tensor != nullptr) headrace::capi::TakeOwned(*tensor);
}
