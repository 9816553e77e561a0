#include "io/files/object_cache/object_cache.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system_registration.h"
#include "io/files/output_stream.h"

namespace headrace::object_cache {
namespace {

bool IsKnown(const ListedFile& listed) { return listed.size >= 0 && listed.version != 0; }

// A read whose pieces come from several parts.
class Gathered {
 public:
  Gathered(size_t pieces, int64_t bytes, RandomAccessFile::Done done)
      : left_(pieces), bytes_(bytes), done_(std::move(done)) {}

  void End(const absl::Status& piece) {
    if (!piece.ok()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_.Update(piece);
    }
    if (left_.fetch_sub(1) > 1) return;
    done_(error_.ok() ? absl::StatusOr<int64_t>(bytes_) : error_);
  }

 private:
  std::atomic<size_t> left_;
  const int64_t bytes_;
  const RandomAccessFile::Done done_;
  std::mutex mutex_;
  absl::Status error_;
};

absl::StatusOr<std::unique_ptr<FileSystem>> MakeObjectCache(std::unique_ptr<FileSystem> far,
                                                            const StorageSettings& settings) {
  if (far->far() == nullptr) return far;
  HEADRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<PartFolder> folder,
      PartFolder::Open(*LocalFileSystem(), settings.object_cache, {.limit = settings.object_cache_bytes}));
  return std::make_unique<ObjectCache>(std::move(far), std::move(folder), settings.endpoint);
}

const ObjectCacheRegistration object_cache_registration(MakeObjectCache);

}  // namespace

// A file whose size and version are known.
class ObjectCache::File : public RandomAccessFile, public std::enable_shared_from_this<File> {
 public:
  File(const ObjectCache* cache, Object object, ListedFile listed)
      : cache_(cache), object_(std::move(object)), listed_(listed) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
    target = Within(offset, target);
    for (const Piece& piece : PiecesOf(offset, target)) {
      HEADRACE_RETURN_IF_ERROR(cache_->reads_.Read(KeyOf(cache_->store_, object_, piece.part), piece.part, object_.url,
                                                   Opener(), piece.offset, piece.target));
    }
    return static_cast<int64_t>(target.size());
  }

  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override {
    target = Within(offset, target);
    if (cache_->IsForked() || target.empty()) {
      done(ReadAt(offset, target));
      return;
    }
    const std::vector<Piece> pieces = PiecesOf(offset, target);
    const auto gathered =
        std::make_shared<Gathered>(pieces.size(), static_cast<int64_t>(target.size()), std::move(done));
    for (const Piece& piece : pieces) {
      cache_->reads_.Start(KeyOf(cache_->store_, object_, piece.part), piece.part, object_.url, Opener(),
                           {piece.offset, piece.target, [gathered](const absl::Status& end) { gathered->End(end); }});
    }
  }

  absl::StatusOr<int64_t> Size() const override { return object_.size; }

 private:
  struct Piece {
    Part part;
    int64_t offset = 0;  // within the part
    absl::Span<uint8_t> target;
  };

  // The part of `target` that the file fills.
  absl::Span<uint8_t> Within(int64_t offset, absl::Span<uint8_t> target) const {
    const int64_t left = offset < 0 ? 0 : std::max<int64_t>(0, object_.size - offset);
    return target.first(static_cast<size_t>(std::min(left, static_cast<int64_t>(target.size()))));
  }

  std::vector<Piece> PiecesOf(int64_t offset, absl::Span<uint8_t> target) const {
    std::vector<Piece> pieces;
    while (!target.empty()) {
      Piece piece;
      piece.part = PartAt(object_.size, PartOfByte(object_.size, offset));
      piece.offset = offset - piece.part.offset;
      const int64_t bytes = std::min(piece.part.bytes - piece.offset, static_cast<int64_t>(target.size()));
      piece.target = target.first(static_cast<size_t>(bytes));
      target.remove_prefix(static_cast<size_t>(bytes));
      offset += bytes;
      pieces.push_back(piece);
    }
    return pieces;
  }

  PartReads::OpenFar Opener() const {
    return [self = shared_from_this()] { return self->OpenFar(); };
  }

  // The store's file, opened once and not before it is needed.
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> OpenFar() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (far_ == nullptr) {
      HEADRACE_ASSIGN_OR_RETURN(far_, cache_->far_->Open(object_.url, listed_));
    }
    return far_;
  }

  const ObjectCache* const cache_;
  const Object object_;
  const ListedFile listed_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const RandomAccessFile> far_;
};

ObjectCache::ObjectCache(std::unique_ptr<FileSystem> far, std::unique_ptr<PartFolder> folder, std::string store)
    : far_(std::move(far)),
      folder_(std::move(folder)),
      store_(std::move(store)),
      process_(getpid()),
      reads_(folder_.get(), &threads_) {}

bool ObjectCache::IsForked() const { return getpid() != process_; }

ListedFile ObjectCache::Ask(const std::string& path) const {
  const auto stat = far_->Stat(path);
  if (!stat.ok() || stat->type != EntryType::kFile) return {};
  return {stat->size, VersionHash(stat->version)};
}

std::shared_ptr<const ObjectCache::File> ObjectCache::OpenKnown(const std::string& path,
                                                                const ListedFile& listed) const {
  return std::make_shared<const File>(this, Object{path, listed.size, listed.version}, listed);
}

absl::StatusOr<FileSystem::Located> ObjectCache::Locate(const std::string& path) const {
  HEADRACE_RETURN_IF_ERROR(far_->Locate(path).status());
  return Located{this, path};
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> ObjectCache::Open(const std::string& path) const {
  const ListedFile asked = Ask(path);
  if (IsKnown(asked)) return OpenKnown(path, asked);
  return far_->Open(path);
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> ObjectCache::Open(const std::string& path,
                                                                          const ListedFile& listed) const {
  if (IsKnown(listed)) return OpenKnown(path, listed);
  return listed.size >= 0 ? far_->Open(path, listed) : Open(path);
}

absl::StatusOr<Tensor> ObjectCache::Read(const std::string& path) const {
  const ListedFile listed = Ask(path);
  if (!IsKnown(listed)) return far_->Read(path);
  HEADRACE_RETURN_IF_ERROR(CheckHeld(path, listed.size, listed.size));
  BufferRef buffer = BufferPool::Current().Allocate(static_cast<size_t>(listed.size));
  if (!buffer) return ResourceError("no memory for ", path, " (", listed.size, " bytes)");
  uint8_t* const data = buffer->data();
  const auto read = OpenKnown(path, listed)->ReadAt(0, absl::MakeSpan(data, static_cast<size_t>(listed.size)));
  // It may have been replaced since it was asked for.
  if (!read.ok()) return far_->Read(path);
  return Tensor::ViewBytes(DType::kBytes, std::move(buffer), data, static_cast<size_t>(listed.size));
}

void ObjectCache::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  if (IsForked()) {
    done(Read(path));
  } else if (IsKnown(listed)) {
    ReadWhole(path, listed, std::move(done));
  } else if (listed.size >= 0) {
    far_->StartRead(path, listed, std::move(done));
  } else {
    threads_.Start([this, path, done = std::move(done)] {
      const ListedFile asked = Ask(path);
      IsKnown(asked) ? ReadWhole(path, asked, done) : far_->StartRead(path, ListedFile(), done);
    });
  }
}

void ObjectCache::ReadWhole(const std::string& path, const ListedFile& listed, ReadDone done) const {
  if (PartsOf(listed.size) > 1) {
    ReadInParts(path, listed, std::move(done));
    return;
  }
  const PartKey key = KeyOf(store_, {path, listed.size, listed.version}, PartAt(listed.size, 0));
  std::optional<PartFile> file = folder_->Find(key);
  BufferRef buffer = file.has_value() ? BufferPool::Current().Allocate(static_cast<size_t>(listed.size)) : BufferRef();
  if (!buffer) {
    ReadFar(path, listed, key, std::move(done));
    return;
  }
  threads_.Start([this, path, listed, key, file = *std::move(file), buffer, done = std::move(done)] {
    uint8_t* const data = buffer->data();
    const auto bytes = static_cast<size_t>(listed.size);
    if (file.Read(0, absl::MakeSpan(data, bytes))) {
      reads_.CountFound(listed.size);
      done(Tensor::ViewBytes(DType::kBytes, buffer, data, bytes));
      return;
    }
    folder_->Drop(key);
    ReadFar(path, listed, key, done);
  });
}

void ObjectCache::ReadInParts(const std::string& path, const ListedFile& listed, ReadDone done) const {
  BufferRef buffer = BufferPool::Current().Allocate(static_cast<size_t>(listed.size));
  if (!buffer) {
    done(ResourceError("no memory for ", path, " (", listed.size, " bytes)"));
    return;
  }
  const auto file = OpenKnown(path, listed);
  const absl::Span<uint8_t> target(buffer->data(), static_cast<size_t>(listed.size));
  file->StartReadAt(0, target, [buffer, file, target, done = std::move(done)](absl::StatusOr<int64_t> read) {
    if (!read.ok()) {
      done(std::move(read).status());
    } else {
      done(Tensor::ViewBytes(DType::kBytes, buffer, target.data(), target.size()));
    }
  });
}

void ObjectCache::ReadFar(const std::string& path, const ListedFile& listed, const PartKey& key, ReadDone done) const {
  far_->StartRead(path, listed, [this, key, done = std::move(done)](absl::StatusOr<Tensor> read) {
    const bool whole = read.ok() && static_cast<int64_t>(read->bytes()) == key.bytes;
    whole ? Keep(key, *std::move(read), done) : done(std::move(read));
  });
}

void ObjectCache::Keep(const PartKey& key, Tensor read, ReadDone done) const {
  if (waiting_bytes_.fetch_add(key.bytes) > kMostWaiting) {
    waiting_bytes_.fetch_sub(key.bytes);
    done(std::move(read));
    return;
  }
  threads_.Start([this, key, read = std::move(read), done = std::move(done)]() mutable {
    folder_->Store(key, {read.raw(), read.bytes()});
    waiting_bytes_.fetch_sub(key.bytes);
    done(std::move(read));
  });
}

absl::StatusOr<std::unique_ptr<OutputStream>> ObjectCache::Create(const std::string& path,
                                                                  const OutputOptions& options) const {
  return far_->Create(path, options);
}

absl::StatusOr<std::unique_ptr<OutputStream>> ObjectCache::Resume(const std::string& path, const OutputOptions& options,
                                                                  int64_t bytes) const {
  return far_->Resume(path, options, bytes);
}

StoreCounters ObjectCache::counters() const {
  StoreCounters counters = far_->far()->counters();
  counters.cached = reads_.found();
  counters.cached_bytes = reads_.found_bytes();
  return counters;
}

std::string ObjectCache::Warning() const {
  const std::string problem = folder_->problem();
  if (problem.empty()) return far_->far()->Warning();
  return Cat("the object cache keeps nothing more, and what it lacks is read from the store each time: ", problem);
}

}  // namespace headrace::object_cache
