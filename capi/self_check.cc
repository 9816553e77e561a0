#include "capi/self_check.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
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

// Takes a string off the bytes, which begin with its length and a colon; nullopt, with nothing taken: they do not.
std::optional<std::string_view> TakeString(std::string_view& bytes) {
  const char* const end = bytes.data() + bytes.size();
  size_t length = 0;
  const std::from_chars_result read = std::from_chars(bytes.data(), end, length);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != ':') return std::nullopt;
  const size_t begin = static_cast<size_t>(read.ptr - bytes.data()) + 1;
  if (length > bytes.size() - begin) return std::nullopt;
  const std::string_view string = bytes.substr(begin, length);
  bytes.remove_prefix(begin + length);
  return string;
}

absl::StatusOr<Tensor> StringsOf(const StoredInput& stored, DType dtype) {
  std::string_view rest = stored.bytes;
  std::vector<std::string_view> strings;
  std::optional<std::string_view> string;
  while (!rest.empty() && (string = TakeString(rest))) strings.push_back(*string);
  int64_t count = 1;
  const bool possible = std::none_of(stored.shape.begin(), stored.shape.end(), [&count](int64_t length) {
    return __builtin_mul_overflow(count, length, &count);
  });
  if (!rest.empty() || !possible || strings.size() != static_cast<size_t>(count)) {
    return DataError("the stored input ", stored.name, " has ", stored.bytes.size(), " bytes, which are not ",
                     stored.dtype, " ", ShapeName(stored.shape), " with the length of each and a colon before it");
  }
  return Tensor::CopyBytesArray(dtype, stored.shape, strings);
}

absl::StatusOr<Tensor> ValueOf(const StoredInput& stored) {
  const std::optional<DType> dtype = DTypeFromName(stored.dtype);
  if (!dtype || *dtype == DType::kUnknown) return DataError("the stored input ", stored.name, " is of no dtype");
  if (IsVariableLength(*dtype)) {
    return stored.shape.empty() ? Tensor::CopyBytes(*dtype, stored.bytes) : StringsOf(stored, *dtype);
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
