#include "io/files/far_listing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/listing_progress.h"

namespace headrace {
namespace {

// The first name that does not begin so, for beginnings that end in '/'.
std::string AfterAllBelow(std::string_view beginning) {
  std::string after(beginning);
  after.back() = '/' + 1;
  return after;
}

// In one-level listings, folders and other files may have one name.
std::string SortedName(const FolderEntry& entry) {
  return entry.type == EntryType::kFolder ? Cat(entry.name, "/") : entry.name;
}

}  // namespace

// Takes each entry as it comes, because a set may have tens of millions of them.
absl::StatusOr<FarListing> FarListing::Read(FolderPages& pages, const std::string& folder, bool tree) {
  FarListing listing;
  listing.tree_ = tree;
  bool sorted = true;
  ListingProgress progress(folder);
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<FolderEntry> page, pages.Next());
    if (page.empty()) break;
    progress.Add(static_cast<int64_t>(page.size()));
    for (const FolderEntry& entry : page) {
      if (entry.name.empty() || entry.name.back() == '/') continue;
      const std::string name = SortedName(entry);
      const int64_t last = listing.size() - 1;
      sorted = sorted && (last < 0 || listing.names_[last] < name);
      listing.Add(name, entry.version, entry.size);
    }
  }
  progress.End();
  if (!sorted) listing.SortUnique();
  return listing;
}

void FarListing::Add(std::string_view name, std::string_view version, int64_t size) {
  names_.Add(name);
  versions_.Add(version);
  sizes_.push_back(size);
}

void FarListing::SortUnique() {
  std::vector<int64_t> order(sizes_.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [this](int64_t a, int64_t b) { return names_[a] < names_[b]; });
  FarListing sorted;
  sorted.tree_ = tree_;
  for (const int64_t i : order) {
    const int64_t last = sorted.size() - 1;
    if (last >= 0 && sorted.names_[last] == names_[i]) continue;
    sorted.Add(names_[i], versions_[i], sizes_[static_cast<size_t>(i)]);
  }
  *this = std::move(sorted);
}

std::string_view FarListing::name(int64_t i) const {
  std::string_view name = names_[i];
  if (name.back() == '/') name.remove_suffix(1);
  return name;
}

FolderEntry FarListing::Entry(int64_t i) const {
  FolderEntry entry;
  entry.name = std::string(name(i));
  if (names_[i].back() == '/') entry.type = EntryType::kFolder;
  entry.size = sizes_[static_cast<size_t>(i)];
  entry.version = std::string(versions_[i]);
  return entry;
}

int64_t FarListing::LowerBound(std::string_view name) const {
  int64_t first = 0;
  int64_t last = size();
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (names_[middle] < name) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

std::optional<FileStat> FarListing::Find(std::string_view name) const {
  FileStat stat;
  if (const int64_t at = LowerBound(name); at < size() && names_[at] == name) {
    stat.size = sizes_[static_cast<size_t>(at)];
    stat.version = std::string(versions_[at]);
    return stat;
  }
  const Range below = Below(Cat(name, "/"));
  if (below.first == below.last) return std::nullopt;
  stat.type = EntryType::kFolder;
  return stat;
}

FarListing::Range FarListing::Below(std::string_view beginning) const {
  if (beginning.empty()) return {0, size()};
  return {LowerBound(beginning), LowerBound(AfterAllBelow(beginning))};
}

}  // namespace headrace
