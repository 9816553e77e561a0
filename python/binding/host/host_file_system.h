// `HostFileSystem` serves the URLs of a scheme by a file system of Python's, such as one of fsspec: what
// `hr.register_filesystem` is given, as headrace._files.host_files.HostFiles calls it. Its calls run on HostThreads,
// and an exception of theirs is the cause of the error that the user gets. It has no conditional reads: versions are
// compared where a file is opened, and of whole files after they were read. Threads: any thread, with or without the
// GIL.
#ifndef HEADRACE_PYTHON_BINDING_HOST_HOST_FILE_SYSTEM_H_
#define HEADRACE_PYTHON_BINDING_HOST_HOST_FILE_SYSTEM_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace::python {

class HostFileSystem : public FileSystem, public FarFiles {
 public:
  // The user's file system, and what it did.
  struct __attribute__((visibility("hidden"))) Store;

  explicit HostFileSystem(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override;
  absl::Status Remove(const std::string& path) const override;
  const FarFiles* far() const override { return this; }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override;
  StoreCounters counters() const override;
  bool conditional_reads() const override { return false; }
  int most_outstanding() const override;

 private:
  const std::shared_ptr<Store> store_;
};

// Serves a scheme, "gs", by a HostFiles from now on.
void RegisterHostFileSystem(const std::string& scheme, pybind11::object files);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_HOST_FILE_SYSTEM_H_
