#include "python/binding/values/status_of_error.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/error.h"
#include "python/binding/values/python_text.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

constexpr std::array<ErrorKind, 9> kKindsOfErrors = {ErrorKind::kGraph,       ErrorKind::kData,   ErrorKind::kNotFound,
                                                     ErrorKind::kFunction,    ErrorKind::kState,  ErrorKind::kResource,
                                                     ErrorKind::kUnsupported, ErrorKind::kClosed, ErrorKind::kInternal};

std::optional<ErrorKind> KindOfError(const py::object& exception) {
  const py::module_ errors = py::module_::import("headrace.errors");
  for (const ErrorKind kind : kKindsOfErrors) {
    const py::object type = errors.attr(std::string(ErrorKindName(kind)).c_str());
    if (PyErr_GivenExceptionMatches(exception.ptr(), type.ptr()) != 0) return kind;
  }
  return std::nullopt;
}

std::string TextOf(const py::object& exception, const char* name) {
  const py::object value = exception.attr(name);
  return value.is_none() ? std::string() : MessageBytes(value);
}

}  // namespace

std::optional<absl::Status> StatusOfError(const py::object& exception, RaisedExceptions& raised) {
  const std::optional<ErrorKind> kind = KindOfError(exception);
  if (!kind) return std::nullopt;
  // Those that Python's side raised have their text alone.
  const bool of_engine = !exception.attr("_message").is_none();
  const std::string message = of_engine ? TextOf(exception, "_message") : MessageBytes(py::str(exception));
  const std::vector<std::string> lines = absl::StrSplit(message, '\n');
  absl::Status status = MakeErrorOfLines(*kind, lines);
  if (exception.attr("_beyond_row").cast<bool>()) status = BeyondRow(std::move(status));
  AddErrorField(status, ErrorField::kOperator, TextOf(exception, "operator"));
  AddErrorField(status, ErrorField::kLocation, TextOf(exception, "location"));
  AddErrorField(status, ErrorField::kRow, TextOf(exception, "row"));
  AddErrorField(status, ErrorField::kFile, TextOf(exception, "_file"));
  py::object cause = exception.attr("__cause__");
  if (!cause.is_none()) AddErrorField(status, ErrorField::kFunction, raised.Hold(std::move(cause)));
  return status;
}

}  // namespace headrace::python
