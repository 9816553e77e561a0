#include "python/binding/host/host_file_system.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/buffer.h"
#include "core/caught_error.h"
#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/cancellation.h"
#include "io/files/file_system_registration.h"
#include "io/files/plainly_missing.h"
#include "python/binding/host/host_threads.h"
#include "python/binding/host/user_calls.h"
#include "python/binding/values/called.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

namespace {

namespace py = pybind11;

constexpr size_t kEntriesOfHostPage = 4096;

}  // namespace

struct HostFileSystem::Store {
  std::string scheme;
  HeldObject files;
  std::atomic<int64_t> reads{0};
  std::atomic<int64_t> lists{0};
  std::atomic<int64_t> writes{0};
  std::atomic<int64_t> received{0};
  std::atomic<int64_t> sent{0};
};

namespace {

using SharedStore = std::shared_ptr<HostFileSystem::Store>;

// The exception is kept as the cause.
absl::Status WithCause(absl::Status status, py::error_already_set& raised, const std::string& path) {
  const py::object exception = raised.value();
  const absl::Status kept = ExceptionsOfFiles().Keep(raised, Cat(path, ": its file system"));
  // Frames keep the bytes that were read alive.
  PyException_SetTraceback(exception.ptr(), Py_None);
  if (status.ok()) return kept;
  AddErrorField(status, ErrorField::kFunction, GetErrorField(kept, ErrorField::kFunction));
  return status;
}

// The kind of an error of Headrace's own that was raised; kInternal: it is another exception.
ErrorKind OwnKindOf(const py::error_already_set& raised) {
  const py::module_ errors = py::module_::import("headrace.errors");
  for (const ErrorKind kind : {ErrorKind::kData, ErrorKind::kNotFound, ErrorKind::kUnsupported, ErrorKind::kResource}) {
    if (raised.matches(errors.attr(std::string(ErrorKindName(kind)).c_str()))) return kind;
  }
  return ErrorKind::kInternal;
}

absl::Status ErrorOfHost(py::error_already_set& raised, const std::string& path) {
  // Ctrl-C is not an error of the file.
  if (HandledSignals::Keep(raised)) return StopSignal::Error();
  const ErrorKind own = OwnKindOf(raised);
  if (own != ErrorKind::kInternal) return MakeError(own, MessageBytes(py::str(raised.value())));
  if (raised.matches(PyExc_FileNotFoundError)) return WithCause(MissingError(path), raised, path);
  if (raised.matches(PyExc_IsADirectoryError)) {
    return WithCause(NotFoundError(path, " is a folder, where a file is expected"), raised, path);
  }
  if (raised.matches(PyExc_PermissionError)) {
    return WithCause(NotFoundError(path, ": its file system gives no permission; give this user the right to it, or ",
                                   "register a file system with other credentials"),
                     raised, path);
  }
  if (raised.matches(PyExc_NotImplementedError)) {
    return WithCause(UnsupportedError(path, ": its file system cannot do this"), raised, path);
  }
  const bool of_network = raised.matches(PyExc_OSError);
  absl::Status status = WithCause(absl::OkStatus(), raised, path);
  return of_network ? BeyondRow(std::move(status)) : status;
}

// Runs `body` with the user's file system under the GIL; its exceptions are errors of the path.
absl::Status CallHost(const SharedStore& store, const std::string& path,
                      absl::FunctionRef<absl::Status(const py::handle& files)> body) {
  const std::unique_ptr<HostLock> gil = HoldGil();
  if (gil == nullptr)
    return ResourceError("the machine has no memory for a thread that calls a file system of Python's");
  ReleaseNow();
  try {
    return body(store->files.get());
  } catch (py::error_already_set& raised) {
    try {
      return ErrorOfHost(raised, path);
    } catch (const py::error_already_set&) {
      return DataError(path, ": its file system raised an exception that cannot be shown");
    }
  } catch (const py::cast_error&) {
    return UnsupportedError(path, ": its file system gave something else than fsspec says");
  } catch (const std::exception&) {
    return CaughtError();
  }
}

template <const char* kMethod, typename... Arguments>
py::object CallMethod(const py::handle& files, const Arguments&... arguments) {
  return Called(py::getattr(files, kMethod), py::make_tuple(arguments...));
}
constexpr char kStat[] = "stat";
constexpr char kEntries[] = "entries";
constexpr char kTree[] = "tree";
constexpr char kRead[] = "read";
constexpr char kReadRange[] = "read_range";
constexpr char kCreate[] = "create";
constexpr char kRemove[] = "remove";

// ---- what files are ----

absl::Status ChangedFileError(const std::string& path) {
  return DataError(path, " changed since it was listed; run again, which lists the files anew");
}

absl::Status CheckListed(const std::string& path, const ListedFile& listed, const FileStat& now) {
  const bool other_size = listed.size >= 0 && listed.size != now.size;
  const uint64_t version = VersionHash(now.version);
  const bool other_version = listed.version != 0 && version != 0 && listed.version != version;
  return other_size || other_version ? ChangedFileError(path) : absl::OkStatus();
}

EntryType TypeOfHost(int given) {
  if (given == 0) return EntryType::kFile;
  return given == 1 ? EntryType::kFolder : EntryType::kOther;
}

absl::StatusOr<FileStat> StatHere(const SharedStore& store, const std::string& path) {
  ++store->lists;
  FileStat stat;
  HEADRACE_RETURN_IF_ERROR(CallHost(store, path, [&](const py::handle& files) {
    const auto [type, size, version] =
        CallMethod<kStat>(files, NameText(path)).cast<std::tuple<int, int64_t, std::string>>();
    stat.type = TypeOfHost(type);
    stat.size = size;
    stat.version = version;
    return absl::OkStatus();
  }));
  return stat;
}

absl::StatusOr<FileStat> StatFileHere(const SharedStore& store, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(FileStat stat, StatHere(store, path));
  if (stat.type == EntryType::kFolder) return NotFoundError(path, " is a folder, where a file is expected");
  if (stat.size < 0) return UnsupportedError(path, ": its file system does not say its size, which reading needs");
  return stat;
}

// ---- reading ----

// Bytes of Python's, which may be read without the GIL.
struct HostBytes {
  HeldObject object;
  std::string_view view;
};

absl::StatusOr<HostBytes> TakeBytes(const std::string& path, py::object object) {
  if (PyBytes_Check(object.ptr()) == 0) return UnsupportedError(path, ": its file system gave no bytes");
  HostBytes bytes;
  bytes.view = {PyBytes_AS_STRING(object.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(object.ptr()))};
  bytes.object = HeldObject(std::move(object));
  return bytes;
}

absl::StatusOr<HostBytes> ReadWholeHere(const SharedStore& store, const std::string& path, const ListedFile& listed) {
  ++store->reads;
  HostBytes bytes;
  HEADRACE_RETURN_IF_ERROR(CallHost(store, path, [&](const py::handle& files) -> absl::Status {
    HEADRACE_ASSIGN_OR_RETURN(bytes, TakeBytes(path, CallMethod<kRead>(files, NameText(path))));
    return absl::OkStatus();
  }));
  store->received += static_cast<int64_t>(bytes.view.size());
  const auto size = static_cast<int64_t>(bytes.view.size());
  if (listed.size >= 0 && listed.size != size) return ChangedFileError(path);
  if (listed.version == 0) return bytes;
  // A version that is the listed one after the read was so before it.
  HEADRACE_ASSIGN_OR_RETURN(const FileStat now, StatHere(store, path));
  HEADRACE_RETURN_IF_ERROR(CheckListed(path, listed, now));
  return bytes;
}

absl::StatusOr<HostBytes> ReadRangeHere(const SharedStore& store, const std::string& path, int64_t begin, int64_t end) {
  if (begin >= end) return HostBytes();
  ++store->reads;
  HostBytes bytes;
  HEADRACE_RETURN_IF_ERROR(CallHost(store, path, [&](const py::handle& files) -> absl::Status {
    HEADRACE_ASSIGN_OR_RETURN(bytes, TakeBytes(path, CallMethod<kReadRange>(files, NameText(path), begin, end)));
    return absl::OkStatus();
  }));
  store->received += static_cast<int64_t>(bytes.view.size());
  if (static_cast<int64_t>(bytes.view.size()) != end - begin) {
    return DataError(path, ": its file system gave ", bytes.view.size(), " bytes from byte ", begin, " on, where ",
                     end - begin, " were asked for; the file may have been replaced");
  }
  return bytes;
}

absl::StatusOr<Tensor> TensorOfBytes(BufferPool& pool, const std::string& path, const HostBytes& bytes) {
  BufferRef buffer = pool.Allocate(bytes.view.size());
  if (!buffer) return ResourceError("no memory for ", path, " (", bytes.view.size(), " bytes)");
  uint8_t* const data = buffer->data();
  if (!bytes.view.empty()) std::memcpy(data, bytes.view.data(), bytes.view.size());
  return Tensor::ViewBytes(DType::kBytes, std::move(buffer), data, bytes.view.size());
}

class HostFile : public RandomAccessFile {
 public:
  HostFile(SharedStore store, std::string path, int64_t size)
      : store_(std::move(store)), path_(std::move(path)), size_(size) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
    const int64_t end = EndOf(offset, target);
    HEADRACE_ASSIGN_OR_RETURN(const HostBytes bytes,
                              HostThreads::Ask<HostBytes>([store = store_, path = path_, offset, end] {
                                return ReadRangeHere(store, path, offset, end);
                              }));
    return Copy(bytes, target);
  }

  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override {
    const int64_t end = EndOf(offset, target);
    const auto shared = std::make_shared<Done>(std::move(done));
    const auto by = Cancellation::Current();
    const absl::Status started = HostThreads::Start([store = store_, path = path_, offset, end, target, shared, by] {
      if (by != nullptr && by->cancelled()) return (*shared)(StopSignal::Error());
      const absl::StatusOr<HostBytes> bytes = ReadRangeHere(store, path, offset, end);
      (*shared)(bytes.ok() ? absl::StatusOr<int64_t>(Copy(*bytes, target)) : bytes.status());
    });
    if (!started.ok()) (*shared)(started);
  }

  absl::StatusOr<int64_t> Size() const override { return size_; }

 private:
  static int64_t Copy(const HostBytes& bytes, absl::Span<uint8_t> target) {
    if (!bytes.view.empty()) std::memcpy(target.data(), bytes.view.data(), bytes.view.size());
    return static_cast<int64_t>(bytes.view.size());
  }
  int64_t EndOf(int64_t offset, absl::Span<uint8_t> target) const {
    return std::max(offset, std::min(size_, offset + static_cast<int64_t>(target.size())));
  }

  const SharedStore store_;
  const std::string path_;
  const int64_t size_;
};

// ---- listing ----

using HostEntries = std::vector<std::tuple<std::string, int, int64_t, std::string>>;

class HostPages : public FolderPages {
 public:
  explicit HostPages(std::vector<FolderEntry> entries) : entries_(std::move(entries)) {}

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    const size_t end = std::min(entries_.size(), next_ + kEntriesOfHostPage);
    std::vector<FolderEntry> page(std::make_move_iterator(entries_.begin() + static_cast<std::ptrdiff_t>(next_)),
                                  std::make_move_iterator(entries_.begin() + static_cast<std::ptrdiff_t>(end)));
    next_ = end;
    return page;
  }

 private:
  std::vector<FolderEntry> entries_;
  size_t next_ = 0;
};

// Names are bytes of Python's.
template <const char* kMethod>
absl::StatusOr<std::vector<FolderEntry>> EntriesHere(const SharedStore& store, const std::string& folder) {
  ++store->lists;
  std::vector<FolderEntry> entries;
  HEADRACE_RETURN_IF_ERROR(CallHost(store, folder, [&](const py::handle& files) {
    for (auto& [name, type, size, version] :
         CallMethod<kMethod>(files, NameText(folder)).template cast<HostEntries>()) {
      entries.push_back({std::move(name), TypeOfHost(type), false, size, std::move(version)});
    }
    return absl::OkStatus();
  }));
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

template <const char* kMethod>
absl::StatusOr<std::unique_ptr<FolderPages>> ListHost(const SharedStore& store, const std::string& folder) {
  HEADRACE_ASSIGN_OR_RETURN(
      std::vector<FolderEntry> entries,
      HostThreads::Ask<std::vector<FolderEntry>>([store, folder] { return EntriesHere<kMethod>(store, folder); }));
  return std::make_unique<HostPages>(std::move(entries));
}

// ---- writing ----

// Calls the methods of the draft that HostFiles.create gave.
class HostOutput : public OutputStream {
 public:
  HostOutput(SharedStore store, std::string path, std::shared_ptr<HeldObject> draft)
      : store_(std::move(store)), path_(std::move(path)), draft_(std::move(draft)) {}
  ~HostOutput() override {
    if (draft_ != nullptr) static_cast<void>(End("discard"));
  }

  absl::Status Append(absl::Span<const std::string_view> parts) override {
    for (const std::string_view part : parts) {
      HEADRACE_RETURN_IF_ERROR(Call("append", std::string(part)));
      size_ += static_cast<int64_t>(part.size());
      store_->sent += static_cast<int64_t>(part.size());
    }
    return absl::OkStatus();
  }
  int64_t size() const override { return size_; }
  absl::Status Rewrite(int64_t offset, std::string_view bytes) override {
    return CallWith([offset, bytes = std::string(bytes)](const py::handle& draft) {
      Called(py::getattr(draft, "rewrite"), py::make_tuple(offset, py::bytes(bytes)));
    });
  }
  // The store has nothing of it before Commit.
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Seal() override { return absl::OkStatus(); }
  absl::Status Commit() override { return End("commit"); }
  absl::Status Keep() override {
    static_cast<void>(End("discard"));
    return UnsupportedError(path_, ": its file system keeps no drafts, so writing begins again");
  }

 private:
  absl::Status CallWith(std::function<void(const py::handle& draft)> call) const {
    if (draft_ == nullptr) return MakeError(ErrorKind::kClosed, Cat(path_, " was closed"));
    return HostThreads::Ask<bool>(
               [store = store_, path = path_, draft = draft_, call = std::move(call)]() -> absl::StatusOr<bool> {
                 HEADRACE_RETURN_IF_ERROR(CallHost(store, path, [&](const py::handle& /*files*/) {
                   call(draft->get());
                   return absl::OkStatus();
                 }));
                 return true;
               })
        .status();
  }
  absl::Status Call(const char* method, std::string bytes) const {
    return CallWith([method, bytes = std::move(bytes)](const py::handle& draft) {
      Called(py::getattr(draft, method), py::make_tuple(py::bytes(bytes)));
    });
  }
  absl::Status End(const char* method) {
    absl::Status ended =
        CallWith([method](const py::handle& draft) { Called(py::getattr(draft, method), py::tuple()); });
    draft_ = nullptr;
    return ended;
  }

  const SharedStore store_;
  const std::string path_;
  std::shared_ptr<HeldObject> draft_;  // null: it has ended
  int64_t size_ = 0;
};

}  // namespace

absl::StatusOr<Tensor> HostFileSystem::Read(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const HostBytes bytes, HostThreads::Ask<HostBytes>([store = store_, path] {
                              return ReadWholeHere(store, path, ListedFile());
                            }));
  return TensorOfBytes(BufferPool::Current(), path, bytes);
}

void HostFileSystem::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  BufferPool* const pool = &BufferPool::Current();
  const auto shared = std::make_shared<ReadDone>(std::move(done));
  const auto by = Cancellation::Current();
  const absl::Status started = HostThreads::Start([store = store_, path, listed, pool, shared, by] {
    if (by != nullptr && by->cancelled()) return (*shared)(StopSignal::Error());
    const absl::StatusOr<HostBytes> bytes = ReadWholeHere(store, path, listed);
    (*shared)(bytes.ok() ? TensorOfBytes(*pool, path, *bytes) : bytes.status());
  });
  if (!started.ok()) (*shared)(started);
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> HostFileSystem::Open(const std::string& path) const {
  return Open(path, ListedFile());
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> HostFileSystem::Open(const std::string& path,
                                                                             const ListedFile& listed) const {
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat,
                            HostThreads::Ask<FileStat>([store = store_, path] { return StatFileHere(store, path); }));
  HEADRACE_RETURN_IF_ERROR(CheckListed(path, listed, stat));
  return std::make_shared<const HostFile>(store_, path, stat.size);
}

absl::StatusOr<FileStat> HostFileSystem::Stat(const std::string& path) const {
  return HostThreads::Ask<FileStat>([store = store_, path] { return StatHere(store, path); });
}

absl::StatusOr<std::unique_ptr<FolderPages>> HostFileSystem::ListPages(const std::string& folder,
                                                                       bool /*sizes*/) const {
  return ListHost<kEntries>(store_, folder);
}

absl::StatusOr<std::unique_ptr<FolderPages>> HostFileSystem::ListTree(const std::string& folder) const {
  return ListHost<kTree>(store_, folder);
}

absl::StatusOr<std::unique_ptr<OutputStream>> HostFileSystem::Create(const std::string& path,
                                                                     const OutputOptions& /*options*/) const {
  ++store_->writes;
  const auto draft = std::make_shared<HeldObject>();
  HEADRACE_RETURN_IF_ERROR(HostThreads::Ask<bool>([store = store_, path, draft]() -> absl::StatusOr<bool> {
                             HEADRACE_RETURN_IF_ERROR(CallHost(store, path, [&](const py::handle& files) {
                               *draft = HeldObject(CallMethod<kCreate>(files, NameText(path)));
                               return absl::OkStatus();
                             }));
                             return true;
                           }).status());
  return std::make_unique<HostOutput>(store_, path, draft);
}

absl::Status HostFileSystem::Remove(const std::string& path) const {
  ++store_->writes;
  return HostThreads::Ask<bool>([store = store_, path]() -> absl::StatusOr<bool> {
           HEADRACE_RETURN_IF_ERROR(CallHost(store, path, [&](const py::handle& files) {
             CallMethod<kRemove>(files, NameText(path));
             return absl::OkStatus();
           }));
           return true;
         })
      .status();
}

StoreCounters HostFileSystem::counters() const {
  StoreCounters counters;
  counters.reads = store_->reads;
  counters.lists = store_->lists;
  counters.writes = store_->writes;
  counters.received = store_->received;
  counters.sent = store_->sent;
  return counters;
}

int HostFileSystem::most_outstanding() const { return static_cast<int>(HostThreads::kMost); }

void RegisterHostFileSystem(const std::string& scheme, py::object files) {
  const auto store = std::make_shared<HostFileSystem::Store>();
  store->scheme = scheme;
  store->files = HeldObject(std::move(files));
  RegisterFileSystem(scheme, [store](const StorageSettings& settings) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    StorageSettings others = settings;
    others.object_cache.clear();
    others.object_cache_bytes = 0;
    if (others != StorageSettings()) {
      return GraphError("storage: ", store->scheme,
                        ":// is served by what register_filesystem was given, which has settings of its own; leave out "
                        "all keys but object_cache and object_cache_bytes");
    }
    return std::make_unique<HostFileSystem>(store);
  });
}

}  // namespace headrace::python
