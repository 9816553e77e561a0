// `ArrowData` is a table or a stream of Python by the Arrow C data interface, and how its columns are read: the object
// that a graph's reference names. `BindArrow` adds it to the module.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_ARROW_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_ARROW_BINDING_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/operator/host.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "io/formats/arrow/arrow_owner.h"
#include "io/formats/arrow/arrow_stream.h"
#include "io/formats/arrow/arrow_table.h"

namespace headrace::python {

class __attribute__((visibility("hidden"))) ArrowData {
 public:
  // An object with __arrow_c_stream__ or __arrow_c_array__, or an iterator of objects with the latter. `table`: all of
  // it is taken now, and its rows have numbers.
  ArrowData(const pybind11::object& given, bool table);

  // [(name, dtype, whether it is a list, whether it is a dictionary, extension, its metadata)]
  pybind11::list Fields() const;
  // {bytes: bytes}
  pybind11::dict Metadata() const;
  // Chooses columns, and reads a table. Once: kInternal of a second call, and of a stream also after one that failed.
  void Read(std::optional<std::vector<std::string>> columns, const std::map<std::string, std::vector<int64_t>>& shapes,
            std::map<std::string, std::vector<std::string>> classes, const pybind11::dict& fills);
  // As Read chose them: [(name, dtype, shape)]. These three are kInternal before Read.
  pybind11::list Columns() const;
  pybind11::dict Units() const;
  pybind11::dict Classes() const;
  // None: it is a stream.
  std::optional<uint64_t> Rows() const;
  const HostArrow& bound() const { return bound_; }

 private:
  const ArrowMapping& mapping() const;

  ArrowOwner<ArrowSchema> schema_;
  std::unique_ptr<StreamOwner> stream_;  // until it is read
  bool table_ = false;
  std::vector<HeldArrow> arrays_;  // of a table, until it is read
  HostArrow bound_;
};

void BindArrow(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_ARROW_BINDING_H_
