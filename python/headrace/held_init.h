// `__init__` of classes bound by pybind11. Of a factory that gives a value, pybind11 makes the holder outside of what
// catches exceptions, so that a lack of memory there would end the process; of one that gives the holder it does not.
// Thread contract: with the GIL.
#ifndef HEADRACE_PYTHON_HELD_INIT_H_
#define HEADRACE_PYTHON_HELD_INIT_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

namespace headrace::python {

template <typename Bound, typename... Arguments>
auto HeldInit(Bound (*make)(Arguments...)) {
  return pybind11::init(
      [make](Arguments... arguments) { return std::make_unique<Bound>(make(std::forward<Arguments>(arguments)...)); });
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HELD_INIT_H_
