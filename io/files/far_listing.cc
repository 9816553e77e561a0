#include "io/files/far_listing.h"

#include <algorithm>
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

absl::StatusOr<FarListing> FarListing::Read(FolderPages& pages, const std::string& folder, bool tree) {
  std::vector<FolderEntry> entries;
  ListingProgress progress(folder);
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(std::vector<FolderEntry> page, pages.Next());
    if (page.empty()) break;
    progress.Add(static_cast<int64_t>(page.size()));
    for (FolderEntry& entry : page) {
      if (entry.name.empty() || entry.name.back() == '/') continue;
      entry.name = SortedName(entry);
      entries.push_back(std::move(entry));
    }
  }
  progress.End();
  const auto before = [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    std::stable_sort(entries.begin(), entries.end(), before);
  }
  FarListing listing;
  listing.tree_ = tree;
  listing.sizes_.reserve(entries.size());
  for (const FolderEntry& entry : entries) {
    const int64_t last = listing.names_.size() - 1;
    if (last >= 0 && listing.names_[last] == entry.name) continue;
    listing.names_.Add(entry.name);
    listing.versions_.Add(entry.version);
    listing.sizes_.push_back(entry.size);
  }
  return listing;
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
