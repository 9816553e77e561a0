#include "python/binding/values/exact_array.h"

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/numpy.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "python/binding/values/value_conversion.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

constexpr size_t kMostLists = 32;

py::module_ NumPy() { return py::module_::import("numpy"); }

// The type of NumPy's scalars, looked up once: lists may have millions of them.
py::handle GenericType() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> type;
  return type.call_once_and_store_result([] { return py::object(NumPy().attr("generic")); }).get_stored();
}

// Null if nothing has imported the module: then there is no object of it.
py::object ImportedModule(const char* name) {
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), name);
  return module == nullptr ? py::object() : py::reinterpret_borrow<py::object>(module);
}

bool IsTorchTensor(const py::handle& value) {
  const py::object torch = ImportedModule("torch");
  const py::object type = torch ? py::getattr(torch, "Tensor", py::none()) : py::none();
  return !type.is_none() && PyObject_IsInstance(value.ptr(), type.ptr()) == 1;
}

void WarnOfGradient() {
  static bool warned = false;
  if (warned) return;
  warned = true;
  constexpr const char* kText =
      "a tensor that requires a gradient was detached: rows carry no gradients; write tensor.detach()";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, kText, 1) < 0) throw py::error_already_set();
}

void RefuseMask(const py::handle& value) {
  const py::object masked = ImportedModule("numpy.ma");
  if (!masked || !py::isinstance(value, masked.attr("MaskedArray"))) return;
  if (!masked.attr("is_masked")(value).cast<bool>()) return;
  throw TypeError("it has masked values, and no column holds a mask; give filled(value) of it");
}

// A frame has a type for each column, and NumPy's view of it one for all.
void RefuseFrame(const py::handle& value) {
  const bool frame =
      py::hasattr(value, "itertuples") || py::hasattr(value, "iter_rows") || py::hasattr(value, "column_names");
  if (!frame || !py::hasattr(value, "columns")) return;
  throw TypeError("it is a ", Py_TYPE(value.ptr())->tp_name,
                  ", whose columns have types of their own; give its columns one by one");
}

// As numpy.asarray sees what has a dtype of its own.
py::array TypedArray(const py::object& value) {
  RefuseMask(value);
  RefuseFrame(value);
  const py::object plain = WithoutGradient(value);
  if (IsBFloat16OfTorch(plain)) {
    const py::object bits = BitsOfBFloat16(plain);
    try {
      return py::array(bits.attr("view")(py::module_::import("ml_dtypes").attr("bfloat16")));
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_ImportError)) throw;
    }
    throw TypeError("NumPy has no bfloat16: pip install ml_dtypes, or give tensor.float()");
  }
  py::object array = NumPy().attr("asarray")(plain);
  if (!py::isinstance<py::array>(array)) throw TypeError("numpy.asarray gave no array");
  return py::reinterpret_steal<py::array>(array.release());
}

bool HasDType(const py::handle& value) {
  if (PyObject_CheckBuffer(value.ptr()) != 0) return true;
  for (const char* name : {"__array__", "__array_interface__", "__array_struct__"}) {
    if (py::hasattr(value, name)) return true;
  }
  return false;
}

bool IsList(const py::handle& value) { return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()); }

// A sequence of values, such as a range or a deque.
bool IsOtherSequence(const py::handle& value) {
  return PySequence_Check(value.ptr()) != 0 && !PyDict_Check(value.ptr()) && !PyUnicode_Check(value.ptr()) &&
         !PyBytes_Check(value.ptr()) && py::hasattr(value, "__len__");
}

bool ExactInDouble(int64_t number) {
  const auto real = static_cast<double>(number);
  return real < 0x1p63 && static_cast<int64_t>(real) == number;
}
bool ExactInDouble(uint64_t number) {
  const auto real = static_cast<double>(number);
  return real < 0x1p64 && static_cast<uint64_t>(real) == number;
}

// The elements of nested lists, in order, and what they are.
class ExactElements {
 public:
  explicit ExactElements(Elements elements, std::vector<size_t> place = {})
      : elements_(elements), place_(std::move(place)) {}

  py::object Array(const py::object& list) {
    Walk(list, 0);
    if (shape_.size() == 1) return Flat();
    py::list dimensions;
    for (const Py_ssize_t size : shape_) dimensions.append(size);
    for (const Py_ssize_t size : unit_) dimensions.append(size);
    return Flat().attr("reshape")(py::tuple(dimensions));
  }

 private:
  enum class Kind { kNone, kNumber, kBool, kText, kBytes };

  // ---- where and what, for messages ----

  std::string Where() const {
    if (place_.empty()) return "it";
    std::string text = elements_ == Elements::kRows ? Cat("row ", place_[0]) : "";
    const size_t first = elements_ == Elements::kRows ? 1 : 0;
    if (first == 1 && place_.size() > 1) text += " at ";
    for (size_t i = first; i < place_.size(); ++i) Append(text, "[", place_[i], "]");
    return text;
  }

  static std::string_view KindName(Kind kind) {
    switch (kind) {
      case Kind::kNumber:
        return "a number";
      case Kind::kBool:
        return "a bool";
      case Kind::kText:
        return "a text";
      case Kind::kBytes:
        return "bytes";
      case Kind::kNone:
        break;
    }
    return "nothing";
  }

  [[noreturn]] void RefuseShape(size_t depth, std::string_view what) const {
    const std::string& before = depth < lists_.size() ? lists_[depth] : leaf_;
    throw ValueError(Where(), " is ", what, ", and ", before, "; the shapes of all must agree: pad them");
  }

  [[noreturn]] void RefuseElement(const py::handle& value) const {
    if (value.is_none()) {
      throw TypeError(Where(),
                      " is None, and no column holds a missing value; give a value in its place, or leave the row out");
    }
    const std::string kind = Py_TYPE(value.ptr())->tp_name;
    const std::string_view advice = PyDict_Check(value.ptr())     ? "; give each of its values a column of its own"
                                    : PyAnySet_Check(value.ptr()) ? "; give sorted(…) of it, as a set has no order"
                                                                  : "; a column holds numbers, bools, bytes or texts";
    throw TypeError(Where(), " is ", ShownValue(value), " (", kind, ")", advice);
  }

  // All are of one kind.
  void Note(Kind kind, const py::handle& value) {
    if (kind_ == kind) return;
    if (kind_ == Kind::kNone) {
      kind_ = kind;
      kind_where_ = Where();
      return;
    }
    throw TypeError(Where(), " is ", ShownValue(value), ", ", KindName(kind), ", and ", kind_where_, " is ",
                    KindName(kind_), "; give one kind: convert the others");
  }

  // ---- shapes ----

  // A list of so many at a depth.
  void EnterList(size_t depth, Py_ssize_t size) {
    if (depth < shape_.size() ? shape_[depth] != size : leaves_) RefuseShape(depth, Cat("a list of ", size));
    if (depth < shape_.size()) return;
    if (depth >= kMostLists) {
      throw ValueError("it has more than ", kMostLists, " lists within each other");
    }
    shape_.push_back(size);
    if (size == 0) leaves_ = true;
    lists_.push_back(Cat(Where(), " is a list of ", size));
  }

  // An element below so many lists, that is an array of the shape itself.
  void EnterLeaf(size_t depth, const std::vector<Py_ssize_t>& shape) {
    if (!leaves_) {
      leaves_ = true;
      unit_ = shape;
      leaf_ = Cat(Where(), " is ", ShapeText(shape));
      return;
    }
    if (depth != shape_.size() || shape != unit_) RefuseShape(depth, ShapeText(shape));
  }

  static std::string ShapeText(const std::vector<Py_ssize_t>& shape) {
    if (shape.empty()) return "a single value";
    std::string text = "an array of shape (";
    for (size_t i = 0; i < shape.size(); ++i) Append(text, i > 0 ? ", " : "", shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
  }

  // ---- elements ----

  void Walk(const py::handle& value, size_t depth) {
    if (IsList(value)) return WalkList(value, depth);
    if (WalkPlain(value, depth) || WalkScalar(value, depth)) return;
    if (HasDType(value)) return WalkTyped(py::reinterpret_borrow<py::object>(value), depth);
    if (!IsOtherSequence(value)) RefuseElement(value);
    PyObject* const listed = PySequence_List(value.ptr());
    if (listed == nullptr) throw py::error_already_set();
    WalkList(py::reinterpret_steal<py::list>(listed), depth);
  }

  void WalkList(const py::handle& list, size_t depth) {
    if (leaves_ && depth == shape_.size() && !unit_.empty()) {
      return WalkTyped(ExactElements(elements_, place_).Array(py::reinterpret_borrow<py::object>(list)), depth);
    }
    EnterList(depth, PySequence_Size(list.ptr()));
    place_.push_back(0);
    // Conversions may run code that changes the list.
    for (Py_ssize_t i = 0; i < PySequence_Size(list.ptr()); ++i) {
      const py::object element = py::reinterpret_steal<py::object>(PySequence_GetItem(list.ptr(), i));
      if (!element) throw py::error_already_set();
      place_.back() = static_cast<size_t>(i);
      Walk(element, depth + 1);
    }
    place_.pop_back();
  }

  // One of Python's own values; false: it is something else.
  bool WalkPlain(const py::handle& value, size_t depth) {
    PyObject* const object = value.ptr();
    if (PyFloat_Check(object)) {
      Note(Kind::kNumber, value);
      any_float_ = true;
    } else if (PyBool_Check(object)) {
      Note(Kind::kBool, value);
    } else if (PyLong_Check(object)) {
      Note(Kind::kNumber, value);
      NoteWhole(value);
      any_whole_ = true;
    } else if (PyUnicode_Check(object)) {
      Note(Kind::kText, value);
    } else if (PyBytes_Check(object)) {
      Note(Kind::kBytes, value);
    } else {
      return false;
    }
    EnterLeaf(depth, {});
    flat_.append(value);
    return true;
  }

  // A NumPy scalar; false: it is something else.
  bool WalkScalar(const py::handle& value, size_t depth) {
    auto* const generic = reinterpret_cast<PyTypeObject*>(GenericType().ptr());
    if (PyObject_TypeCheck(value.ptr(), generic) == 0) return false;
    const py::dtype type = py::reinterpret_borrow<py::dtype>(py::object(value.attr("dtype")));
    const char kind = type.kind();
    if (std::string_view("biuf").find(kind) == std::string_view::npos) return false;
    Note(kind == 'b' ? Kind::kBool : Kind::kNumber, value);
    if (kind == 'i' || kind == 'u') NoteWhole(py::int_(py::reinterpret_borrow<py::object>(value)));
    NoteType(type);
    EnterLeaf(depth, {});
    flat_.append(value);
    return true;
  }

  void NoteWhole(const py::handle& whole) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (overflow == 0) {
      if (number < 0 && negative_.empty()) negative_ = Cat(Where(), " is ", number);
      if (!ExactInDouble(static_cast<int64_t>(number)) && inexact_.empty()) inexact_ = Cat(Where(), " is ", number);
      return;
    }
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(whole.ptr()) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw ValueError(Where(), " is ", ShownValue(whole), ", which no dtype of whole numbers holds; give texts");
    }
    if (large_.empty()) large_ = Cat(Where(), " is ", large);
    if (!ExactInDouble(static_cast<uint64_t>(large)) && inexact_.empty()) inexact_ = Cat(Where(), " is ", large);
  }

  // What has a dtype: a NumPy scalar, an array, a tensor.
  void WalkTyped(const py::object& value, size_t depth) {
    const py::array array = TypedOrNamed(value);
    const char kind = array.dtype().kind();
    if (kind == 'O' || kind == 'S' || kind == 'U') return WalkObjects(value, array, depth);
    if (leaves_ && array.ndim() > static_cast<py::ssize_t>(unit_.size()) && depth < shape_.size()) {
      return WalkRows(array, depth);
    }
    Note(kind == 'b' ? Kind::kBool : Kind::kNumber, value);
    if (array.ndim() == 0 && (kind == 'i' || kind == 'u')) NoteWhole(py::int_(array.attr("item")()));
    if (array.ndim() > 0 && (kind == 'i' || kind == 'u')) NoteWholes(array);
    NoteType(array.dtype());
    EnterLeaf(depth, std::vector<Py_ssize_t>(array.shape(), array.shape() + array.ndim()));
    flat_.append(array);
  }

  py::array TypedOrNamed(const py::object& value) const {
    try {
      return TypedArray(value);
    } catch (const py::type_error& error) {
      throw TypeError(Where(), ": ", error.what());
    }
  }

  // Along the first axis, where the lists before were nested deeper.
  void WalkRows(const py::array& array, size_t depth) {
    EnterList(depth, array.shape(0));
    place_.push_back(0);
    for (py::ssize_t i = 0; i < array.shape(0); ++i) {
      place_.back() = static_cast<size_t>(i);
      WalkTyped(array.attr("__getitem__")(i), depth + 1);
    }
    place_.pop_back();
  }

  void WalkObjects(const py::object& value, const py::array& array, size_t depth) {
    const py::object listed = array.attr("tolist")();
    if (array.ndim() == 0 && (listed.is(value) || array.dtype().kind() == 'O')) {
      // NumPy makes such an array of what it does not know.
      if (IsOtherSequence(listed) || IsList(listed)) RefuseElement(value);
      if (!WalkPlain(listed, depth)) RefuseElement(listed);
      return;
    }
    Walk(listed, depth);
  }

  void NoteType(const py::dtype& type) {
    for (const py::handle known : types_) {
      if (known.is(type) || known.equal(type)) return;
    }
    types_.append(type);
  }

  void NoteWholes(const py::array& array) {
    if (array.size() == 0 || array.itemsize() < 8) {
      // Smaller ones are exact in float64, and result_type widens them.
      if (array.size() > 0 && negative_.empty() && array.dtype().kind() == 'i') NoteSign(array);
      return;
    }
    NoteWhole(py::int_(array.attr("min")()));
    NoteWhole(py::int_(array.attr("max")()));
    if (!inexact_.empty()) return;
    const py::object as_floats = array.attr("astype")("float64").attr("astype")("longdouble");
    const py::object same = NumPy().attr("array_equal")(as_floats, array.attr("astype")("longdouble"));
    if (!same.cast<bool>()) inexact_ = Cat(Where(), " has a whole number");
  }

  void NoteSign(const py::array& array) { NoteWhole(py::int_(array.attr("min")())); }

  // ---- the array ----

  py::object Flat() {
    switch (kind_) {
      case Kind::kNone:
        return NumPy().attr("empty")(0, "float64");
      case Kind::kText:
      case Kind::kBytes:
        return Objects();
      case Kind::kBool:
        return Made(py::dtype("bool"));
      case Kind::kNumber:
        break;
    }
    return Made(NumberType());
  }

  py::object Objects() const {
    const auto size = static_cast<py::ssize_t>(flat_.size());
    py::array array(py::dtype("O"), std::vector<py::ssize_t>{size});
    auto** items = static_cast<PyObject**>(size == 0 ? nullptr : array.mutable_data());
    for (py::ssize_t i = 0; i < size; ++i) {
      PyObject* const before = std::exchange(items[i], py::object(flat_[static_cast<size_t>(i)]).release().ptr());
      Py_XDECREF(before);
    }
    return array;
  }

  py::object Made(const py::dtype& type) const { return NumPy().attr("array")(flat_, py::arg("dtype") = type); }

  py::dtype NumberType() {
    if (any_float_) NoteType(py::dtype("float64"));
    if (any_whole_) NoteType(py::dtype("int64"));
    const bool single = types_.size() == 1;
    if (single && (!any_whole_ || large_.empty())) return py::reinterpret_borrow<py::dtype>(types_[0]);
    const py::dtype joined = Joined(types_);
    if (AllWhole(types_)) return IsWhole(joined) && large_.empty() ? joined : WholeType();
    if (!inexact_.empty()) {
      throw ValueError(inexact_,
                       ", which float64 does not hold, and others are not whole; give whole numbers "
                       "alone, or texts");
    }
    return joined;
  }

  static bool IsWhole(const py::handle& type) {
    const char kind = py::reinterpret_borrow<py::dtype>(type).kind();
    return kind == 'i' || kind == 'u';
  }
  static bool AllWhole(const py::list& types) {
    for (const py::handle type : types) {
      if (!IsWhole(type)) return false;
    }
    return true;
  }

  // The dtype that holds the numbers of all.
  static py::dtype Joined(const py::list& types) {
    std::string names;
    for (const py::handle type : types) Append(names, names.empty() ? "" : " and ", MessageBytes(py::str(type)));
    bool built_in = true;
    for (const py::handle type : types) {
      built_in &=
          std::string_view("biuf").find(py::reinterpret_borrow<py::dtype>(type).kind()) != std::string_view::npos;
    }
    if (!built_in) throw TypeError("it has numbers of ", names, "; convert them to one dtype");
    return py::reinterpret_steal<py::dtype>(NumPy().attr("result_type")(*py::tuple(types)).release());
  }

  py::dtype WholeType() const {
    if (large_.empty()) return py::dtype("int64");
    if (negative_.empty()) return py::dtype("uint64");
    throw ValueError(negative_, " and ", large_, ", and no dtype of whole numbers holds both; give texts");
  }

  const Elements elements_;
  std::vector<size_t> place_;
  std::vector<Py_ssize_t> shape_;   // of the lists
  std::vector<Py_ssize_t> unit_;    // of each element
  bool leaves_ = false;             // both are known
  std::vector<std::string> lists_;  // the first list at each depth
  std::string leaf_;                // the first element
  Kind kind_ = Kind::kNone;
  std::string kind_where_;
  py::list flat_;
  py::list types_;  // the dtypes of those that have one
  bool any_float_ = false;
  bool any_whole_ = false;
  // The first of them, and where it is: a negative one, one beyond int64, one that float64 does not hold.
  std::string negative_;
  std::string large_;
  std::string inexact_;
};

}  // namespace

py::object WithoutGradient(py::object value) {
  if (!IsTorchTensor(value)) return value;
  if (!value.attr("requires_grad").cast<bool>()) return value;
  WarnOfGradient();
  return value.attr("detach")();
}

bool IsBFloat16OfTorch(const py::object& value) {
  return IsTorchTensor(value) && value.attr("dtype").is(ImportedModule("torch").attr("bfloat16"));
}

py::object BitsOfBFloat16(const py::object& tensor) {
  return tensor.attr("view")(ImportedModule("torch").attr("int16")).attr("numpy")();
}

py::object ExactArray(const py::object& value, Elements elements) {
  const bool plain = IsList(value) || PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()) ||
                     PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
  if (!plain && HasDType(value)) return TypedArray(value);
  return ExactElements(elements).Array(value);
}

}  // namespace headrace::python
