#include "python/binding/module/files_binding.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/glob.h"
#include "io/files/plainly_missing.h"
#include "python/binding/host/host_file_system.h"
#include "python/binding/host/read_file.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

std::shared_ptr<ReadFile> OpenFile(const std::string& path) {
  int64_t size = 0;
  auto file = ValueOrRaise(RunOnFiles([&]() -> absl::StatusOr<std::shared_ptr<const RandomAccessFile>> {
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> opened, DefaultFileSystem()->Open(path));
    HEADRACE_ASSIGN_OR_RETURN(size, opened->Size());
    return opened;
  }));
  return std::make_shared<ReadFile>(std::move(file), size);
}

py::bytes ReadWhole(const std::string& path) {
  const Tensor bytes = ValueOrRaise(RunOnFiles([&] { return DefaultFileSystem()->Read(path); }));
  return {reinterpret_cast<const char*>(bytes.data<uint8_t>()), bytes.bytes()};
}

bool IsFar(const std::string& path) {
  const ContextStorage storage;
  return ValueOrRaise(DefaultFileSystem()->Locate(path)).files->local() == nullptr;
}

// Raises why a far file that is not there cannot be read, where its store gives a reason: refused keys are no missing
// file.
void CheckReadable(const std::string& path) {
  const absl::Status opened = RunOnFiles([&] { return DefaultFileSystem()->Open(path); }).status();
  if (!IsPlainlyMissing(opened)) RaiseIfError(opened);
}

const char* TypeNameOf(EntryType type) {
  if (type == EntryType::kFile) return "file";
  return type == EntryType::kFolder ? "folder" : "other";
}

// (type, size, version, changed_ns); None: there is nothing.
py::object StatOf(const std::string& path) {
  const absl::StatusOr<FileStat> stat = RunOnFiles([&] { return DefaultFileSystem()->Stat(path); });
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) return py::none();
  RaiseIfError(stat.status());
  return py::make_tuple(TypeNameOf(stat->type), stat->size, py::bytes(stat->version), stat->changed_ns);
}

py::list EntriesOf(std::vector<FolderEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  py::list list;
  for (const FolderEntry& entry : entries) {
    list.append(py::make_tuple(NameText(entry.name), TypeNameOf(entry.type), entry.size));
  }
  return list;
}

// [(name, type, size)] by name.
py::list ListFolder(const std::string& folder) {
  return EntriesOf(ValueOrRaise(RunOnFiles([&] { return DefaultFileSystem()->List(folder, true); })));
}

absl::StatusOr<std::vector<FolderEntry>> TreeOf(const std::string& folder) {
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, DefaultFileSystem()->Locate(folder));
  if (located.files->far() == nullptr) return UnsupportedError(folder, " is not in a far store");
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FolderPages> pages, located.files->far()->ListTree(located.path));
  std::vector<FolderEntry> entries;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<FolderEntry> page, pages->Next());
    if (page.empty()) return entries;
    std::move(page.begin(), page.end(), std::back_inserter(entries));
  }
}

// The files that match, as paths.
py::list MatchesOf(const std::string& pattern) {
  const PathArena paths = ValueOrRaise(RunOnFiles([&] { return Glob(*DefaultFileSystem(), {pattern}); }));
  py::list list;
  for (int64_t i = 0; i < paths.size(); ++i) list.append(NameText(paths[i]));
  return list;
}

}  // namespace

void BindFiles(py::module_& module) {
  py::class_<ReadFile, std::shared_ptr<ReadFile>>(module, "ReadFile")
      .def_property_readonly("size", &ReadFile::size)
      .def("read_at", &ReadFile::ReadAt, py::arg("offset"), py::arg("size"))
      .def("read_into", &ReadFile::ReadBuffer, py::arg("offset"), py::arg("target"));
  module.def("open_file", &OpenFile, py::arg("path"));
  module.def("read_file", &ReadWhole, py::arg("path"));
  module.def("check_readable", &CheckReadable, py::arg("path"));
  module.def("is_far", &IsFar, py::arg("path"));
  module.def("stat_file", &StatOf, py::arg("path"));
  module.def("list_folder", &ListFolder, py::arg("folder"));
  module.def(
      "list_tree",
      [](const std::string& folder) { return EntriesOf(ValueOrRaise(RunOnFiles([&] { return TreeOf(folder); }))); },
      py::arg("folder"));
  module.def("match_files", &MatchesOf, py::arg("pattern"));
  module.def("register_filesystem", &RegisterHostFileSystem, py::arg("scheme"), py::arg("files"));
}

}  // namespace headrace::python
