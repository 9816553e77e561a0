#include "io/files/listed_store.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/files/output_stream.h"
#include "io/files/plainly_missing.h"

namespace headrace {
namespace {

constexpr int64_t kEntriesOfListedPage = 4096;
// From so many files of one folder on, a listing of it is tried before each is asked about.
constexpr size_t kWorthListing = 16;

// "s3://bucket" of "s3://bucket/": one slash ends a folder's name, others are part of names in it.
std::string FolderAsKept(std::string_view folder) {
  if (folder.size() > RootOf(folder).size() && folder.back() == '/') folder.remove_suffix(1);
  return std::string(folder);
}

// Where the name after a folder begins; npos: there is no folder above that one.
size_t SlashBefore(std::string_view path, size_t end) {
  if (end == 0) return std::string_view::npos;
  const size_t slash = path.rfind('/', end - 1);
  return slash == std::string_view::npos || slash < RootOf(path).size() ? std::string_view::npos : slash;
}

bool ShowsAChange(const absl::Status& status) {
  if (status.ok()) return false;
  const ErrorKind kind = KindOf(status);
  return kind == ErrorKind::kData || kind == ErrorKind::kNotFound;
}

// Part of a listing, as pages.
class ListedPages : public FolderPages {
 public:
  // `skipped`: bytes of names that stand for the folder; with `one_level`, what is in its folders is left out.
  ListedPages(std::shared_ptr<const FarListing> listing, FarListing::Range range, size_t skipped, bool one_level)
      : listing_(std::move(listing)), range_(range), skipped_(skipped), one_level_(one_level) {}

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    std::vector<FolderEntry> page;
    while (range_.first < range_.last && static_cast<int64_t>(page.size()) < kEntriesOfListedPage) {
      FolderEntry entry = listing_->Entry(range_.first);
      entry.name.erase(0, skipped_);
      const size_t slash = one_level_ ? entry.name.find('/') : std::string::npos;
      if (slash == std::string::npos) {
        ++range_.first;
      } else {
        entry.name.resize(slash);
        entry.type = EntryType::kFolder;
        entry.size = -1;
        entry.version.clear();
        range_.first = listing_->Below(Cat(listing_->name(range_.first).substr(0, skipped_ + slash), "/")).last;
      }
      if (!entry.name.empty()) page.push_back(std::move(entry));
    }
    return page;
  }

 private:
  const std::shared_ptr<const FarListing> listing_;
  FarListing::Range range_;
  const size_t skipped_;
  const bool one_level_;
};

}  // namespace

// What is known, in maps by folder and by file. A listing that is not true of some names any more stays for the others:
// their versions must be known for as long as they are read.
class ListedStore::Memory {
 public:
  // A listing that covers a folder or a file, and the name there of what is looked for.
  struct Cover {
    std::shared_ptr<const FarListing> listing;
    std::string name;
  };

  // The listing of a folder, or of one above it; `tree`: with all that is below it. Nothing: none is wholly true.
  std::optional<Cover> CoverOfFolder(const std::string& folder, bool tree) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const Kept* const own = ListingOf(folder, tree); own != nullptr) {
      return own->stale.empty() ? std::optional(Cover{own->listing, ""}) : std::nullopt;
    }
    const std::optional<Above> above = ListingAbove(folder, /*tree=*/true);
    if (!above.has_value() || IsStale(*above)) return std::nullopt;
    return Cover{above->kept->listing, above->name};
  }

  // Nothing: no listing covers it, or its size is not known.
  std::optional<absl::StatusOr<FileStat>> Find(const std::string& path) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto stat = stats_.find(path); stat != stats_.end()) return stat->second;
    const std::string plain = FolderAsKept(path);
    if (const Kept* const own = ListingOf(plain, false); own != nullptr) {
      return own->stale.empty() ? std::optional(FolderIfAny(plain, *own->listing)) : std::nullopt;
    }
    const std::optional<Above> above = ListingAbove(plain, /*tree=*/false);
    if (!above.has_value() || IsStale(*above)) return std::nullopt;
    std::optional<FileStat> found = above->kept->listing->Find(above->name);
    if (!found.has_value()) return PlainlyMissing(NotFoundError(path, " is not in the listing of its folder"));
    if (found->type == EntryType::kFile && found->size < 0) return std::nullopt;
    return *std::move(found);
  }

  void KeepStat(const std::string& path, const FileStat& stat) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stats_.insert_or_assign(path, stat);
  }

  // Before a listing of the store that is to be kept, with listing_mutex() held.
  void BeginListing() {
    const std::lock_guard<std::mutex> lock(mutex_);
    forgotten_meanwhile_.emplace();
  }

  void KeepListing(const std::string& folder, std::shared_ptr<const FarListing> listing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string beginning = Cat(folder, "/");
    Kept kept{std::move(listing), {}};
    for (const std::string& path : *forgotten_meanwhile_) {
      if (path.starts_with(beginning)) kept.stale.insert(path.substr(beginning.size()));
    }
    forgotten_meanwhile_.reset();
    if (kept.listing->tree()) {
      // It is newer than those of the folders below.
      EraseBelow(beginning, trees_);
      EraseBelow(beginning, levels_);
    }
    (kept.listing->tree() ? trees_ : levels_).insert_or_assign(folder, std::move(kept));
  }

  void Forget(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stats_.erase(path);
    if (forgotten_meanwhile_.has_value()) forgotten_meanwhile_->push_back(path);
    for (size_t slash = SlashBefore(path, path.size()); slash != std::string::npos; slash = SlashBefore(path, slash)) {
      const std::string folder = path.substr(0, slash);
      // It may have come to be there, or be there no more.
      stats_.erase(folder);
      for (Listings* const listings : {&trees_, &levels_}) {
        const auto found = listings->find(folder);
        if (found != listings->end()) found->second.stale.insert(path.substr(slash + 1));
      }
    }
  }

  // Held during a listing of the store, so that two threads do not list one folder.
  std::mutex& listing_mutex() { return listing_mutex_; }

 private:
  struct Kept {
    std::shared_ptr<const FarListing> listing;
    std::set<std::string, std::less<>> stale;  // names in the folder that it is not true of any more
  };
  using Listings = std::map<std::string, Kept, std::less<>>;
  // The listing of a folder above, and the name there.
  struct Above {
    const Kept* kept;
    std::string name;
  };

  static bool IsStale(const Above& above) {
    if (above.kept->stale.contains(above.name)) return true;
    const std::string beginning = Cat(above.name, "/");
    const auto first = above.kept->stale.lower_bound(beginning);
    return first != above.kept->stale.end() && first->starts_with(beginning);
  }

  static void EraseBelow(const std::string& beginning, Listings& listings) {
    const auto first = listings.lower_bound(beginning);
    auto last = first;
    while (last != listings.end() && last->first.starts_with(beginning)) ++last;
    listings.erase(first, last);
  }

  // A tree is also a listing of one level.
  const Kept* ListingOf(std::string_view folder, bool tree) const {
    const auto whole = trees_.find(folder);
    if (whole != trees_.end() && (tree || whole->second.stale.empty())) return &whole->second;
    const auto level = tree ? levels_.end() : levels_.find(folder);
    if (level != levels_.end()) return &level->second;
    return whole == trees_.end() ? nullptr : &whole->second;
  }

  // A listing of one level covers names in that folder alone.
  std::optional<Above> ListingAbove(const std::string& path, bool tree) const {
    bool parent = true;
    for (size_t slash = SlashBefore(path, path.size()); slash != std::string::npos; slash = SlashBefore(path, slash)) {
      const Kept* const kept = ListingOf(std::string_view(path).substr(0, slash), tree || !parent);
      if (kept != nullptr) return Above{kept, path.substr(slash + 1)};
      parent = false;
    }
    return std::nullopt;
  }

  // As a store says: a folder without entries is not there.
  static absl::StatusOr<FileStat> FolderIfAny(const std::string& folder, const FarListing& listing) {
    if (listing.size() == 0) return PlainlyMissing(NotFoundError(folder, " is not there"));
    FileStat stat;
    stat.type = EntryType::kFolder;
    return stat;
  }

  mutable std::mutex mutex_;
  Listings trees_;
  Listings levels_;
  std::map<std::string, FileStat, std::less<>> stats_;
  // Since the listing began that is being made; nullopt: none is.
  std::optional<std::vector<std::string>> forgotten_meanwhile_;
  std::mutex listing_mutex_;
};

// A file that is written: what a listing says of its name is not true from now on, nor is what one says that is made
// before the file has the name.
class ListedStore::Output : public OutputStream {
 public:
  static absl::StatusOr<std::unique_ptr<OutputStream>> Of(absl::StatusOr<std::unique_ptr<OutputStream>> stream,
                                                          const std::string& path, std::shared_ptr<Memory> memory) {
    memory->Forget(path);
    HEADRACE_RETURN_IF_ERROR(stream.status());
    return std::make_unique<Output>(*std::move(stream), path, std::move(memory));
  }
  Output(std::unique_ptr<OutputStream> stream, std::string path, std::shared_ptr<Memory> memory)
      : stream_(std::move(stream)), path_(std::move(path)), memory_(std::move(memory)) {}

  absl::Status Append(absl::Span<const std::string_view> parts) override { return stream_->Append(parts); }
  int64_t size() const override { return stream_->size(); }
  absl::Status Rewrite(int64_t offset, std::string_view bytes) override { return stream_->Rewrite(offset, bytes); }
  absl::Status Flush() override { return stream_->Flush(); }
  absl::Status Seal() override { return stream_->Seal(); }
  absl::Status Commit() override {
    absl::Status committed = stream_->Commit();
    memory_->Forget(path_);
    return committed;
  }
  absl::Status Keep() override { return stream_->Keep(); }

 private:
  const std::unique_ptr<OutputStream> stream_;
  const std::string path_;
  const std::shared_ptr<Memory> memory_;
};

class ListedStore::File : public RandomAccessFile {
 public:
  File(std::shared_ptr<const RandomAccessFile> file, std::string path, std::shared_ptr<Memory> memory)
      : file_(std::move(file)), path_(std::move(path)), memory_(std::move(memory)) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
    absl::StatusOr<int64_t> read = file_->ReadAt(offset, target);
    if (ShowsAChange(read.status())) memory_->Forget(path_);
    return read;
  }
  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override {
    file_->StartReadAt(offset, target,
                       [path = path_, memory = memory_, done = std::move(done)](absl::StatusOr<int64_t> read) {
                         if (ShowsAChange(read.status())) memory->Forget(path);
                         done(std::move(read));
                       });
  }
  absl::StatusOr<int64_t> Size() const override { return file_->Size(); }
  absl::StatusOr<int64_t> HeldBytes() const override { return file_->HeldBytes(); }

 private:
  const std::shared_ptr<const RandomAccessFile> file_;
  const std::string path_;
  const std::shared_ptr<Memory> memory_;
};

ListedStore::ListedStore(const FileSystem* store) : store_(store), memory_(std::make_shared<Memory>()) {}

ListedFile ListedStore::Known(const std::string& path, ListedFile listed) const {
  if (listed.size >= 0 && listed.version != 0) return listed;
  const std::optional<absl::StatusOr<FileStat>> found = memory_->Find(path);
  if (!found.has_value() || !found->ok() || (*found)->type != EntryType::kFile) return listed;
  if (listed.size < 0) listed.size = (*found)->size;
  if (listed.version == 0 && listed.size == (*found)->size) listed.version = VersionHash((*found)->version);
  return listed;
}

absl::StatusOr<Tensor> ListedStore::Read(const std::string& path) const { return store_->Read(path); }

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> ListedStore::Open(const std::string& path) const {
  return Open(path, ListedFile());
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> ListedStore::Open(const std::string& path,
                                                                          const ListedFile& listed) const {
  const ListedFile known = Known(path, listed);
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> file =
      known.size < 0 && known.version == 0 ? store_->Open(path) : store_->Open(path, known);
  // A file that no listing had is no change: others of its folder, and their versions, are still known.
  if (known.size >= 0 && ShowsAChange(file.status())) memory_->Forget(path);
  HEADRACE_RETURN_IF_ERROR(file.status());
  return std::make_shared<const File>(*std::move(file), path, memory_);
}

void ListedStore::StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const {
  store_->StartRead(path, Known(path, listed),
                    [path, memory = memory_, done = std::move(done)](absl::StatusOr<Tensor> read) {
                      if (ShowsAChange(read.status())) memory->Forget(path);
                      done(std::move(read));
                    });
}

absl::StatusOr<FileStat> ListedStore::Stat(const std::string& path) const {
  if (auto found = memory_->Find(path); found.has_value()) return *std::move(found);
  HEADRACE_ASSIGN_OR_RETURN(FileStat stat, store_->Stat(path));
  memory_->KeepStat(path, stat);
  return stat;
}

absl::StatusOr<std::unique_ptr<FolderPages>> ListedStore::List(const std::string& folder, bool tree) const {
  const std::string kept = FolderAsKept(folder);
  std::optional<Memory::Cover> cover = memory_->CoverOfFolder(kept, tree);
  if (!cover.has_value()) {
    const std::lock_guard<std::mutex> lock(memory_->listing_mutex());
    cover = memory_->CoverOfFolder(kept, tree);
    if (!cover.has_value()) {
      memory_->BeginListing();
      HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FolderPages> pages,
                                tree ? store_->far()->ListTree(folder) : store_->ListPages(folder, true));
      HEADRACE_ASSIGN_OR_RETURN(FarListing listing, FarListing::Read(*pages, folder, tree));
      cover = Memory::Cover{std::make_shared<const FarListing>(std::move(listing)), ""};
      memory_->KeepListing(kept, cover->listing);
    }
  }
  const std::string beginning = cover->name.empty() ? "" : Cat(cover->name, "/");
  const FarListing::Range range = cover->listing->Below(beginning);
  return std::make_unique<ListedPages>(std::move(cover->listing), range, beginning.size(), !tree);
}

absl::StatusOr<std::unique_ptr<FolderPages>> ListedStore::ListPages(const std::string& folder, bool /*sizes*/) const {
  return List(folder, false);
}

absl::StatusOr<std::unique_ptr<FolderPages>> ListedStore::ListTree(const std::string& folder) const {
  return List(folder, true);
}

void ListedStore::Expect(absl::Span<const std::string> paths) const {
  std::map<std::string, std::vector<std::string>> by_folder;
  for (const std::string& path : paths) {
    const size_t slash = SlashBefore(path, path.size());
    if (slash != std::string::npos && !memory_->Find(path).has_value())
      by_folder[path.substr(0, slash)].push_back(path.substr(slash + 1));
  }
  for (auto& [folder, names] : by_folder) {
    if (names.size() < kWorthListing || memory_->CoverOfFolder(folder, false).has_value()) continue;
    std::sort(names.begin(), names.end());
    // A store that is away is not asked about the other folders.
    if (IsBeyondRow(ExpectIn(folder, names))) return;
  }
}

// Gives up after as many pages as there are files, which is what asking for each would cost. Errors are left to the
// stats that follow.
absl::Status ListedStore::ExpectIn(const std::string& folder, const std::vector<std::string>& names) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FolderPages> pages, store_->ListPages(folder, true));
  for (size_t page_number = 0; page_number < names.size(); ++page_number) {
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<FolderEntry> page, pages->Next());
    if (page.empty()) break;
    for (const FolderEntry& entry : page) {
      if (entry.type != EntryType::kFile || entry.size < 0) continue;
      if (!std::binary_search(names.begin(), names.end(), entry.name)) continue;
      FileStat stat;
      stat.size = entry.size;
      stat.version = entry.version;
      memory_->KeepStat(Cat(folder, "/", entry.name), stat);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OutputStream>> ListedStore::Create(const std::string& path,
                                                                  const OutputOptions& options) const {
  return Output::Of(store_->Create(path, options), path, memory_);
}

absl::StatusOr<std::unique_ptr<OutputStream>> ListedStore::Resume(const std::string& path, const OutputOptions& options,
                                                                  int64_t bytes) const {
  return Output::Of(store_->Resume(path, options, bytes), path, memory_);
}

absl::Status ListedStore::Remove(const std::string& path) const {
  absl::Status removed = store_->Remove(path);
  memory_->Forget(path);
  return removed;
}

ListedFile ListedStore::ListedAs(const std::string& path) const { return Known(path, ListedFile()); }

StoreCounters ListedStore::counters() const { return store_->far()->counters(); }

int ListedStore::most_outstanding() const { return store_->far()->most_outstanding(); }

bool ListedStore::conditional_reads() const { return store_->far()->conditional_reads(); }

double ListedStore::ListPrice(const StoreCounters& counters) const { return store_->far()->ListPrice(counters); }

std::string ListedStore::Warning() const { return store_->far()->Warning(); }

}  // namespace headrace
