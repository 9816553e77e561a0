#include "python/binding/module/record_binding.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"
#include "io/files/file_system.h"
#include "io/formats/recordio/record_index.h"
#include "io/formats/recordio/record_io_format.h"
#include "io/formats/recordio/record_writer.h"
#include "python/binding/host/read_file.h"
#include "python/binding/values/byte_pieces.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/one_process.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"

namespace headrace::python {
namespace {

// Small enough that the pool keeps the buffers for the next block.
constexpr size_t kBlockBytes = size_t{1} << 20;
// After a seek: the next one may go anywhere.
constexpr size_t kSeekBytes = size_t{128} << 10;

using Lost = std::vector<std::tuple<int64_t, int64_t, std::string>>;

void AddLost(const std::vector<LostBytes>& from, Lost& lost) {
  for (const LostBytes& each : from) lost.emplace_back(each.offset, each.bytes, each.reason);
}

// Of the process that made it. Several threads may append.
class __attribute__((visibility("hidden"))) Writer {
 public:
  explicit Writer(std::unique_ptr<RecordWriter> writer) : writer_(std::move(writer)) {}

  static std::unique_ptr<Writer> Create(const std::string& path) {
    return Open([&] { return RecordWriter::Create(*DefaultFileSystem(), path); });
  }
  static std::unique_ptr<Writer> Resume(const std::string& path, int64_t offset) {
    return Open([&] { return RecordWriter::Resume(*DefaultFileSystem(), path, offset); });
  }

  int64_t Append(const pybind11::sequence& payload) {
    const BytePieces pieces(payload);
    return ValueOrRaise(
        writer_.Work<absl::StatusOr<int64_t>>([&](RecordWriter& writer) { return writer.Append(pieces.views()); }));
  }
  int64_t offset() {
    return ValueOrRaise(writer_.Work<absl::StatusOr<int64_t>>(
        [](RecordWriter& writer) { return absl::StatusOr<int64_t>(writer.offset()); }));
  }
  void Flush() {
    RaiseIfError(writer_.Work<absl::Status>([](RecordWriter& writer) { return writer.Flush(); }));
  }
  void Seal() {
    RaiseIfError(writer_.Work<absl::Status>([](RecordWriter& writer) { return writer.Seal(); }));
  }
  void Keep() { writer_.End(&RecordWriter::Keep); }
  void Commit() { writer_.End(&RecordWriter::Commit); }
  void Discard() { writer_.Discard(); }

 private:
  template <typename F>
  static std::unique_ptr<Writer> Open(const F& open) {
    return std::make_unique<Writer>(ValueOrRaise(RunInAnyProcess(open)));
  }

  OneProcess<RecordWriter> writer_;
};

// Several threads may read; each record goes to one of them.
class __attribute__((visibility("hidden"))) Reader {
 public:
  Reader(const std::string& path, bool skip_damage)
      : path_(path), format_(skip_damage ? OnDamage::kSkip : OnDamage::kFail) {
    const bool far = IsFar(path);
    RaiseIfError(RunOn(far, [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      // Seeks go on with the settings that it was opened with.
      files_ = DefaultFileSystem();
      return Open(kBlockBytes);
    }));
    far_ = far;
  }

  // Offset and payload, or None at the end.
  pybind11::object Read() {
    Record record;
    Tensor payload;
    RaiseIfError(RunOn(far_, [&]() -> absl::Status {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (next_ == block_.records.size()) HEADRACE_RETURN_IF_ERROR(Advance());
      if (block_.records.empty()) return absl::OkStatus();
      record = block_.records[next_];
      const std::string_view content = block_.content(next_);
      payload = Tensor::ViewBytes(DType::kBytes, block_.buffer, content.data(), content.size());
      offset_ = block_.After(next_++);
      return absl::OkStatus();
    }));
    if (!payload.valid()) return pybind11::none();
    return pybind11::make_tuple(record.offset, ArrayOf(payload, Access::kReadOnly, Bytes::kViewed));
  }

  void Seek(int64_t offset) {
    RaiseIfError(RunOn(far_, [&]() -> absl::Status {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (offset < 0) return DataError(path_, ": no record begins at byte ", offset);
      if (offset == offset_) return absl::OkStatus();
      offset_ = offset;
      const auto found = std::lower_bound(block_.records.begin(), block_.records.end(), offset,
                                          [](const Record& record, int64_t at) { return record.offset < at; });
      if (found != block_.records.end() && found->offset == offset) {
        next_ = static_cast<size_t>(found - block_.records.begin());
        return absl::OkStatus();
      }
      return Open(kSeekBytes);
    }));
  }

  // The byte of the file after the record that was read last, or that was sought.
  int64_t offset() {
    return RunOn(far_, [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return offset_;
    });
  }

  Lost lost() {
    return RunOn(far_, [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return lost_;
    });
  }

 private:
  static bool IsFar(const std::string& path) {
    const ContextStorage storage;
    const absl::StatusOr<FileSystem::Located> place = DefaultFileSystem()->Locate(path);
    return place.ok() && place->files->local() == nullptr;
  }

  // A fork waits for reads of the machine's own files, and not for those of a network.
  template <typename Work>
  static auto RunOn(bool far, const Work& work) {
    return far ? RunOnFiles(work) : RunForkable(work);
  }

  absl::Status Open(size_t block_bytes) {
    block_.records.clear();
    next_ = 0;
    HEADRACE_ASSIGN_OR_RETURN(reader_, format_.Open(*files_, path_, Split(), offset_, block_bytes));
    return absl::OkStatus();
  }

  absl::Status Advance() {
    next_ = 0;
    absl::Status read = reader_->Next(block_);
    if (!read.ok()) {
      block_.records.clear();
      AddErrorField(read, ErrorField::kFile, Cat(path_, ", byte ", reader_->offset()));
      return read;
    }
    AddLost(block_.lost, lost_);
    offset_ = block_.end;
    return read;
  }

  const std::string path_;
  const RecordIoFormat format_;
  bool far_ = false;
  std::mutex mutex_;
  const FileSystem* files_ = nullptr;
  std::unique_ptr<RecordReader> reader_;
  RecordBlock block_;
  size_t next_ = 0;  // in the block
  int64_t offset_ = 0;
  Lost lost_;
};

// The offsets of a file's records, and what was lost.
std::pair<std::vector<int64_t>, Lost> Scan(const std::string& path, bool skip_damage) {
  std::vector<LostBytes> bytes;
  RecordIndex index = ValueOrRaise(RunForkable([&] {
    return ScanRecords(*DefaultFileSystem(), path, skip_damage ? OnDamage::kSkip : OnDamage::kFail, &bytes);
  }));
  Lost lost;
  AddLost(bytes, lost);
  return {std::move(index.offsets), std::move(lost)};
}

// Keys, as texts, and offsets.
pybind11::list ParseIndex(const pybind11::bytes& text, const std::string& path) {
  const auto lines = ValueOrRaise(ParseRecordIndexLines(text, path));
  pybind11::list parsed;
  for (const RecordIndexLine& line : lines) {
    parsed.append(pybind11::make_tuple(NameText(line.key), line.offset, line.number));
  }
  return parsed;
}

}  // namespace

void BindRecords(pybind11::module_& module) {
  pybind11::class_<Writer>(module, "RecordWriter")
      .def(pybind11::init(&Writer::Create), pybind11::arg("path"))
      .def_static("resume", &Writer::Resume, pybind11::arg("path"), pybind11::arg("offset"))
      .def("append", &Writer::Append, pybind11::arg("payload"))
      .def_property_readonly("offset", &Writer::offset)
      .def_property_readonly("size", &Writer::offset)
      .def("flush", &Writer::Flush)
      .def("seal", &Writer::Seal)
      .def("keep", &Writer::Keep)
      .def("discard", &Writer::Discard)
      .def("commit", &Writer::Commit);
  pybind11::class_<Reader>(module, "RecordReader")
      .def(pybind11::init<const std::string&, bool>(), pybind11::arg("path"), pybind11::arg("skip_damage") = false)
      .def("read", &Reader::Read)
      .def("seek", &Reader::Seek, pybind11::arg("offset"))
      .def_property_readonly("offset", &Reader::offset)
      .def_property_readonly("lost", &Reader::lost);
  module.def("scan_records", &Scan, pybind11::arg("path"), pybind11::arg("skip_damage") = false);
  module.def("parse_record_index", &ParseIndex, pybind11::arg("text"), pybind11::arg("path"));
}

}  // namespace headrace::python
