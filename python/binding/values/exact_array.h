// `ExactArray` makes a NumPy array of what a user gives, with each value as it is or not at all. Use it in place of
// numpy.asarray, which rounds, cuts off and converts the elements of lists without a word.
//
// Lists, tuples and other sequences hold numbers alone, bools alone, texts alone or bytes alone, and their shapes
// agree. Texts and bytes become an object array, which keeps NULs at their ends. Whole numbers are int64, or uint64
// where one of them needs it; beside floats each must be one that float64 holds. NumPy's own numbers keep their dtype,
// or have the one that NumPy promotes them to. What has a dtype already (arrays, and what has their interface) stays as
// it is; a tensor of torch is detached.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_EXACT_ARRAY_H_
#define HEADRACE_PYTHON_BINDING_VALUES_EXACT_ARRAY_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

// How messages name an element.
enum class Elements {
  kPlaces,  // "[3][0]"
  kRows,    // "row 3", "row 3 at [0]"
};

// Throws type_error or value_error that names the element.
pybind11::object ExactArray(const pybind11::object& value, Elements elements);

// A tensor of torch without its gradient, with a warning once in the process if it has one; anything else as it is.
pybind11::object WithoutGradient(pybind11::object value);

// Whether it is a tensor of torch with dtype bfloat16, which NumPy does not have; and its numbers as int16.
bool IsBFloat16OfTorch(const pybind11::object& value);
pybind11::object BitsOfBFloat16(const pybind11::object& tensor);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_EXACT_ARRAY_H_
