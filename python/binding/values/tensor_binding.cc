#include "python/binding/values/tensor_binding.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/dlpack.h"
#include "core/error.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/exact_array.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/unlocked.h"
#include "python/binding/values/value_conversion.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// Sharing memory costs a capsule, a list entry and a lock; for values in a row smaller than this a copy is cheaper.
constexpr py::ssize_t kSmall = 1024;

py::dtype NumpyType(DType dtype) {
  if (dtype == DType::kBFloat16) {
    try {
      return py::dtype::from_args(py::object(py::module_::import("ml_dtypes").attr("bfloat16")));
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_ImportError)) throw;
    }
    Raise(UnsupportedError(
        "NumPy has no bfloat16: pip install ml_dtypes, cast with TypeCast('float32'), or iterate with as_='torch' or "
        "as_='dlpack'"));
  }
  static std::array<PyObject*, 16> types = {};
  PyObject*& type = types[static_cast<size_t>(dtype)];
  if (type == nullptr) type = py::dtype(std::string(DTypeName(dtype))).release().ptr();
  return py::reinterpret_borrow<py::dtype>(type);
}

py::object StringObject(DType dtype, std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  PyObject* object = dtype == DType::kBytes ? PyBytes_FromStringAndSize(bytes.data(), size)
                                            // Paths are strings whose bytes need not be UTF-8.
                                            : PyUnicode_DecodeUTF8(bytes.data(), size, "surrogateescape");
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::capsule Keeper(const Tensor& tensor) {
  auto kept = std::make_unique<Tensor>(tensor);
  py::capsule capsule(kept.get(), [](void* tensor) {
    delete static_cast<Tensor*>(tensor);
    ReleaseNow();
  });
  kept.release();
  return capsule;
}

void MakeReadOnly(const py::array& array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
}

py::object ViewOf(const Tensor& tensor, std::string_view bytes) {
  const py::array array(NumpyType(DType::kUInt8), {static_cast<py::ssize_t>(bytes.size())}, {1}, bytes.data(),
                        Keeper(tensor));
  MakeReadOnly(array);
  return py::memoryview(array);
}

py::object StringOf(const Tensor& tensor, int64_t element, Bytes bytes) {
  const std::string_view value = tensor.bytes_at(element);
  if (tensor.dtype() == DType::kBytes && bytes == Bytes::kViewed) return ViewOf(tensor, value);
  return StringObject(tensor.dtype(), value);
}

py::object StringArray(const Tensor& tensor, Bytes bytes) {
  if (tensor.rank() == 0) return StringOf(tensor, 0, bytes);
  const py::array array(py::dtype("O"), std::vector<py::ssize_t>(tensor.shape().begin(), tensor.shape().end()));
  auto** items = static_cast<PyObject**>(
      py::detail::array_proxy(array.ptr())->data == nullptr ? nullptr : const_cast<void*>(array.data()));
  const int64_t elements = tensor.elements();
  for (int64_t i = 0; i < elements; ++i) {
    PyObject* before = std::exchange(items[i], StringOf(tensor, i, bytes).release().ptr());
    Py_XDECREF(before);
  }
  return array;
}

bool Alone(const Tensor& tensor) { return tensor.buffer().unique(); }

// ---- DLPack ----

struct Lent {
  Tensor tensor;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DLManagedTensor plain;
  DLManagedTensorVersioned versioned;

  Lent(const Tensor& lent, DLDevice device) : tensor(lent), shape(lent.shape().begin(), lent.shape().end()) {
    for (int axis = 0; axis < lent.rank(); ++axis) {
      strides.push_back(lent.stride(axis) / static_cast<int64_t>(ItemSize(lent.dtype())));
    }
    const DLTensor view = {tensor.mutable_raw(), device, tensor.rank(), DLTypeOf(tensor.dtype()), shape.data(),
                           strides.data(),       0};
    plain = {view, this, [](DLManagedTensor* self) { delete static_cast<Lent*>(self->manager_ctx); }};
    versioned = {
        {1, 0}, this, [](DLManagedTensorVersioned* self) { delete static_cast<Lent*>(self->manager_ctx); }, 0, view};
  }
};

// An unused capsule still owns what it lends: consumers rename it.
template <typename Managed>
void DropUntaken(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

// The major version of (major, minor).
int MajorOf(const py::object& version) {
  if (version.is_none()) return 0;
  PyObject* major = PyTuple_Check(version.ptr()) && PyTuple_GET_SIZE(version.ptr()) == 2
                        ? PyTuple_GET_ITEM(version.ptr(), 0)
                        : nullptr;
  if (major == nullptr || !PyLong_Check(major)) throw TypeError("max_version must be (major, minor), or None");
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(major, &overflow);
  return overflow > 0 || number > 0 ? 1 : 0;
}

bool IsTrue(const py::object& value) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

class __attribute__((visibility("hidden"))) LentTensor {
 public:
  LentTensor(Tensor tensor, bool writable, const std::shared_ptr<DeviceBatch>& batch)
      : tensor_(std::move(tensor)), writable_(writable), batch_(batch) {
    if (batch_ != nullptr) device_ = {batch_->device().dlpack_type(), batch_->device().dlpack_id()};
    if (on_host()) batch_.reset();
  }

  py::tuple Device() const { return py::make_tuple(device_.device_type, device_.device_id); }
  bool on_host() const { return device_.device_type == kDLCPU; }

  py::object Lend(const py::object& stream, const py::object& max_version, const py::object& device,
                  const py::object& copy) const {
    if (!device.is_none() && !device.equal(Device())) {
      throw py::buffer_error(on_host()
                                 ? "headrace's tensors are in host memory"
                                 : "this tensor is on " + batch_->device().name() + " and is not copied elsewhere");
    }
    if (IsTrue(copy)) throw py::buffer_error("headrace lends memory and makes no copies of it");
    const int major = MajorOf(max_version);
    if (!on_host()) HandOver(stream);
    auto lent = std::make_unique<Lent>(tensor_, device_);
    if (major < 1) {
      return Capsule(&lent.release()->plain, "dltensor",
                     [](PyObject* capsule) { DropUntaken<DLManagedTensor>(capsule, "dltensor"); });
    }
    if (!writable_) lent->versioned.flags |= kDLPackReadOnly;
    return Capsule(&lent.release()->versioned, "dltensor_versioned",
                   [](PyObject* capsule) { DropUntaken<DLManagedTensorVersioned>(capsule, "dltensor_versioned"); });
  }

  // Version 3. Its users name no stream, so all work of the device is waited for before the memory is reused.
  py::dict CudaArrayInterface() const {
    if (on_host()) throw py::attribute_error("__cuda_array_interface__");
    // Of this type, so that hasattr() is false, and libraries that look for it take DLPack.
    if (tensor_.dtype() == DType::kBFloat16) {
      throw py::attribute_error("__cuda_array_interface__ has no bfloat16; use DLPack");
    }
    const bool empty = tensor_.elements() == 0;
    if (!empty) RunUnlocked([this] { return batch_->HandOverToAny(kLegacyStream); });
    py::dict dict;
    dict["shape"] = py::tuple(py::cast(std::vector<int64_t>(tensor_.shape().begin(), tensor_.shape().end())));
    dict["typestr"] = NumpyType(tensor_.dtype()).attr("str");
    dict["data"] = py::make_tuple(empty ? 0 : reinterpret_cast<uintptr_t>(tensor_.raw()), !writable_);
    dict["strides"] = py::none();
    dict["version"] = 3;
    dict["stream"] = kLegacyStream;
    return dict;
  }

  const Tensor& tensor() const { return tensor_; }
  const std::shared_ptr<DeviceBatch>& batch() const { return batch_; }

 private:
  static constexpr DeviceStream kLegacyStream = 1;
  static constexpr DeviceStream kPerThreadStream = 2;

  template <typename Work>
  static void RunUnlocked(const Work& work) {
    absl::Status status;
    {
      const Unlocked unlocked;
      status = work();
    }
    RaiseIfError(status);
  }

  // Makes the consumer's stream wait for the batch; see DLPack's protocol for Python.
  void HandOver(const py::object& stream) const {
    const auto number = stream.is_none() ? static_cast<int64_t>(kLegacyStream) : stream.cast<int64_t>();
    if (number == 0) throw ValueError("stream 0 is ambiguous; give 1 for the legacy default stream");
    if (number == static_cast<int64_t>(kPerThreadStream)) {
      throw py::buffer_error(
          "the per-thread default stream (2) is another one on the thread that releases the tensor; "
          "use a stream of your own");
    }
    if (number < 0) {
      RunUnlocked([this] { return batch_->HandOverToAny(); });
    } else {
      RunUnlocked([&] { return batch_->HandOver(static_cast<DeviceStream>(number)); });
    }
  }

  static py::object Capsule(void* managed, const char* name, PyCapsule_Destructor destructor) {
    PyObject* capsule = PyCapsule_New(managed, name, destructor);
    if (capsule == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(capsule);
  }

  Tensor tensor_;
  bool writable_;
  std::shared_ptr<DeviceBatch> batch_;  // null: on the host
  DLDevice device_ = {kDLCPU, 0};
};

// Names further streams that use a batch, and does not keep its memory.
class __attribute__((visibility("hidden"))) BatchStreams {
 public:
  explicit BatchStreams(std::weak_ptr<DeviceBatch> batch) : batch_(std::move(batch)) {}
  void Record(uintptr_t stream) const {
    if (stream == 0 || stream == 2) {
      throw ValueError("stream is 0 or 2; give 1 for the legacy default stream, or a stream of your own");
    }
    if (const std::shared_ptr<DeviceBatch> batch = batch_.lock()) RaiseIfError(batch->Record(stream));
  }

 private:
  std::weak_ptr<DeviceBatch> batch_;
};

// ---- from Python ----

// Of one of NumPy's own numbers, whose names NumPy takes microseconds to give.
std::optional<DType> BuiltInDType(const py::dtype& type) {
  constexpr int kLastBuiltIn = 23;
  if (type.num() > kLastBuiltIn) return std::nullopt;
  switch (type.kind()) {
    case 'b':
      return DType::kBool;
    case 'i':
      return DTypeFromName(Cat("int", 8 * type.itemsize()));
    case 'u':
      return DTypeFromName(Cat("uint", 8 * type.itemsize()));
    case 'f':
      return DTypeFromName(Cat("float", 8 * type.itemsize()));
    default:
      return std::nullopt;
  }
}

DType DTypeOfArray(const py::array& array) {
  const py::dtype type = array.dtype();
  const char kind = type.kind();
  if (kind == 'S') return DType::kBytes;
  if (kind == 'U') return DType::kString;
  if (const std::optional<DType> known = BuiltInDType(type); known.has_value()) return *known;
  const std::string name = py::str(type.attr("name"));
  const std::optional<DType> dtype = DTypeFromName(name);
  const bool held = dtype.has_value() && !IsVariableLength(*dtype) && *dtype != DType::kUnknown;
  // Checks more than the name, because libraries may define their own dtypes.
  if (!held || static_cast<size_t>(type.itemsize()) != ItemSize(*dtype)) {
    throw TypeError("no column can hold dtype " + name +
                    " (bool, integers, floats up to float64, bytes and str can be held)");
  }
  return *dtype;
}

// The bytes of a text. One that ArrayOf gave for bytes that are not UTF-8, such as a path, has these bytes again; they
// are kept in `loose`.
std::string_view Utf8(const py::handle& text, std::vector<py::object>& loose) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data != nullptr) return {data, static_cast<size_t>(size)};
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr) {
    PyErr_Clear();
    throw ValueError(ShownValue(text), " is a text that UTF-8 cannot hold");
  }
  loose.push_back(py::reinterpret_steal<py::object>(bytes));
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

std::string_view BytesView(const py::handle& bytes) {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// From an object, `S` or `U` array: every element bytes, or every element str.
Tensor TensorOfStrings(const py::array& array) {
  const py::list elements = array.attr("reshape")(-1).attr("tolist")();
  std::vector<std::string_view> views;
  std::vector<py::object> loose;
  bool all_bytes = true;
  bool all_text = true;
  for (const py::handle element : elements) {
    all_bytes &= PyBytes_Check(element.ptr()) != 0;
    all_text &= PyUnicode_Check(element.ptr()) != 0;
    if (!all_bytes && !all_text) {
      throw TypeError("an array of Python objects must hold bytes alone or str alone; found ",
                      MessageBytes(py::type::of(element).attr("__name__")), " at ", views.size());
    }
    views.push_back(all_bytes ? BytesView(element) : Utf8(element, loose));
  }
  // Without elements, the array's own type decides.
  const bool text = views.empty() ? array.dtype().kind() != 'S' : all_text;
  const Shape shape(array.shape(), array.shape() + array.ndim());
  return ValueOrRaise(Tensor::CopyBytesArray(text ? DType::kString : DType::kBytes, shape, views));
}

bool IsPlainArray(const py::handle& value) { return Py_TYPE(value.ptr()) == py::detail::npy_api::get().PyArray_Type_; }

bool InMachineOrder(const py::array& array) {
  const char order = array.dtype().byteorder();
  return order == '=' || order == '|';
}

bool HasNativeNumbers(const py::array& array) {
  const char kind = array.dtype().kind();
  return kind != 'O' && kind != 'S' && kind != 'U' && InMachineOrder(array);
}

// Row-major and aligned, with numbers as the machine has them.
bool IsPlainLayout(const py::array& array) {
  constexpr int kFlags = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  return (array.flags() & kFlags) == kFlags && InMachineOrder(array);
}

// Memory that the caller keeps.
BufferRef BorrowedOrRaise(const void* data, size_t bytes) {
  BufferRef buffer = BufferRef::Borrowed(data, bytes);
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

// A fresh result has one reference from the caller, whose `value` we hold, and no other.
bool OwnedAlone(const py::array& array) { return array.owndata() && Py_REFCNT(array.ptr()) == 1; }

// `as`: what the bits of its numbers are, where NumPy has no such dtype.
Tensor TensorOfArray(py::array array, Sharing sharing, OutputAllocator& output,
                     std::optional<DType> as = std::nullopt) {
  const char kind = array.dtype().kind();
  if (kind == 'O' || kind == 'S' || kind == 'U') return TensorOfStrings(array);
  const DType dtype = as.has_value() ? *as : DTypeOfArray(array);
  const bool plain = IsPlainLayout(array);
  const Shape shape(array.shape(), array.shape() + array.ndim());
  const bool shares = sharing == Sharing::kAlways ? array.nbytes() > 0 : array.nbytes() > kSmall && OwnedAlone(array);
  if (plain && shares) {
    void* data = const_cast<void*>(array.data());
    const auto bytes = static_cast<size_t>(array.nbytes());
    const auto owner = std::make_shared<HeldObject>(std::move(array));
    return Tensor::View(dtype, shape, BufferRef::Foreign(data, bytes, [owner] {}), data);
  }
  if (!plain) {
    const py::object native = array.dtype().attr("newbyteorder")("=");
    array = py::array(array.attr("astype")(native, "C"));
  }
  Tensor tensor = ValueOrRaise(output.Allocate(dtype, shape));
  if (array.nbytes() > 0) std::memcpy(tensor.mutable_raw(), array.data(), static_cast<size_t>(array.nbytes()));
  return tensor;
}

template <typename T>
Tensor NumberTensor(T number, OutputAllocator& output) {
  Tensor tensor = ValueOrRaise(output.Allocate(DTypeOf<T>::value, {}));
  std::memcpy(tensor.mutable_raw(), &number, sizeof(number));
  return tensor;
}

// Python's own numbers, as NumPy converts them, at a tenth of its time; invalid: it is none, or too large.
Tensor TensorOfNumber(const py::handle& value, OutputAllocator& output) {
  if (PyFloat_CheckExact(value.ptr())) return NumberTensor(PyFloat_AS_DOUBLE(value.ptr()), output);
  if (PyBool_Check(value.ptr())) return NumberTensor(value.ptr() == Py_True, output);
  if (!PyLong_CheckExact(value.ptr())) return {};
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return overflow != 0 ? Tensor() : NumberTensor(static_cast<int64_t>(number), output);
}

}  // namespace

py::object ArrayOf(const Tensor& tensor, Access access, Bytes bytes) {
  if (IsVariableLength(tensor.dtype())) return StringArray(tensor, bytes);
  const bool writable = access == Access::kWhereAlone && Alone(tensor);
  const py::dtype type = NumpyType(tensor.dtype());
  std::vector<py::ssize_t> shape(tensor.shape().begin(), tensor.shape().end());
  std::vector<py::ssize_t> strides;
  for (int axis = 0; axis < tensor.rank(); ++axis) strides.push_back(tensor.stride(axis));
  py::array array(type, std::move(shape), std::move(strides), tensor.raw(), Keeper(tensor));
  if (!writable) MakeReadOnly(array);
  return array;
}

py::object DLPackOf(const Tensor& tensor, Bytes bytes, const std::shared_ptr<DeviceBatch>& batch) {
  if (IsVariableLength(tensor.dtype())) return StringArray(tensor, bytes);
  return py::cast(LentTensor(tensor, Alone(tensor), batch));
}

Tensor TensorOf(py::object value, Sharing sharing) {
  OutputAllocator output;
  return TensorOf(std::move(value), sharing, output);
}

Tensor TensorOf(py::object value, Sharing sharing, OutputAllocator& output) {
  if (Tensor number = TensorOfNumber(value, output); number.valid()) return number;
  if (PyBytes_Check(value.ptr())) return ValueOrRaise(Tensor::CopyBytes(DType::kBytes, BytesView(value)));
  if (PyUnicode_Check(value.ptr())) {
    std::vector<py::object> loose;
    return ValueOrRaise(Tensor::CopyBytes(DType::kString, Utf8(value, loose)));
  }
  if (PyByteArray_Check(value.ptr())) {
    const std::string_view bytes(PyByteArray_AS_STRING(value.ptr()),
                                 static_cast<size_t>(PyByteArray_GET_SIZE(value.ptr())));
    return ValueOrRaise(Tensor::CopyBytes(DType::kBytes, bytes));
  }
  if (value.is_none()) throw TypeError("None is no value for a column (does a function lack its return?)");
  if (IsPlainArray(value)) return TensorOfArray(py::reinterpret_steal<py::array>(value.release()), sharing, output);
  value = WithoutGradient(std::move(value));
  if (IsBFloat16OfTorch(value)) {
    return TensorOfArray(py::array(BitsOfBFloat16(value)), sharing, output, DType::kBFloat16);
  }
  // Of what is no array it is another object than `value`, and may be shared where nothing else refers to it.
  const bool array = py::isinstance<py::array>(value);
  py::object exact = ExactArray(value, Elements::kPlaces);
  value = py::object();
  // A subclass keeps its own behaviour, so the rest sees NumPy's own array.
  if (!IsPlainArray(exact)) exact = py::module_::import("numpy").attr("asarray")(exact);
  return TensorOfArray(py::reinterpret_steal<py::array>(exact.release()), array ? sharing : Sharing::kWhereAlone,
                       output);
}

Tensor ViewOf(py::handle value) {
  if (!PyBytes_Check(value.ptr())) return TensorOf(py::reinterpret_borrow<py::object>(value), Sharing::kAlways);
  const std::string_view bytes = BytesView(value);
  return Tensor::ViewBytes(DType::kBytes, BorrowedOrRaise(bytes.data(), bytes.size()), bytes.data(), bytes.size());
}

std::optional<StridedArray> StridedOf(py::object value) {
  const bool bfloat16 = IsBFloat16OfTorch(value);
  if (bfloat16) value = BitsOfBFloat16(WithoutGradient(std::move(value)));
  if (!py::isinstance<py::array>(value)) return std::nullopt;
  // A subclass keeps its own behaviour, so the rest sees NumPy's own array.
  if (!IsPlainArray(value)) {
    value = py::module_::import("numpy").attr("asarray")(ExactArray(value, Elements::kPlaces));
  }
  auto array = py::reinterpret_steal<py::array>(value.release());
  if (array.ndim() == 0 || IsPlainLayout(array) || !HasNativeNumbers(array)) return std::nullopt;
  const DType dtype = bfloat16 ? DType::kBFloat16 : DTypeOfArray(array);
  const Shape shape(array.shape(), array.shape() + array.ndim());
  const Shape strides(array.strides(), array.strides() + array.ndim());
  void* first = const_cast<void*>(array.data());
  const auto owner = std::make_shared<HeldObject>(std::move(array));
  // Counts no bytes: the memory is the user's.
  return StridedArray(dtype, shape, strides, BufferRef::Foreign(first, 0, [owner] {}), first);
}

Tensor SlotOver(py::handle array) {
  if (!py::isinstance<py::array>(array)) {
    Raise(GraphError("an output goes into an array of NumPy's, and this one is ",
                     std::string(py::str(py::type::of(array).attr("__name__")))));
  }
  const auto slot = py::reinterpret_borrow<py::array>(array);
  const DType dtype = DTypeOfArray(slot);
  if (!slot.writeable() || !IsPlainLayout(slot) || IsVariableLength(dtype)) {
    Raise(
        GraphError("an output goes into an array that is writable and row-major, of numbers in the machine's byte "
                   "order: numpy.empty(shape, dtype)"));
  }
  const Shape shape(slot.shape(), slot.shape() + slot.ndim());
  const auto bytes = static_cast<size_t>(slot.nbytes());
  return Tensor::View(dtype, shape, BorrowedOrRaise(slot.data(), bytes), slot.data());
}

void BindTensors(py::module_& module) {
  module.def(
      "exact_array", [](const py::object& value) { return ExactArray(value, Elements::kRows); }, py::arg("value"));
  py::class_<BatchStreams>(module, "BatchStreams").def("record", &BatchStreams::Record);
  py::class_<LentTensor>(module, "LentTensor", "A tensor, lent to other libraries through DLPack.")
      .def(
          "__dlpack__",
          [](const LentTensor& self, const py::object& stream, const py::object& max_version,
             const py::object& dl_device,
             const py::object& copy) { return self.Lend(stream, max_version, dl_device, copy); },
          py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
          py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__", &LentTensor::Device)
      .def_property_readonly("__cuda_array_interface__", &LentTensor::CudaArrayInterface)
      .def_property_readonly("streams", [](const LentTensor& self) { return BatchStreams(self.batch()); })
      .def_property_readonly("shape",
                             [](const LentTensor& self) {
                               return py::tuple(py::cast(
                                   std::vector<int64_t>(self.tensor().shape().begin(), self.tensor().shape().end())));
                             })
      .def_property_readonly("dtype",
                             [](const LentTensor& self) { return std::string(DTypeName(self.tensor().dtype())); })
      .def("__repr__", [](const LentTensor& self) { return Cat("<headrace tensor ", self.tensor().TypeName(), ">"); });
}

}  // namespace headrace::python
