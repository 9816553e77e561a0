#include "python/binding/module/output_binding.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/file_set.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"
#include "io/records/crc32c.h"
#include "python/binding/values/byte_pieces.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/one_process.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

constexpr int64_t kChecksumBytes = int64_t{4} << 20;

// Of the process that made it. Several threads may append. A forked child may make its own.
class __attribute__((visibility("hidden"))) Output {
 public:
  explicit Output(std::unique_ptr<OutputStream> stream) : stream_(std::move(stream)) {}

  static std::unique_ptr<Output> Create(const std::string& path, std::string draft, bool own, bool durable,
                                        int64_t head) {
    const OutputOptions options = {.draft = std::move(draft), .own = own, .durable = durable, .head = head};
    return std::make_unique<Output>(
        ValueOrRaise(RunInAnyProcess([&] { return DefaultFileSystem()->Create(path, options); })));
  }
  static std::unique_ptr<Output> Resume(const std::string& path, std::string draft, int64_t bytes) {
    const OutputOptions options = {.draft = std::move(draft)};
    return std::make_unique<Output>(
        ValueOrRaise(RunInAnyProcess([&] { return DefaultFileSystem()->Resume(path, options, bytes); })));
  }

  void Append(const pybind11::sequence& parts) {
    const BytePieces pieces(parts);
    Do([&](OutputStream& stream) { return stream.Append(pieces.views()); });
  }
  void Rewrite(int64_t offset, const pybind11::object& bytes) {
    const BytePieces pieces(pybind11::make_tuple(bytes));
    Do([&](OutputStream& stream) { return stream.Rewrite(offset, pieces.views()[0]); });
  }
  int64_t size() {
    return ValueOrRaise(stream_.Work<absl::StatusOr<int64_t>>(
        [](OutputStream& stream) { return absl::StatusOr<int64_t>(stream.size()); }));
  }
  void Flush() {
    Do([](OutputStream& stream) { return stream.Flush(); });
  }
  void Seal() {
    Do([](OutputStream& stream) { return stream.Seal(); });
  }
  void Keep() { stream_.End(&OutputStream::Keep); }
  void Commit() { stream_.End(&OutputStream::Commit); }
  void Discard() { stream_.Discard(); }

 private:
  template <typename F>
  void Do(const F& work) {
    RaiseIfError(stream_.Work<absl::Status>(work));
  }

  OneProcess<OutputStream> stream_;
};

using NamedBytes = std::vector<std::pair<std::string, int64_t>>;

void Commit(const NamedBytes& named, const std::string& draft) {
  std::vector<SetFile> set;
  for (const auto& [path, bytes] : named) set.push_back({path, bytes});
  RaiseIfError(RunInAnyProcess([&] { return CommitSet(*DefaultFileSystem(), draft, set); }));
}

// Size and CRC-32C of a whole file.
absl::StatusOr<std::pair<int64_t, uint32_t>> ReadChecksum(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, DefaultFileSystem()->Open(path));
  std::vector<uint8_t> block(kChecksumBytes);
  int64_t offset = 0;
  uint32_t crc = 0;
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(const int64_t read, file->ReadAt(offset, absl::MakeSpan(block)));
    crc = Crc32c(block.data(), static_cast<size_t>(read), crc);
    offset += read;
    if (read < kChecksumBytes) return std::pair(offset, crc);
  }
}

}  // namespace

void BindOutputs(pybind11::module_& module) {
  pybind11::class_<Output>(module, "OutputStream")
      .def(pybind11::init(&Output::Create), pybind11::arg("path"), pybind11::arg("draft") = "",
           pybind11::arg("own") = false, pybind11::arg("durable") = true, pybind11::arg("head") = 0)
      .def_static("resume", &Output::Resume, pybind11::arg("path"), pybind11::arg("draft"), pybind11::arg("bytes"))
      .def("append", &Output::Append, pybind11::arg("parts"))
      .def("rewrite", &Output::Rewrite, pybind11::arg("offset"), pybind11::arg("data"))
      .def_property_readonly("size", &Output::size)
      .def("flush", &Output::Flush)
      .def("seal", &Output::Seal)
      .def("keep", &Output::Keep)
      .def("discard", &Output::Discard)
      .def("commit", &Output::Commit);
  module.def("commit_set", &Commit, pybind11::arg("files"), pybind11::arg("draft"));
  module.def(
      "remove_file",
      [](const std::string& path) { RaiseIfError(RunInAnyProcess([&] { return DefaultFileSystem()->Remove(path); })); },
      pybind11::arg("path"));
  module.def(
      "crc32c",
      [](const pybind11::bytes& data) {
        const std::string_view bytes(data);
        return Crc32c(bytes.data(), bytes.size());
      },
      pybind11::arg("data"));
  module.def(
      "file_checksum",
      [](const std::string& path) {
        return ValueOrRaise(RunForkableInterruptible([&] { return ReadChecksum(path); }));
      },
      pybind11::arg("path"));
}

}  // namespace headrace::python
