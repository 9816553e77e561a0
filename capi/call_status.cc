#include "capi/call_status.h"

#include <exception>
#include <new>

#include "absl/strings/cord.h"
#include "core/caught_error.h"
#include "core/error.h"
#include "engine/serve/column_error.h"

struct hr_status {
  int32_t kind = HR_OK;
  std::string text = {};
  std::string op = {};
  std::string location = {};
  std::string column = {};
  std::string file = {};
};

namespace headrace::capi {
namespace {

constexpr std::string_view kArgument = "headrace/argument";

absl::string_view Url(std::string_view url) { return {url.data(), url.size()}; }

int32_t KindNumber(const absl::Status& status) {
  if (status.GetPayload(Url(kArgument))) return HR_ARGUMENT_ERROR;
  switch (KindOf(status)) {
    case ErrorKind::kGraph:
      return HR_GRAPH_ERROR;
    case ErrorKind::kData:
      return HR_DATA_ERROR;
    case ErrorKind::kNotFound:
      return HR_NOT_FOUND_ERROR;
    case ErrorKind::kResource:
      return HR_RESOURCE_ERROR;
    case ErrorKind::kUnsupported:
      return HR_UNSUPPORTED_ERROR;
    case ErrorKind::kFunction:
      return HR_FUNCTION_ERROR;
    case ErrorKind::kState:
    case ErrorKind::kClosed:
    case ErrorKind::kInternal:
      return HR_INTERNAL_ERROR;
  }
  return HR_INTERNAL_ERROR;
}

hr_status& MadeEarly() {
  static auto* const status = new hr_status{
      HR_RESOURCE_ERROR, "there is no memory for this: give the process more, or run fewer requests at once"};
  return *status;
}
// Made while there is still memory.
[[maybe_unused]] const hr_status& made_early = MadeEarly();

}  // namespace

absl::Status ArgumentErrorOf(std::string_view message) {
  absl::Status error = MakeError(ErrorKind::kGraph, message);
  error.SetPayload(Url(kArgument), absl::Cord());
  return error;
}

hr_status* NoMemory() noexcept { return &MadeEarly(); }

hr_status* StatusOf(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    return new hr_status{KindNumber(status),
                         DescribeError(status),
                         GetErrorField(status, ErrorField::kOperator),
                         GetErrorField(status, ErrorField::kLocation),
                         ColumnOf(status),
                         GetErrorField(status, ErrorField::kFile)};
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

hr_status* StatusOfCaught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (const std::exception&) {
    try {
      return StatusOf(CaughtError());
    } catch (const std::bad_alloc&) {
      return NoMemory();
    }
  }
}

}  // namespace headrace::capi

int32_t hr_status_kind(const hr_status* status) { return status == nullptr ? int32_t{HR_OK} : status->kind; }

const char* hr_status_text(const hr_status* status) { return status == nullptr ? "" : status->text.c_str(); }

const char* hr_status_operator(const hr_status* status) { return status == nullptr ? "" : status->op.c_str(); }

const char* hr_status_location(const hr_status* status) { return status == nullptr ? "" : status->location.c_str(); }

const char* hr_status_column(const hr_status* status) { return status == nullptr ? "" : status->column.c_str(); }

const char* hr_status_file(const hr_status* status) { return status == nullptr ? "" : status->file.c_str(); }

void hr_status_free(hr_status* status) {
  if (status != &headrace::capi::MadeEarly()) delete status;
}
