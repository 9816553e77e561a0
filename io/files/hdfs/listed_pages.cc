#include "io/files/hdfs/listed_pages.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/stop_signal.h"
#include "io/files/hdfs/folder_listing.h"

namespace headrace::hdfs {
namespace {

constexpr size_t kMostOfPage = 4096;
// Folders of each level that are asked for before their turn.
constexpr int kFoldersAhead = 16;
// As HDFS has it: a server that names a folder in each folder would be listed without end.
constexpr size_t kMostLevels = 1000;

FolderEntry EntryOf(HdfsStatus status, std::string name) {
  FolderEntry entry;
  entry.type = status.type;
  if (status.type == EntryType::kFile) entry.size = status.size;
  entry.version = VersionOf(status);
  entry.name = std::move(name);
  return entry;
}

class HdfsFolderPages : public FolderPages {
 public:
  HdfsFolderPages(HdfsClient* client, std::string name, std::string path)
      : client_(client), name_(std::move(name)), path_(std::move(path)) {}

  absl::Status Fetch() {
    ListDialogue dialogue(client_, name_, path_, after_);
    HEADRACE_RETURN_IF_ERROR(client_->Run(dialogue));
    HEADRACE_ASSIGN_OR_RETURN(HdfsListing listing, dialogue.TakeListing());
    listed_ = std::move(listing.entries);
    given_ = 0;
    ends_ = listing.remaining == 0;
    if (!listed_.empty()) after_ = listed_.back().name;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    std::vector<FolderEntry> page;
    if (given_ == listed_.size() && !ends_) HEADRACE_RETURN_IF_ERROR(Fetch());
    while (given_ < listed_.size() && page.size() < kMostOfPage) {
      std::string name = listed_[given_].name;
      page.push_back(EntryOf(std::move(listed_[given_++]), std::move(name)));
    }
    return page;
  }

 private:
  HdfsClient* const client_;
  const std::string name_;
  const std::string path_;
  std::string after_;
  std::vector<HdfsStatus> listed_;
  size_t given_ = 0;
  bool ends_ = false;
};

// The listing that is under way of one folder, shared with the event thread.
struct AwaitedPage {
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<absl::StatusOr<HdfsListing>> page;
  bool missing = false;  // there is no such folder any more
};

class TreeFolder {
 public:
  // `prefix`: of names in it, "cat/"; "" of the root. `name` and `path` without a slash at the end, unless they are
  // roots.
  TreeFolder(HdfsClient* client, std::string name, std::string path, std::string prefix)
      : client_(client), name_(std::move(name)), path_(std::move(path)), prefix_(std::move(prefix)) {}

  void Ask() {
    if (awaited_ != nullptr || ends_) return;
    awaited_ = std::make_shared<AwaitedPage>();
    const auto dialogue = std::make_shared<ListDialogue>(client_, name_, path_, after_);
    client_->Start(dialogue, nullptr, [dialogue, awaited = awaited_](const absl::Status& ended) {
      absl::StatusOr<HdfsListing> page = ended.ok() ? dialogue->TakeListing() : ended;
      const std::lock_guard lock(awaited->mutex);
      awaited->missing = dialogue->fault() == RemoteFault::kMissing;
      awaited->page = std::move(page);
      awaited->arrived.notify_all();
    });
  }

  // Waits for what was asked for.
  absl::Status Take() {
    Ask();
    absl::StatusOr<HdfsListing> awaited = Await();
    // A folder that is removed meanwhile has no files.
    ends_ = !prefix_.empty() && awaited_->missing;
    if (ends_) return absl::OkStatus();
    HEADRACE_ASSIGN_OR_RETURN(HdfsListing listing, std::move(awaited));
    awaited_ = nullptr;
    ends_ = listing.remaining == 0;
    if (!listing.entries.empty()) after_ = listing.entries.back().name;
    for (HdfsStatus& status : listing.entries) {
      const bool folder = status.type == EntryType::kFolder;
      if (!folder && status.type != EntryType::kFile) continue;
      // A folder stands where the names in it do.
      std::string key = folder ? Cat(status.name, "/") : status.name;
      waiting_.emplace(std::move(key), Waiting{std::move(status), nullptr});
    }
    Ask();
    AskAhead();
    return absl::OkStatus();
  }

  // Whether Next gives an entry without a further page: later names may stand before it otherwise.
  bool HasNext() const { return !waiting_.empty() && (ends_ || waiting_.begin()->first <= after_); }
  bool ended() const { return ends_ && waiting_.empty(); }
  const std::string& name() const { return name_; }

  // Takes the first entry: a file into `page`, or else the folder.
  std::unique_ptr<TreeFolder> Next(std::vector<FolderEntry>& page) {
    const auto first = waiting_.extract(waiting_.begin());
    HdfsStatus& status = first.mapped().status;
    if (status.type == EntryType::kFile) {
      std::string name = Cat(prefix_, status.name);
      page.push_back(EntryOf(std::move(status), std::move(name)));
      return nullptr;
    }
    std::unique_ptr<TreeFolder> folder = std::move(first.mapped().folder);
    if (folder != nullptr) {
      --ahead_;
    } else {
      folder = Below(status.name);
    }
    AskAhead();
    return folder;
  }

 private:
  struct Waiting {
    HdfsStatus status;
    std::unique_ptr<TreeFolder> folder;  // if it was asked for
  };

  std::unique_ptr<TreeFolder> Below(const std::string& name) const {
    return std::make_unique<TreeFolder>(client_, JoinPath(name_, name), JoinPath(path_, name), Cat(prefix_, name, "/"));
  }

  void AskAhead() {
    auto next = waiting_.lower_bound(asked_);
    for (; next != waiting_.end() && ahead_ < kFoldersAhead; ++next) {
      Waiting& waiting = next->second;
      asked_ = next->first;
      if (waiting.status.type != EntryType::kFolder || waiting.folder != nullptr) continue;
      waiting.folder = Below(waiting.status.name);
      waiting.folder->Ask();
      ++ahead_;
    }
  }

  absl::StatusOr<HdfsListing> Await() const {
    std::unique_lock lock(awaited_->mutex);
    while (!awaited_->page.has_value()) {
      awaited_->arrived.wait_for(lock, Interrupt::kInterval);
      if (StopSignal::Raised()) return StopSignal::Error();
    }
    return *std::move(awaited_->page);
  }

  HdfsClient* const client_;
  const std::string name_;
  const std::string path_;
  const std::string prefix_;
  std::shared_ptr<AwaitedPage> awaited_;  // null: nothing is asked for
  std::string after_;                     // the last name that was listed
  bool ends_ = false;
  std::map<std::string, Waiting> waiting_;
  std::string asked_;  // the last of waiting_ that AskAhead came to
  int ahead_ = 0;
};

class HdfsTreePages : public FolderPages {
 public:
  explicit HdfsTreePages(std::unique_ptr<TreeFolder> root) { open_.push_back(std::move(root)); }

  absl::Status Begin() { return open_.back()->Take(); }

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    std::vector<FolderEntry> page;
    while (!open_.empty() && page.size() < kMostOfPage) {
      TreeFolder& folder = *open_.back();
      if (folder.ended()) {
        open_.pop_back();
      } else if (folder.HasNext()) {
        std::unique_ptr<TreeFolder> below = folder.Next(page);
        if (below == nullptr) continue;
        if (open_.size() > kMostLevels) {
          return DataError(below->name(), ": it is ", open_.size(), " levels deep, and a path of HDFS has at most ",
                           kMostLevels, "; check that endpoint is a NameNode or HttpFS");
        }
        HEADRACE_RETURN_IF_ERROR(below->Take());
        open_.push_back(std::move(below));
      } else {
        HEADRACE_RETURN_IF_ERROR(folder.Take());
      }
    }
    return page;
  }

 private:
  std::vector<std::unique_ptr<TreeFolder>> open_;  // from the root on
};

}  // namespace

absl::StatusOr<std::unique_ptr<FolderPages>> MakeFolderPages(HdfsClient* client, const std::string& name,
                                                             const std::string& path) {
  auto pages = std::make_unique<HdfsFolderPages>(client, name, path);
  HEADRACE_RETURN_IF_ERROR(pages->Fetch());
  return pages;
}

absl::StatusOr<std::unique_ptr<FolderPages>> MakeTreePages(HdfsClient* client, const std::string& name,
                                                           const std::string& path) {
  auto pages = std::make_unique<HdfsTreePages>(std::make_unique<TreeFolder>(client, name, path, ""));
  HEADRACE_RETURN_IF_ERROR(pages->Begin());
  return pages;
}

}  // namespace headrace::hdfs
