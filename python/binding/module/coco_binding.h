// `BindCoco` binds the reader of COCO's annotations, whose columns become arrays that own their memory.
// Threads: with the GIL held, which is released while a file is read.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_COCO_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_COCO_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindCoco(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_COCO_BINDING_H_
