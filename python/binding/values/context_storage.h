// `ContextStorage` makes the storage settings of Python's context, those of `with hr.storage({…})`, the calling
// thread's for a block of work that may open files. The context belongs to a thread or to a task of asyncio, so that
// tasks which take turns on one thread keep their own. Threads: made and destroyed by one thread, with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_CONTEXT_STORAGE_H_
#define HEADRACE_PYTHON_BINDING_VALUES_CONTEXT_STORAGE_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

#include "io/files/storage_settings.h"

namespace headrace::python {

// Those of the context of the calling thread; null: it has none.
std::shared_ptr<const StorageTable> StorageOfContext();

class ContextStorage {
 public:
  ContextStorage() {
    if (const std::shared_ptr<const StorageTable> table = StorageOfContext(); table != nullptr) scope_.emplace(*table);
  }
  ContextStorage(const ContextStorage&) = delete;

 private:
  std::optional<StorageScope> scope_;
};

// While it lives, Python's context of this thread has these settings, of whoever this thread works for. Null: it is
// left as it is.
class StorageInContext {
 public:
  explicit StorageInContext(const pybind11::handle& table);
  ~StorageInContext();
  StorageInContext(const StorageInContext&) = delete;

 private:
  PyObject* const token_;
};

// The object of Python for settings; null for null.
pybind11::object StorageObject(const std::shared_ptr<const StorageTable>& table);

// The class StorageTable, and the variable of the context that holds one.
void BindStorage(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_CONTEXT_STORAGE_H_
