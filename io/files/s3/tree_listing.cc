#include "io/files/s3/tree_listing.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "core/stop_signal.h"
#include "io/files/s3/list_request.h"

namespace headrace::s3 {
namespace {

// Requests that look for folders, so that they cost little beside the pages.
constexpr int kMostLooks = 64;
// With so many folders, ranges are short enough.
constexpr size_t kEnoughCuts = 64;
constexpr size_t kMostRanges = 256;
constexpr size_t kAtOnce = 16;
// Pages that are read ahead of whoever takes them.
constexpr size_t kMostPagesAhead = 256;
constexpr std::chrono::milliseconds kAskInterval{50};
constexpr size_t kMostShownOfKey = 1024;

// Keys of one part of the tree, in their order.
struct KeyRange {
  std::string after = {};  // the range begins after this key
  std::string end = {};    // the first key after it; empty: none
  std::string token = {};
  std::string last = {};  // the last key that came
  std::deque<std::vector<ListedObject>> pages = {};
  bool under_way = false;
  bool done = false;
};

// Shared by the pages and the requests that are under way.
class TreeListing : public std::enable_shared_from_this<TreeListing> {
 public:
  TreeListing(FolderPlace place, std::string prefix, std::vector<KeyRange> ranges)
      : place_(std::move(place)), prefix_(std::move(prefix)), ranges_(std::move(ranges)) {}

  // The next page in order; none: all came.
  absl::StatusOr<std::vector<ListedObject>> Next() {
    std::unique_lock lock(mutex_);
    while (true) {
      while (first_ < ranges_.size() && ranges_[first_].done && ranges_[first_].pages.empty()) ++first_;
      if (first_ == ranges_.size()) return std::vector<ListedObject>();
      KeyRange& range = ranges_[first_];
      if (!range.pages.empty()) {
        std::vector<ListedObject> page = std::move(range.pages.front());
        range.pages.pop_front();
        --ahead_;
        Ask(lock);
        return page;
      }
      HEADRACE_RETURN_IF_ERROR(error_);
      Ask(lock);
      came_.wait_for(lock, kAskInterval);
      if (StopSignal::Raised()) return StopSignal::Error();
    }
  }

  void Cancel() {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    cancellation_->Cancel();
  }

  // Pages that came before.
  void Add(KeyRange& range, ListPage page) {
    const std::lock_guard lock(mutex_);
    Take(range, std::move(page));
  }
  KeyRange& range(size_t index) { return ranges_[index]; }

 private:
  // Asks for the next pages of the first ranges that have not ended.
  void Ask(std::unique_lock<std::mutex>& lock) {
    std::vector<std::pair<size_t, ListQuery>> queries;
    for (size_t i = first_; i < ranges_.size() && under_way_ < kAtOnce && error_.ok() && !cancelled_; ++i) {
      KeyRange& range = ranges_[i];
      if (range.done || range.under_way) continue;
      if (i != first_ && ahead_ + under_way_ >= kMostPagesAhead) break;
      range.under_way = true;
      ++under_way_;
      queries.emplace_back(i, ListQuery{.prefix = prefix_, .start_after = range.after, .token = range.token});
    }
    if (queries.empty()) return;
    // A request may end at once, on this thread.
    lock.unlock();
    for (const auto& [index, query] : queries) {
      S3Request request = ListRequest(place_, query);
      request.cancellation = cancellation_;
      place_.store->Start(std::move(request),
                          [self = shared_from_this(), i = index](absl::StatusOr<http::Reply> reply) {
                            self->Came(i, std::move(reply));
                          });
    }
    lock.lock();
  }

  void Came(size_t index, absl::StatusOr<http::Reply> reply) {
    absl::StatusOr<ListPage> page = PageOf(place_, std::move(reply));
    std::unique_lock lock(mutex_);
    KeyRange& range = ranges_[index];
    range.under_way = false;
    --under_way_;
    if (page.ok()) {
      Take(range, *std::move(page));
    } else if (error_.ok()) {
      error_ = std::move(page).status();
    }
    Ask(lock);
    came_.notify_all();
  }

  // With the lock held.
  void Take(KeyRange& range, ListPage page) {
    std::vector<ListedObject> kept;
    kept.reserve(page.objects.size());
    bool ends = !page.truncated;
    for (ListedObject& object : page.objects) {
      if (!range.end.empty() && object.key >= range.end) {
        ends = true;
        break;
      }
      if (object.key <= range.last || !object.key.starts_with(prefix_)) {
        if (error_.ok()) error_ = OrderError(object.key);
        return;
      }
      range.last = object.key;
      // A key that ends with '/' stands for a folder.
      if (!object.key.ends_with('/')) kept.push_back(std::move(object));
    }
    if (!ends && page.next == range.token) {
      if (error_.ok()) error_ = RepeatedTokenError(place_.name);
      return;
    }
    range.token = std::move(page.next);
    range.done = ends;
    if (kept.empty()) return;
    range.pages.push_back(std::move(kept));
    ++ahead_;
  }

  absl::Status OrderError(const std::string& key) const {
    return DataError(place_.name, ": the store's listing is not in the order of its keys, at '",
                     PrintableStart(key, kMostShownOfKey), "'; give the files by name, or by a list");
  }

  const FolderPlace place_;
  const std::string prefix_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<KeyRange> ranges_;
  size_t first_ = 0;  // of the ranges whose pages were not all taken
  size_t under_way_ = 0;
  size_t ahead_ = 0;  // pages
  bool cancelled_ = false;
  absl::Status error_;
};

class TreePages : public FolderPages {
 public:
  TreePages(std::shared_ptr<TreeListing> listing, size_t prefix_size)
      : listing_(std::move(listing)), prefix_size_(prefix_size) {}
  ~TreePages() override { listing_->Cancel(); }

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<ListedObject> page, listing_->Next());
    std::vector<FolderEntry> entries;
    entries.reserve(page.size());
    for (ListedObject& object : page) {
      entries.push_back(FileOf(object, prefix_size_));
    }
    return entries;
  }

 private:
  const std::shared_ptr<TreeListing> listing_;
  const size_t prefix_size_;
};

// Ranges of about equally many folders.
std::vector<KeyRange> RangesOf(const std::vector<std::string>& cuts) {
  std::vector<KeyRange> ranges(1);
  const size_t step = cuts.size() / kMostRanges + 1;
  for (size_t i = 0; i < cuts.size(); i += step) {
    ranges.back().end = cuts[i];
    // The cut itself is a key that stands for a folder.
    ranges.push_back({.after = cuts[i], .last = cuts[i]});
  }
  return ranges;
}

}  // namespace

FolderEntry FileOf(ListedObject& object, size_t prefix_size) {
  FolderEntry entry;
  entry.name = object.key.substr(prefix_size);
  entry.size = object.size;
  entry.version = std::move(object.version);
  return entry;
}

absl::Status RepeatedTokenError(std::string_view name) {
  return DataError(name, ": the store's listing does not go on: a page names itself as the next one");
}

absl::StatusOr<std::vector<std::string>> FindCuts(const FolderPlace& place, const std::string& prefix,
                                                  const std::string& after) {
  std::vector<std::string> cuts;
  std::deque<std::string> folders = {prefix};
  for (int looks = 0; looks < kMostLooks && !folders.empty() && cuts.size() < kEnoughCuts; ++looks) {
    const std::string folder = std::move(folders.front());
    folders.pop_front();
    std::string token;
    // All folders of one, even if they are more than a page.
    do {
      ListQuery query{.prefix = folder, .folders = true, .token = token};
      if (token.empty() && folder == prefix) query.start_after = after;
      HEADRACE_ASSIGN_OR_RETURN(ListPage page, ListOnePage(place, query));
      if (page.truncated && page.next == token) return RepeatedTokenError(place.name);
      token = page.truncated ? std::move(page.next) : std::string();
      for (std::string& found : page.prefixes) {
        if (!found.starts_with(folder) || found.size() == folder.size()) continue;
        folders.push_back(found);
        if (found > after) cuts.push_back(std::move(found));
      }
      // A page of files alone: folders would come too late to be worth looking for.
      if (page.prefixes.empty()) break;
    } while (!token.empty() && ++looks < kMostLooks);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

absl::StatusOr<std::unique_ptr<FolderPages>> MakeTreePages(const FolderPlace& place, const std::string& prefix,
                                                           ListPage first) {
  std::vector<KeyRange> ranges(1);
  if (first.truncated && !first.objects.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> cuts, FindCuts(place, prefix, first.objects.back().key));
    ranges = RangesOf(cuts);
  }
  const auto listing = std::make_shared<TreeListing>(place, prefix, std::move(ranges));
  listing->Add(listing->range(0), std::move(first));
  return std::make_unique<TreePages>(listing, prefix.size());
}

}  // namespace headrace::s3
