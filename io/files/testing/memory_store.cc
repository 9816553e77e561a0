#include "io/files/testing/memory_store.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/buffer.h"
#include "core/error.h"
#include "io/files/plainly_missing.h"

namespace headrace {
namespace {

// What is below a folder begins so: "mem://bucket/a/".
std::string BeginningOf(std::string_view folder) {
  return folder.ends_with('/') ? std::string(folder) : Cat(folder, "/");
}

std::string WithoutSlash(std::string_view path) {
  const size_t root = RootOf(path).size();
  while (path.size() > root && path.back() == '/') path.remove_suffix(1);
  return std::string(path);
}

absl::Status ChangedSinceListed(std::string_view path) {
  return DataError(path, ": changed since it was listed; begin anew with the files as they are now");
}

struct Object {
  std::shared_ptr<const std::string> bytes;
  std::string version;
};

}  // namespace

struct MemoryStore::State {
  explicit State(Options given) : options(given) {}

  // Counts a request, and gives the error that it gets.
  absl::Status Serve(Request request) {
    std::function<absl::Status(const Request&)> first;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      log.push_back(request);
      first = before;
    }
    return first ? first(request) : absl::OkStatus();
  }

  absl::StatusOr<Object> Find(const std::string& path) const {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = objects.find(path);
    if (found == objects.end()) return MissingError(path);
    return found->second;
  }

  // The object, unless it is known by another version or size.
  absl::StatusOr<Object> FindAs(const std::string& path, const ListedFile& listed) const {
    HEADRACE_ASSIGN_OR_RETURN(Object object, Find(path));
    if (listed.version != 0 && listed.version != VersionHash(object.version)) return ChangedSinceListed(path);
    if (listed.size >= 0 && listed.size != static_cast<int64_t>(object.bytes->size())) return ChangedSinceListed(path);
    return object;
  }

  void Put(const std::string& path, std::string_view bytes) {
    auto held = std::make_shared<const std::string>(bytes);
    const std::lock_guard<std::mutex> lock(mutex);
    objects.insert_or_assign(path, Object{std::move(held), Cat("\"", ++puts, "\"")});
  }

  void Gave(const std::string& path, int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex);
    given[path] += bytes;
  }

  void Start(std::function<void(bool closed)> read) {
    if (options.completes == Completes::kAtOnce) return read(false);
    const std::lock_guard<std::mutex> lock(mutex);
    waiting.push_back(std::move(read));
    most = std::max(most, waiting.size());
    asked.notify_all();
  }

  bool CompleteOne(size_t which, bool closes) {
    std::function<void(bool)> read;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (waiting.empty()) return false;
      const auto chosen = waiting.begin() + static_cast<std::ptrdiff_t>(which % waiting.size());
      read = std::move(*chosen);
      waiting.erase(chosen);
    }
    read(closes);
    return true;
  }

  void CompleteUntilClosed() {
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex);
        asked.wait(lock, [&] { return closed || !waiting.empty(); });
        if (closed) return;
      }
      CompleteOne(0, false);
    }
  }

  const Options options;
  mutable std::mutex mutex;
  std::condition_variable asked;
  std::map<std::string, Object, std::less<>> objects;
  std::map<std::pair<std::string, std::string>, std::string> drafts;  // by path and ending
  int64_t puts = 0;
  std::function<absl::Status(const Request&)> before;
  std::vector<Request> log;
  std::map<std::string, int64_t, std::less<>> given;
  std::deque<std::function<void(bool closed)>> waiting;
  size_t most = 0;
  bool closed = false;
  std::thread thread;
};

class MemoryStore::File : public RandomAccessFile {
 public:
  File(std::shared_ptr<State> state, std::string path, ListedFile opened)
      : state_(std::move(state)), path_(std::move(path)), opened_(opened) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
    HEADRACE_RETURN_IF_ERROR(state_->Serve({Kind::kReadRange, path_, offset, static_cast<int64_t>(target.size())}));
    const ListedFile wanted = state_->options.conditional ? opened_ : ListedFile();
    HEADRACE_ASSIGN_OR_RETURN(const Object object, state_->FindAs(path_, wanted));
    const std::string_view bytes = *object.bytes;
    const std::string_view rest = bytes.substr(std::min(bytes.size(), static_cast<size_t>(offset)));
    const size_t read = std::min(rest.size(), target.size());
    if (read > 0) std::memcpy(target.data(), rest.data(), read);
    state_->Gave(path_, static_cast<int64_t>(read));
    return static_cast<int64_t>(read);
  }

  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override {
    state_->Start([file = File(*this), offset, target, done = std::move(done)](bool closed) {
      done(closed ? absl::StatusOr<int64_t>(MakeError(ErrorKind::kClosed, "the store was closed"))
                  : file.ReadAt(offset, target));
    });
  }

  absl::StatusOr<int64_t> Size() const override { return opened_.size; }

 private:
  const std::shared_ptr<State> state_;
  const std::string path_;
  const ListedFile opened_;
};

class MemoryStore::Pages : public FolderPages {
 public:
  Pages(std::shared_ptr<State> state, std::string folder, Kind kind)
      : state_(std::move(state)), folder_(std::move(folder)), beginning_(BeginningOf(folder_)), kind_(kind) {}

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    std::vector<FolderEntry> page;
    if (ended_) return page;
    HEADRACE_RETURN_IF_ERROR(state_->Serve({kind_, folder_}));
    const std::lock_guard<std::mutex> lock(state_->mutex);
    auto at = state_->objects.lower_bound(next_);
    while (page.size() < state_->options.page && IsBelow(at)) {
      page.push_back(Entry(at->first, at->second));
      next_ = page.back().type == EntryType::kFolder ? AfterFolder(page.back().name) : After(at->first);
      at = state_->objects.lower_bound(next_);
    }
    ended_ = !IsBelow(at);
    return page;
  }

 private:
  bool IsBelow(std::map<std::string, Object, std::less<>>::const_iterator at) const {
    return at != state_->objects.end() && at->first.starts_with(beginning_);
  }

  static std::string After(std::string_view path) { return std::string(path) + '\0'; }
  // What is below a folder stands together; '0' follows '/'.
  std::string AfterFolder(std::string_view name) const { return Cat(beginning_, name, "0"); }

  FolderEntry Entry(std::string_view path, const Object& object) const {
    FolderEntry entry;
    std::string_view name = path.substr(beginning_.size());
    const size_t slash = kind_ == Kind::kTreePage ? std::string_view::npos : name.find('/');
    entry.name = std::string(name.substr(0, slash));
    if (slash != std::string_view::npos) {
      entry.type = EntryType::kFolder;
      return entry;
    }
    entry.size = static_cast<int64_t>(object.bytes->size());
    if (state_->options.versions) entry.version = object.version;
    return entry;
  }

  const std::shared_ptr<State> state_;
  const std::string folder_;
  const std::string beginning_;
  const Kind kind_;
  std::string next_ = beginning_;
  bool ended_ = false;
};

class MemoryStore::Output : public OutputStream {
 public:
  Output(std::shared_ptr<State> state, std::string path, OutputOptions options, std::string bytes)
      : state_(std::move(state)), path_(std::move(path)), options_(std::move(options)), bytes_(std::move(bytes)) {}

  absl::Status Append(absl::Span<const std::string_view> parts) override {
    for (const std::string_view part : parts) bytes_ += part;
    return absl::OkStatus();
  }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  absl::Status Rewrite(int64_t offset, std::string_view bytes) override {
    if (offset < 0 || offset + static_cast<int64_t>(bytes.size()) > std::min(options_.head, size())) {
      return InternalError(path_, ": bytes after the head are written again");
    }
    bytes_.replace(static_cast<size_t>(offset), bytes.size(), bytes);
    return absl::OkStatus();
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Seal() override { return absl::OkStatus(); }
  absl::Status Commit() override {
    HEADRACE_RETURN_IF_ERROR(state_->Serve({Kind::kWrite, path_, 0, size()}));
    state_->Put(path_, bytes_);
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->drafts.erase({path_, options_.draft});
    return absl::OkStatus();
  }
  absl::Status Keep() override {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!options_.draft.empty()) state_->drafts[{path_, options_.draft}] = bytes_;
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<State> state_;
  const std::string path_;
  const OutputOptions options_;
  std::string bytes_;
};

MemoryStore::MemoryStore() : MemoryStore(Options()) {}

MemoryStore::MemoryStore(Options options) : state_(std::make_shared<State>(options)) {
  if (options.completes != Completes::kOnThread) return;
  state_->thread = std::thread([state = state_.get()] { state->CompleteUntilClosed(); });
}

MemoryStore::~MemoryStore() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->closed = true;
    state_->asked.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
  while (state_->CompleteOne(0, true)) {
  }
}

void MemoryStore::Put(const std::string& path, std::string_view bytes) { state_->Put(path, bytes); }

void MemoryStore::Drop(const std::string& path) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->objects.erase(path);
}

std::string MemoryStore::Get(const std::string& path) const {
  const auto found = state_->Find(path);
  return found.ok() ? *found->bytes : std::string();
}

bool MemoryStore::Has(const std::string& path) const { return state_->Find(path).ok(); }

void MemoryStore::set_before(std::function<absl::Status(const Request& request)> before) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->before = std::move(before);
}

std::vector<MemoryStore::Request> MemoryStore::requests() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->log;
}

int64_t MemoryStore::count(Kind kind) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return std::count_if(state_->log.begin(), state_->log.end(),
                       [&](const Request& request) { return request.kind == kind; });
}

int64_t MemoryStore::count(Kind kind, std::string_view path) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return std::count_if(state_->log.begin(), state_->log.end(),
                       [&](const Request& request) { return request.kind == kind && request.path == path; });
}

int64_t MemoryStore::count() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int64_t>(state_->log.size());
}

int64_t MemoryStore::given(std::string_view path) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->given.find(path);
  return found == state_->given.end() ? 0 : found->second;
}

int64_t MemoryStore::given() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  int64_t bytes = 0;
  for (const auto& [path, given] : state_->given) bytes += given;
  return bytes;
}

void MemoryStore::ForgetRequests() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->log.clear();
  state_->given.clear();
  state_->most = state_->waiting.size();
}

size_t MemoryStore::outstanding() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->waiting.size();
}

size_t MemoryStore::most() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->most;
}

void MemoryStore::WaitFor(size_t count) const {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->asked.wait(lock, [&] { return state_->waiting.size() >= count; });
}

bool MemoryStore::CompleteOne(size_t which) const { return state_->CompleteOne(which, false); }

void MemoryStore::CompleteAll() const {
  while (CompleteOne()) {
  }
}

absl::StatusOr<Tensor> MemoryStore::Read(const std::string& path) const {
  HEADRACE_RETURN_IF_ERROR(state_->Serve({Kind::kRead, path}));
  HEADRACE_ASSIGN_OR_RETURN(const Object object, state_->Find(path));
  state_->Gave(path, static_cast<int64_t>(object.bytes->size()));
  return Tensor::CopyBytes(DType::kBytes, *object.bytes);
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> MemoryStore::Open(const std::string& path) const {
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, Stat(path));
  if (stat.type == EntryType::kFolder) return NotFoundError(path, " is a folder, where a file is expected");
  return std::make_shared<const File>(state_, path, ListedFile{stat.size, VersionHash(stat.version)});
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> MemoryStore::Open(const std::string& path,
                                                                          const ListedFile& listed) const {
  if (listed.size < 0) return Open(path);
  if (!state_->options.conditional) {
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, Stat(path));
    if (stat.size != listed.size || VersionHash(stat.version) != listed.version) return ChangedSinceListed(path);
  }
  return std::make_shared<const File>(state_, path, listed);
}

void MemoryStore::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  // Of the calling task's memory, which the completing thread does not know.
  const absl::StatusOr<Object> now = state_->Find(path);
  const size_t bytes = now.ok() ? now->bytes->size() : 0;
  BufferRef buffer = BufferPool::Current().Allocate(bytes);
  if (!buffer) return done(ResourceError("no memory for ", bytes, " bytes of ", path));
  state_->Start([state = state_, path, listed, buffer = std::move(buffer), bytes, done = std::move(done)](bool closed) {
    if (closed) return done(MakeError(ErrorKind::kClosed, "the store was closed"));
    if (const absl::Status served = state->Serve({Kind::kRead, path}); !served.ok()) return done(served);
    const absl::StatusOr<Object> object = state->FindAs(path, state->options.conditional ? listed : ListedFile());
    if (!object.ok()) return done(object.status());
    if (object->bytes->size() != bytes) return done(ChangedSinceListed(path));
    if (bytes > 0) std::memcpy(buffer->data(), object->bytes->data(), bytes);
    state->Gave(path, static_cast<int64_t>(bytes));
    done(Tensor::ViewBytes(DType::kBytes, buffer, buffer->data(), bytes));
  });
}

absl::StatusOr<FileStat> MemoryStore::Stat(const std::string& path) const {
  HEADRACE_RETURN_IF_ERROR(state_->Serve({Kind::kStat, path}));
  FileStat stat;
  if (const absl::StatusOr<Object> object = state_->Find(path); object.ok()) {
    stat.size = static_cast<int64_t>(object->bytes->size());
    if (state_->options.versions) stat.version = object->version;
    return stat;
  }
  const std::string beginning = BeginningOf(path);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto below = state_->objects.lower_bound(beginning);
  if (below == state_->objects.end() || !below->first.starts_with(beginning)) {
    return MissingError(path);
  }
  stat.type = EntryType::kFolder;
  return stat;
}

absl::StatusOr<std::unique_ptr<FolderPages>> MemoryStore::ListPages(const std::string& folder, bool /*sizes*/) const {
  return std::make_unique<Pages>(state_, WithoutSlash(folder), Kind::kListPage);
}

absl::StatusOr<std::unique_ptr<FolderPages>> MemoryStore::ListTree(const std::string& folder) const {
  return std::make_unique<Pages>(state_, WithoutSlash(folder), Kind::kTreePage);
}

absl::StatusOr<std::unique_ptr<OutputStream>> MemoryStore::Create(const std::string& path,
                                                                  const OutputOptions& options) const {
  return std::make_unique<Output>(state_, path, options, "");
}

absl::StatusOr<std::unique_ptr<OutputStream>> MemoryStore::Resume(const std::string& path, const OutputOptions& options,
                                                                  int64_t bytes) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto draft = state_->drafts.find({path, options.draft});
  if (draft == state_->drafts.end()) return NotFoundError(path, ": there is no draft of it");
  if (static_cast<int64_t>(draft->second.size()) < bytes) return DataError(path, ": its draft is shorter");
  return std::make_unique<Output>(state_, path, options, draft->second.substr(0, static_cast<size_t>(bytes)));
}

absl::Status MemoryStore::Remove(const std::string& path) const {
  HEADRACE_RETURN_IF_ERROR(state_->Serve({Kind::kRemove, path}));
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->objects.erase(path);
  return absl::OkStatus();
}

StoreCounters MemoryStore::counters() const {
  StoreCounters counters;
  for (const Request& request : requests()) {
    if (request.kind == Kind::kRead || request.kind == Kind::kReadRange) {
      ++counters.reads;
    } else if (request.kind == Kind::kWrite || request.kind == Kind::kRemove) {
      ++counters.writes;
      counters.sent += request.bytes;
    } else {
      ++counters.lists;
    }
  }
  counters.received = given();
  return counters;
}

int MemoryStore::most_outstanding() const { return state_->options.most_outstanding; }

bool MemoryStore::conditional_reads() const { return state_->options.conditional; }

}  // namespace headrace
