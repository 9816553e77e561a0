#include "python/binding/host/pyarrow_library.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/caught_error.h"
#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/default_file_system.h"
#include "io/files/system_error.h"
#include "io/formats/arrow/arrow_stream.h"
#include "python/binding/host/read_file.h"
#include "python/binding/host/user_calls.h"
#include "python/binding/values/arrow_objects.h"
#include "python/binding/values/called.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/status_of_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// The number that the system gave; 0: the exception is not the system's.
int SystemErrorOf(const py::error_already_set& raised) {
  if (!raised.matches(PyExc_OSError)) return 0;
  const py::object number = raised.value().attr("errno");
  return py::isinstance<py::int_>(number) ? number.cast<int>() : 0;
}

constexpr std::string_view kCannotDecode = "pyarrow cannot decode it: ";

// pyarrow's texts may go on with lines about its own sources, or the traceback of a read of a far file, and begin with
// the name of a file that it does not know.
std::string PlainText(std::string_view text) {
  constexpr std::string_view kNoName = "'<Buffer>': ";
  text = text.substr(0, text.find('\n'));
  text = text.substr(0, text.find(". Detail: Python exception: "));
  const size_t name = text.find(kNoName);
  return std::string(name == std::string_view::npos ? text : text.substr(name + kNoName.size()));
}

std::string TextOf(const py::error_already_set& raised) { return PlainText(MessageBytes(py::str(raised.value()))); }

absl::Status ErrorOfPyarrow(const py::error_already_set& raised, const std::string& path) {
  // Ctrl-C is not an error of the file.
  if (HandledSignals::Keep(raised)) return StopSignal::Error();
  // Of a read of a far file, which is the engine's.
  std::optional<absl::Status> own = StatusOfError(raised.value(), ExceptionsOfFiles());
  if (own.has_value()) return *std::move(own);
  if (raised.matches(PyExc_MemoryError)) return ResourceError("pyarrow has no memory to read the file");
  if (raised.matches(PyExc_ImportError)) {
    return UnsupportedError(
        "Parquet files are decoded by pyarrow, which cannot be imported here: pip install pyarrow (", TextOf(raised),
        ")");
  }
  const int error = SystemErrorOf(raised);
  if (error != 0) return SystemError(*DefaultFileSystem(), path, "read", error);
  const std::string text = TextOf(raised);
  if (text.find("encrypt") == std::string::npos) return DataError(kCannotDecode, text);
  return DataError("it is encrypted, and is read without keys; write it without encryption: ", text);
}

// Runs `body` under the GIL; its exceptions are errors of the file.
absl::Status WithPyarrow(const std::string& path, absl::FunctionRef<absl::Status()> body) {
  const std::unique_ptr<HostLock> gil = HoldGil();
  if (gil == nullptr) return ResourceError("the machine has no memory for a thread that calls pyarrow");
  ReleaseNow();
  try {
    return body();
  } catch (const py::error_already_set& raised) {
    try {
      return ErrorOfPyarrow(raised, path);
    } catch (const py::error_already_set&) {
      return DataError("pyarrow cannot decode it");
    }
  } catch (const std::exception&) {
    return CaughtError();
  }
}

// Of what pyarrow says of a row group. `arrays` are the columns in it whose rows are to have the shape that is stated:
// pyarrow does not know why, and gives no other kind of error for a row that has another one.
absl::Status ErrorOfBatch(std::string_view text, const std::vector<std::string>& arrays) {
  if (arrays.empty()) return DataError(kCannotDecode, text);
  std::string names;
  for (const std::string& name : arrays) names += Cat(names.empty() ? "" : ", ", "\"", name, "\"");
  return DataError("pyarrow cannot decode it, perhaps because a row of ",
                   arrays.size() == 1 ? "the column " : "one of the columns ", names,
                   " has another shape than its column states; then write the file with the shape that all rows have, "
                   "or leave the column out by columns=: ",
                   text);
}

// Batches of a reader of pyarrow's, whose stream takes no GIL.
class PyarrowBatches : public ParquetBatches {
 public:
  PyarrowBatches(std::unique_ptr<StreamOwner> stream, std::vector<std::string> arrays)
      : stream_(std::move(stream)), arrays_(std::move(arrays)) {}

  absl::StatusOr<HeldArrow> Next() override {
    absl::StatusOr<HeldArrow> array = NextOf(*stream_->get(), KeepArrow);
    if (array.ok()) return array;
    return ErrorOfBatch(PlainText(ToStd(array.status().message())), arrays_);
  }

 private:
  const std::unique_ptr<StreamOwner> stream_;
  const std::vector<std::string> arrays_;
};

class PyarrowFile : public ParquetFile {
 public:
  // With the GIL held.
  PyarrowFile(const std::string& path, py::object opened)
      : path_(path),
        group_rows_(opened.attr("group_rows").cast<std::vector<int64_t>>()),
        array_columns_(opened.attr("array_columns").cast<std::vector<std::string>>()),
        opened_(std::move(opened)) {}

  const std::vector<int64_t>& group_rows() const override { return group_rows_; }

  absl::StatusOr<ArrowOwner<ArrowSchema>> Schema() const override {
    ArrowOwner<ArrowSchema> schema;
    HEADRACE_RETURN_IF_ERROR(WithPyarrow(path_, [&] {
      const py::object found = py::getattr(opened_.get(), "schema");
      schema = TakeArrowSchema(Called(found.attr("__arrow_c_schema__"), py::tuple()));
      return absl::OkStatus();
    }));
    return schema;
  }

  absl::StatusOr<std::unique_ptr<ParquetBatches>> Read(size_t group,
                                                       const std::vector<std::string>& columns) const override {
    std::unique_ptr<ParquetBatches> batches;
    HEADRACE_RETURN_IF_ERROR(WithPyarrow(path_, [&] {
      const py::object read = py::getattr(opened_.get(), "read");
      const py::object reader = Called(read, py::make_tuple(group, NameTexts(columns)));
      batches = std::make_unique<PyarrowBatches>(
          TakeArrowStream(Called(reader.attr("__arrow_c_stream__"), py::tuple())), ArraysAmong(columns));
      return absl::OkStatus();
    }));
    return batches;
  }

 private:
  std::vector<std::string> ArraysAmong(const std::vector<std::string>& columns) const {
    const std::set<std::string_view> wanted(columns.begin(), columns.end());
    std::vector<std::string> arrays;
    std::copy_if(array_columns_.begin(), array_columns_.end(), std::back_inserter(arrays),
                 [&wanted](const std::string& name) { return wanted.count(name) > 0; });
    return arrays;
  }

  const std::string path_;
  const std::vector<int64_t> group_rows_;
  const std::vector<std::string> array_columns_;
  const HeldObject opened_;
};

class Pyarrow : public ParquetLibrary {
 public:
  absl::StatusOr<std::shared_ptr<const ParquetFile>> Open(const std::string& path) const override {
    return OpenAs(path, [&] { return py::make_tuple(py::bytes(path)); });
  }
  absl::StatusOr<std::shared_ptr<const ParquetFile>> OpenFar(
      const std::string& path, std::shared_ptr<const RandomAccessFile> file) const override {
    HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
    return OpenAs(path,
                  [&] { return py::make_tuple(py::bytes(path), std::make_shared<ReadFile>(std::move(file), size)); });
  }

 private:
  // `arguments`: of headrace._parquet.row_groups.OpenedFile.
  static absl::StatusOr<std::shared_ptr<const ParquetFile>> OpenAs(const std::string& path,
                                                                   absl::FunctionRef<py::tuple()> arguments) {
    std::shared_ptr<const ParquetFile> file;
    HEADRACE_RETURN_IF_ERROR(WithPyarrow(path, [&] {
      const py::object open = py::module_::import("headrace._parquet.row_groups").attr("OpenedFile");
      file = std::make_shared<PyarrowFile>(path, Called(open, arguments()));
      return absl::OkStatus();
    }));
    return file;
  }
};

}  // namespace

const ParquetLibrary* PyarrowLibrary() {
  static const auto* const library = new Pyarrow;
  return library;
}

}  // namespace headrace::python
