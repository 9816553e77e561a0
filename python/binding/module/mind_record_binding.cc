#include "python/binding/module/mind_record_binding.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/default_file_system.h"
#include "io/files/file_system.h"
#include "io/formats/mindrecord/mind_file.h"
#include "ops/source/mindrecord/mind_fields.h"
#include "ops/source/mindrecord/mind_paths.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

struct FoundMindFiles {
  std::vector<std::string> paths = {};
  std::vector<std::string> fields = {};
};

absl::StatusOr<FoundMindFiles> FindFields(const std::vector<std::string>& texts, bool one) {
  const FileSystem& files = *DefaultFileSystem();
  HEADRACE_ASSIGN_OR_RETURN(MindPaths found, FindMindFiles(files, texts, one));
  HEADRACE_ASSIGN_OR_RETURN(const MindFile first, ReadMindFile(files, found.paths[0]));
  FoundMindFiles result;
  for (const MindField& field : first.header.fields) result.fields.push_back(MindFieldText(field));
  result.paths = std::move(found.paths);
  return result;
}

// The paths of the files, and the fields of the first.
std::pair<pybind11::list, pybind11::list> Fields(const std::vector<std::string>& texts, bool one) {
  const FoundMindFiles found = ValueOrRaise(RunForkableInterruptible([&] { return FindFields(texts, one); }));
  return {NameTexts(found.paths), NameTexts(found.fields)};
}

absl::StatusOr<ItemIndex> FindSpans(const std::string& path) {
  const FileSystem& files = *DefaultFileSystem();
  HEADRACE_ASSIGN_OR_RETURN(const MindFile file, ReadMindFile(files, path));
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> opened, files.Open(path));
  return WalkMindRows(*opened, file.header);
}

pybind11::bytes BytesOfOffsets(const std::vector<int64_t>& offsets) {
  return {reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(int64_t)};
}

// Where the scalars of the rows begin and end in the file, and their blobs, as int64.
pybind11::tuple Spans(const std::string& path) {
  const ItemIndex index = ValueOrRaise(RunForkableInterruptible([&] { return FindSpans(path); }));
  return pybind11::make_tuple(BytesOfOffsets(index.parts[0].begins), BytesOfOffsets(index.parts[0].ends),
                              BytesOfOffsets(index.parts[1].begins), BytesOfOffsets(index.parts[1].ends));
}

}  // namespace

void BindMindRecords(pybind11::module_& module) {
  module.def("mind_record_fields", &Fields, pybind11::arg("paths"), pybind11::arg("one"));
  module.def("mind_record_spans", &Spans, pybind11::arg("path"));
}

}  // namespace headrace::python
