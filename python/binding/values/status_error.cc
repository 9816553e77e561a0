#include "python/binding/values/status_error.h"

#include "engine/operator/failed_row.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

void SetField(const py::object& error, const char* name, const absl::Status& status, ErrorField field) {
  const std::string value = GetErrorField(status, field);
  if (!value.empty()) error.attr(name) = MessageLine(value);
}

// The line of the innermost frame, in the user's code.
std::string LineOf(const py::object& exception) {
  py::object trace = py::reinterpret_steal<py::object>(PyException_GetTraceback(exception.ptr()));
  if (!trace) return "";
  while (!trace.attr("tb_next").is_none()) trace = trace.attr("tb_next");
  const py::object code = trace.attr("tb_frame").attr("f_code");
  return Cat(" (", MessageBytes(code.attr("co_filename")), ":", trace.attr("tb_lineno").cast<int>(), ")");
}

}  // namespace

absl::Status RaisedExceptions::Keep(py::error_already_set& raised, std::string_view function) {
  py::object exception = raised.value();
  // Through the C API, because a class may refuse to have its attributes set.
  if (raised.trace()) PyException_SetTraceback(exception.ptr(), raised.trace().ptr());
  std::string text;
  try {
    text = Cat(MessageBytes(py::type::of(exception).attr("__name__")), ": ", MessageBytes(py::str(exception)),
               LineOf(exception));
  } catch (py::error_already_set&) {
    text = "an exception that cannot be shown";
  }
  const bool lack = PyErr_GivenExceptionMatches(exception.ptr(), PyExc_MemoryError) != 0;
  absl::Status status = MakeError(lack ? ErrorKind::kResource : ErrorKind::kFunction, Cat(function, " raised ", text));
  if (PyObject_IsInstance(exception.ptr(), PyExc_Exception) == 0) status = BeyondRow(std::move(status));
  AddErrorField(status, ErrorField::kFunction, Hold(std::move(exception)));
  return status;
}

std::string RaisedExceptions::Hold(py::object exception) {
  const std::string handle = std::to_string(next_++);
  if (latest_ && next_ > most_) exceptions_.erase(std::to_string(next_ - 1 - most_));
  if (exceptions_.size() < most_) exceptions_.emplace(handle, HeldObject(std::move(exception)));
  return handle;
}

py::object RaisedExceptions::Take(const std::string& handle) {
  const auto found = exceptions_.find(handle);
  if (found == exceptions_.end()) return py::none();
  py::object exception = found->second.Take();
  exceptions_.erase(found);
  return exception;
}

int RaisedExceptions::Traverse(visitproc visit, void* arg) const {
  for (const auto& [handle, exception] : exceptions_) Py_VISIT(exception.get().ptr());
  return 0;
}

void RaisedExceptions::Clear() { exceptions_.clear(); }

RaisedExceptions& ExceptionsOfFiles() {
  // More than a pipeline has.
  constexpr uint64_t kFirst = uint64_t{1} << 48;
  static auto* const raised = [] {
    auto* const made = new RaisedExceptions(kFirst);
    // Rows read ahead may fail before the first that does is given. They are without frames.
    made->KeepLatest(1000);
    return made;
  }();
  return *raised;
}

void Raise(const absl::Status& status, RaisedExceptions* raised) {
  const std::string handle = GetErrorField(status, ErrorField::kFunction);
  py::object cause = py::none();
  if (raised != nullptr) cause = raised->Take(handle);
  if (cause.is_none() && !handle.empty()) cause = ExceptionsOfFiles().Take(handle);
  // Ctrl-C and sys.exit() are not errors of the function that they interrupt.
  if (!cause.is_none() && PyObject_IsInstance(cause.ptr(), PyExc_Exception) == 0) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
    throw py::error_already_set();
  }
  const std::string kind(ErrorKindName(KindOf(status)));
  const py::object type = py::module_::import("headrace.errors").attr(kind.c_str());
  // A line each, as the class takes the ends of lines within them for parts of names.
  const py::object error = type(*py::tuple(MessageLines(ErrorLines(status))));
  SetField(error, "operator", status, ErrorField::kOperator);
  SetField(error, "location", status, ErrorField::kLocation);
  SetField(error, "row", status, ErrorField::kRow);
  SetField(error, "file", status, ErrorField::kFile);
  // Its name, to open it by.
  if (const std::string file = GetErrorField(status, ErrorField::kFile); !file.empty()) {
    error.attr("_file") = NameText(file);
  }
  error.attr("_message") = MessageText(ToStd(status.message()));
  if (IsBeyondRow(status)) error.attr("_beyond_row") = true;
  if (IsNothingLeft(status)) error.attr("_nothing_left") = true;
  if (!cause.is_none()) error.attr("__cause__") = cause;
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

}  // namespace headrace::python
