#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"
#include "io/files/plainly_missing.h"

namespace headrace {
namespace {

constexpr size_t kMostNamesCompared = 20000;  // an error message must not cost more than the work
constexpr size_t kMostFarCompared = 1000;     // a page, which is a request

// Characters inserted, deleted or changed to make one of the other (Levenshtein).
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

// Lists no more of a large folder than it compares.
std::optional<std::string> NearestName(const FileSystem& files, const std::string& folder, std::string_view wanted,
                                       size_t most) {
  const size_t limit = std::max<size_t>(2, wanted.size() / 3);
  const auto pages = files.ListPages(folder, false);
  std::optional<std::pair<size_t, std::string>> nearest;  // ties go by name, because a folder is listed in any order
  for (size_t compared = 0; pages.ok() && compared < most;) {
    const auto page = (*pages)->Next();
    if (!page.ok() || page->empty()) break;
    compared += page->size();
    for (const FolderEntry& entry : *page) {
      // Names that differ by more in length cannot be near, which spares most of the work for a very long one.
      if (std::max(wanted.size(), entry.name.size()) - std::min(wanted.size(), entry.name.size()) > limit) continue;
      std::pair<size_t, std::string> candidate(EditDistance(wanted, entry.name), entry.name);
      if (candidate.first <= limit && (!nearest || candidate < *nearest)) nearest = std::move(candidate);
    }
  }
  if (!nearest) return std::nullopt;
  return std::move(nearest->second);
}

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return "";
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view LastPart(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The path up to its first part that is missing. Looks at few of its folders, of which there may be very many: where
// one is missing, so is all below it.
std::string_view FirstMissing(const FileSystem& files, std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  std::vector<size_t> ends;  // of the folders above, the highest first
  for (size_t slash = path.find('/', RootOf(path).size()); slash != path.npos; slash = path.find('/', slash + 1)) {
    ends.push_back(slash);
  }
  const auto there = [&](size_t end) { return files.Stat(std::string(path.substr(0, end))).ok(); };
  const auto missing = std::partition_point(ends.begin(), ends.end(), there);
  return missing == ends.end() ? path : path.substr(0, *missing);
}

// Asks a far store twice at most.
absl::Status MissingFarPathError(const FileSystem& store, std::string_view path) {
  while (path.size() > RootOf(path).size() && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash < RootOf(path).size()) {
    return NotFoundError(path, ": not found; check the name of the bucket or host, and storage=");
  }
  const std::string folder(path.substr(0, slash));
  const absl::StatusOr<FileStat> stat = store.Stat(folder);
  // A store that refuses has said why.
  if (!stat.ok() && KindOf(stat.status()) != ErrorKind::kNotFound) return stat.status();
  if (IsPlainlyMissing(stat.status())) {
    return NotFoundError(path, ": not found, and nothing is below ", folder, "; check the path");
  }
  if (!stat.ok()) return NotFoundError(path, ": not found; of its folder the store says: ", stat.status().message());
  const std::string_view name = LastPart(path);
  if (const auto nearest = NearestName(store, folder, name, kMostFarCompared)) {
    if (*nearest == name) return NotFoundError(path, " is a file, not a folder; leave out what follows its name");
    return NotFoundError(path, ": not found; did you mean ", JoinPath(folder, *nearest), "?");
  }
  return NotFoundError(path, ": not found; the folder ", folder, " is there, but has no '", name, "'; check the path");
}

// "s3://bucket/a" of "s3:/bucket/a"; "" where it is not the URL of a store.
std::string UrlOfMergedSlashes(const FileSystem& all, std::string_view path) {
  const size_t colon = path.find(':');
  const std::string_view rest = colon == std::string_view::npos ? "" : path.substr(colon + 1);
  if (!rest.starts_with('/') || rest.starts_with("//")) return "";
  const std::string url = Cat(path.substr(0, colon), ":/", rest);
  const absl::StatusOr<FileSystem::Located> located = all.Locate(url);
  return located.ok() && located->files->far() != nullptr ? url : "";
}

}  // namespace

absl::Status MissingPathError(const FileSystem& all, const std::string& named) {
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, all.Locate(named));
  const FileSystem& files = *located.files;
  const std::string& path = located.path;
  if (path.empty()) return NotFoundError("the path is empty");
  if (files.far() != nullptr) return MissingFarPathError(files, path);
  const std::string_view missing = FirstMissing(files, path);
  const std::string parent(ParentOf(missing));
  const std::string where = parent.empty() ? "." : parent;
  std::string text = Cat(path, ": not found; ");
  const auto parent_stat = files.Stat(where);
  if (parent_stat.ok() && parent_stat->type != EntryType::kFolder) {
    Append(text, where, " is a file, not a folder");
    return NotFoundError(text);
  }
  if (parent.empty()) {
    Append(text, "the working folder has no '", LastPart(missing), "'");
  } else {
    Append(text, "the folder ", parent, " is there, but has no '", LastPart(missing), "'");
  }
  if (const std::string url = UrlOfMergedSlashes(all, path); !url.empty()) {
    Append(text, "; write \"", url, "\" as a text, as pathlib makes one slash of two");
  } else if (path.front() == '~') {
    Append(text, "; write os.path.expanduser(\"", path, "\"), as only a shell reads ~ as the home folder");
  } else if (const auto nearest = NearestName(files, where, LastPart(missing), kMostNamesCompared)) {
    Append(text, "; did you mean ", parent.empty() ? *nearest : JoinPath(parent, *nearest), "?");
  } else {
    Append(text, "; check the path");
  }
  return NotFoundError(text);
}

}  // namespace headrace
