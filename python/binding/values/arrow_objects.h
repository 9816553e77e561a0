// `TakeArrow…` take over what the capsules of Python objects hold of the Arrow C data interface. Producers may be
// written in Python, so all is released by a thread with the GIL (python/binding/values/deferred_release.h), whichever
// thread lets go of it. Threads: with the GIL held; what they return may be let go on any thread.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_ARROW_OBJECTS_H_
#define HEADRACE_PYTHON_BINDING_VALUES_ARROW_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "io/formats/arrow/arrow_owner.h"
#include "io/formats/arrow/arrow_stream.h"

namespace headrace::python {

// Of capsules of their names ("arrow_schema", "arrow_array", "arrow_array_stream"). Raise GraphError for other objects,
// and for what was taken before.
ArrowOwner<ArrowSchema> TakeArrowSchema(const pybind11::handle& capsule);
HeldArrow TakeArrowArray(const pybind11::handle& capsule);
std::unique_ptr<StreamOwner> TakeArrowStream(const pybind11::handle& capsule);

// Keeps arrays that a producer gives on any thread, without the GIL.
ArrowKeeper KeepForPython();

// An iterator over objects with __arrow_c_array__, such as a generator of record batches, as a stream. Its callbacks
// take the GIL. Takes the first object now; raises what the iterator raises.
std::unique_ptr<StreamOwner> StreamOfIterator(const pybind11::object& iterator);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_ARROW_OBJECTS_H_
