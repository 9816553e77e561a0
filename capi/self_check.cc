#include "capi/self_check.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "capi/stored_check.h"
#include "capi/viewed_tensor.h"
#include "core/error.h"
#include "io/records/crc32c.h"

namespace headrace::capi {
namespace {

using Requested = std::vector<Tensor>;

// Of the elements, row-major. Of several bytes or strings with the length before each, so that no two lists are the
// same bytes.
absl::StatusOr<uint32_t> ChecksumOf(const Tensor& tensor) {
  if (!IsVariableLength(tensor.dtype())) {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor plain, tensor.Contiguous());
    return Crc32c(plain.raw(), plain.bytes());
  }
  uint32_t checksum = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const std::string_view bytes = tensor.bytes_at(i);
    const std::string length = IsStringTable(tensor) ? Cat(bytes.size(), ":") : "";
    checksum = Crc32c(length.data(), length.size(), checksum);
    checksum = Crc32c(bytes.data(), bytes.size(), checksum);
  }
  return checksum;
}

absl::StatusOr<bool> HasDigest(const Tensor& tensor, const StoredDigest& digest) {
  if (tensor.shape() != digest.shape) return false;
  // NumPy's arrays of texts do not tell bytes from strings.
  if (!IsStringTable(tensor) && DTypeName(tensor.dtype()) != digest.dtype) return false;
  HEADRACE_ASSIGN_OR_RETURN(const uint32_t checksum, ChecksumOf(tensor));
  return checksum == digest.crc32c;
}

absl::StatusOr<Tensor> ValueOf(const StoredInput& stored) {
  const std::optional<DType> dtype = DTypeFromName(stored.dtype);
  if (!dtype || *dtype == DType::kUnknown) return DataError("the stored input ", stored.name, " is of no dtype");
  if (IsVariableLength(*dtype)) {
    if (stored.shape.empty()) return Tensor::CopyBytes(*dtype, stored.bytes);
    return DataError("the stored input ", stored.name, " is an array of ", stored.dtype, ", which is not stored");
  }
  auto bytes = static_cast<int64_t>(ItemSize(*dtype));
  // Also where a later axis is empty: the engine multiplies in this order.
  const bool possible = std::none_of(stored.shape.begin(), stored.shape.end(), [&bytes](int64_t length) {
    return __builtin_mul_overflow(bytes, length, &bytes);
  });
  if (!possible || static_cast<size_t>(bytes) != stored.bytes.size()) {
    return DataError("the stored input ", stored.name, " has ", stored.bytes.size(), " bytes, which are not ",
                     stored.dtype, " ", ShapeName(stored.shape));
  }
  const auto is_bool = [](char value) { return value == 0 || value == 1; };
  if (*dtype == DType::kBool && !std::all_of(stored.bytes.begin(), stored.bytes.end(), is_bool)) {
    return DataError("the stored input ", stored.name, " has bools that are neither 0 nor 1");
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor value, Tensor::Allocate(*dtype, stored.shape));
  if (bytes > 0) std::memcpy(value.mutable_raw(), stored.bytes.data(), stored.bytes.size());
  return value;
}

absl::StatusOr<Requested> RequestOf(const InferenceGraph& graph, const StoredCheck& check) {
  Requested request;
  for (const ir::Column& column : graph.inputs()) {
    const auto stored = std::find_if(check.inputs.begin(), check.inputs.end(),
                                     [&](const StoredInput& input) { return input.name == column.name; });
    if (stored == check.inputs.end()) return DataError("the stored check lacks the input ", column.name);
    HEADRACE_ASSIGN_OR_RETURN(Tensor value, ValueOf(*stored));
    request.push_back(std::move(value));
  }
  return request;
}

absl::StatusOr<bool> IsAsStored(const InferenceGraph& graph, const StoredCheck& check, const Requested& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = graph.outputs()[i].name;
    const auto stored = std::find_if(check.outputs.begin(), check.outputs.end(),
                                     [&](const StoredOutput& output) { return output.name == name; });
    if (stored == check.outputs.end()) return DataError("the stored check lacks the output ", name);
    HEADRACE_ASSIGN_OR_RETURN(const bool is_equal, HasDigest(results[i], stored->digest));
    if (!is_equal) return false;
  }
  return true;
}

// The first step that writes something else than it did there; "" if none is known to.
absl::StatusOr<std::string> FirstDifference(const InferenceGraph& graph, const StoredCheck& check,
                                            const Requested& request) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<StepResult> steps, graph.Trace(request));
  for (size_t i = 0; i < std::min(steps.size(), check.steps.size()); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const bool is_equal, HasDigest(steps[i].value, check.steps[i].digest));
    if (!is_equal || steps[i].column != check.steps[i].column)
      return Cat("; the first step that differs is ", steps[i].step, ", in the column ", steps[i].column);
  }
  return std::string();
}

}  // namespace

absl::Status RunSelfCheck(const InferenceGraph& graph, const std::optional<std::string>& stored) {
  if (!stored)
    return NotFoundError("nothing is stored to verify the graph by: attach it again, or open without verify");
  HEADRACE_ASSIGN_OR_RETURN(const StoredCheck check, ReadStoredCheck(*stored));
  HEADRACE_ASSIGN_OR_RETURN(const Requested request, RequestOf(graph, check));
  HEADRACE_ASSIGN_OR_RETURN(const Requested results, graph.Run(request));
  HEADRACE_ASSIGN_OR_RETURN(const bool is_as_stored, IsAsStored(graph, check, results));
  if (is_as_stored) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(const std::string first, FirstDifference(graph, check, request));
  return UnsupportedError("this machine gives another result than the one that attached the graph", first,
                          "; it was attached with ", check.made_with);
}

}  // namespace headrace::capi
