#include "python/binding/values/arrow_objects.h"

#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/formats/arrow/same_types.h"
#include "python/binding/values/called.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/held_gil.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/thread_state.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

template <typename Struct>
Struct& StructIn(const py::handle& capsule, const char* name) {
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) {
    Raise(GraphError("the object does not follow the Arrow PyCapsule interface: it gave ",
                     MessageBytes(py::str(py::type::of(capsule))), " where a capsule must be of the name ", name));
  }
  auto* const held = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (held->release == nullptr) {
    Raise(GraphError("what the object shares was taken before, and can be taken once: make it anew: ", name));
  }
  return *held;
}

// A struct on the heap, which a thread with the GIL releases.
template <typename Struct>
class Released {
 public:
  explicit Released(ArrowOwner<Struct> owner) : owner_(new ArrowOwner<Struct>(std::move(owner))) {
    // The capsule runs the release where Python frees it.
    object_ = HeldObject(py::capsule(owner_, [](void* held) { delete static_cast<ArrowOwner<Struct>*>(held); }));
  }
  Struct* get() const { return owner_->get(); }

 private:
  ArrowOwner<Struct>* const owner_;
  HeldObject object_;
};

class TakenStream : public StreamOwner {
 public:
  explicit TakenStream(ArrowOwner<ArrowArrayStream> stream) : stream_(std::move(stream)) {}
  ArrowArrayStream* get() override { return stream_.get(); }

 private:
  const Released<ArrowArrayStream> stream_;
};

struct TakenBatch {
  ArrowOwner<ArrowSchema> schema;
  ArrowOwner<ArrowArray> array;
};

TakenBatch BatchOf(const py::handle& object) {
  if (!py::hasattr(object, "__arrow_c_array__")) {
    Raise(GraphError("the iterator must give record batches, which have __arrow_c_array__; it gave a ",
                     MessageBytes(py::str(py::type::of(object)))));
  }
  const py::object given = Called(object.attr("__arrow_c_array__"), py::tuple());
  if (!py::isinstance<py::tuple>(given) || py::len(given) != 2) {
    Raise(GraphError(
        "the object does not follow the Arrow PyCapsule interface: __arrow_c_array__ must give two capsules"));
  }
  const auto capsules = py::reinterpret_borrow<py::tuple>(given);
  TakenBatch taken;
  taken.schema = TakeArrowSchema(capsules[0]);
  taken.array = ArrowOwner<ArrowArray>::Take(StructIn<ArrowArray>(capsules[1], "arrow_array"));
  return taken;
}

std::string TextOfRaised(const py::error_already_set& raised) {
  try {
    return MessageBytes(py::str(raised.value()));
  } catch (const py::error_already_set&) {
    return "the iterator raised an exception that cannot be shown";
  }
}

class IteratorStream : public StreamOwner {
 public:
  explicit IteratorStream(const py::object& iterator) : iterator_(iterator) {
    stream_ = {&GetSchema, &GetNext, &GetLastError, &Release, this};
    const py::object first = NextOf(iterator);
    if (!first) {
      Raise(GraphError("the iterator gives no record batches, so the columns are not known; give one that has some"));
    }
    TakenBatch batch = BatchOf(first);
    first_schema_ = std::make_unique<Released<ArrowSchema>>(std::move(batch.schema));
    first_array_ = std::make_unique<Released<ArrowArray>>(std::move(batch.array));
    // A second time, as the first one's schema is handed on.
    schema_ = std::make_unique<Released<ArrowSchema>>(BatchOf(first).schema);
  }
  ArrowArrayStream* get() override { return &stream_; }

 private:
  static IteratorStream& Of(ArrowArrayStream* stream) { return *static_cast<IteratorStream*>(stream->private_data); }

  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
    *out = std::exchange(*Of(stream).first_schema_->get(), ArrowSchema{});
    return 0;
  }
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out) { return Of(stream).Next(*out); }
  static const char* GetLastError(ArrowArrayStream* stream) { return Of(stream).error_.c_str(); }
  static void Release(ArrowArrayStream* stream) { stream->release = nullptr; }

  int Next(ArrowArray& out) {
    out = std::exchange(*first_array_->get(), ArrowArray{});
    if (out.release != nullptr) return 0;
    if (!KeepThreadState()) {
      error_ = "the machine has no memory for a thread that calls the iterator";
      return ENOMEM;
    }
    const HeldGil gil;
    try {
      return Give(out);
    } catch (const py::error_already_set& raised) {
      error_ = TextOfRaised(raised);
    } catch (const std::exception& error) {
      error_ = error.what();
    }
    return EIO;
  }

  int Give(ArrowArray& out) {
    const py::object next = NextOf(iterator_.get());
    out = ArrowArray{};
    if (!next) return 0;
    TakenBatch batch = BatchOf(next);
    if (!SameTypes(*schema_->get(), *batch.schema)) {
      error_ = "a record batch has other columns than the first one; cast it to the same schema";
      return EINVAL;
    }
    out = std::exchange(*batch.array.get(), ArrowArray{});
    return 0;
  }

  HeldObject iterator_;
  // Until they are handed on.
  std::unique_ptr<Released<ArrowSchema>> first_schema_;
  std::unique_ptr<Released<ArrowArray>> first_array_;
  std::unique_ptr<Released<ArrowSchema>> schema_;
  ArrowArrayStream stream_ = {};
  std::string error_;
};

}  // namespace

ArrowOwner<ArrowSchema> TakeArrowSchema(const py::handle& capsule) {
  return ArrowOwner<ArrowSchema>::Take(StructIn<ArrowSchema>(capsule, "arrow_schema"));
}

HeldArrow TakeArrowArray(const py::handle& capsule) {
  auto held = std::make_shared<Released<ArrowArray>>(
      ArrowOwner<ArrowArray>::Take(StructIn<ArrowArray>(capsule, "arrow_array")));
  const ArrowArray* const array = held->get();
  return {std::move(held), array};
}

std::unique_ptr<StreamOwner> TakeArrowStream(const py::handle& capsule) {
  return std::make_unique<TakenStream>(
      ArrowOwner<ArrowArrayStream>::Take(StructIn<ArrowArrayStream>(capsule, "arrow_array_stream")));
}

ArrowKeeper KeepForPython() {
  return [](ArrowOwner<ArrowArray> array) -> HeldArrow {
    if (!KeepThreadState()) throw std::bad_alloc();
    const HeldGil gil;
    auto held = std::make_shared<Released<ArrowArray>>(std::move(array));
    const ArrowArray* const kept = held->get();
    return {std::move(held), kept};
  };
}

std::unique_ptr<StreamOwner> StreamOfIterator(const py::object& iterator) {
  // A class may only claim to be an iterator's.
  if (PyIter_Check(iterator.ptr()) == 0) {
    Raise(GraphError("data is a ", MessageBytes(py::str(py::type::of(iterator))), ", which is not an iterator"));
  }
  return std::make_unique<IteratorStream>(iterator);
}

}  // namespace headrace::python
