// `ArrayOver` gives Python an array over the memory of a vector, which the array then owns.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_ARRAY_OVER_H_
#define HEADRACE_PYTHON_BINDING_MODULE_ARRAY_OVER_H_

#include <pybind11/numpy.h>

#include <memory>
#include <utility>
#include <vector>

namespace headrace::python {

// `shape` has as many elements as there are values.
template <typename T>
pybind11::array_t<T> ArrayOver(std::vector<T> values, std::vector<pybind11::ssize_t> shape) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  const T* const data = held->data();
  const pybind11::capsule owner(held.get(), [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  held.release();
  return pybind11::array_t<T>(std::move(shape), data, owner);
}

template <typename T>
pybind11::array_t<T> ArrayOver(std::vector<T> values) {
  const auto count = static_cast<pybind11::ssize_t>(values.size());
  return ArrayOver(std::move(values), {count});
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_ARRAY_OVER_H_
