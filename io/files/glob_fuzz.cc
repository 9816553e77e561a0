// Fuzzes patterns and names: matching ends, a name matches itself once its special characters are in brackets, and a
// pattern of any parts is looked for, and finds files that are there, each once; in a far store the same.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/glob.h"
#include "io/files/plainly_missing.h"
#include "io/files/testing/memory_store.h"

namespace {

using headrace::EntryType;
using headrace::FileStat;
using headrace::FolderEntry;

constexpr std::array<std::string_view, 3> kFolders = {"a", "b.c", ".d"};
constexpr std::string_view kFile = "x.jpg";
constexpr int kDepth = 3;

// The depth of a path of these folders; -1: it is not there.
int DepthOf(std::string_view path) {
  int depth = 0;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    const bool there = std::find(kFolders.begin(), kFolders.end(), part) != kFolders.end();
    if (!there || ++depth > kDepth) return -1;
  }
  return depth;
}

bool IsFile(std::string_view path) {
  if (!path.ends_with(kFile)) return false;
  path.remove_suffix(kFile.size());
  return (path.empty() || path.back() == '/') && DepthOf(path) >= 0;
}

class OnePage : public headrace::FolderPages {
 public:
  explicit OnePage(std::vector<FolderEntry> entries) : entries_(std::move(entries)) {}
  absl::StatusOr<std::vector<FolderEntry>> Next() override { return std::exchange(entries_, {}); }

 private:
  std::vector<FolderEntry> entries_;
};

// Three folders in each folder, three deep, and a file in each.
class FewFolders : public headrace::FileSystem {
 public:
  absl::StatusOr<headrace::Tensor> Read(const std::string& path) const override { return Missing(path); }
  absl::StatusOr<std::shared_ptr<const headrace::RandomAccessFile>> Open(const std::string& path) const override {
    return Missing(path);
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override {
    if (IsFile(path)) return FileStat{.type = EntryType::kFile};
    if (DepthOf(path) < 0) return Missing(path);
    return FileStat{.type = EntryType::kFolder};
  }
  absl::StatusOr<std::unique_ptr<headrace::FolderPages>> ListPages(const std::string& folder,
                                                                   bool /*sizes*/) const override {
    std::vector<FolderEntry> entries = {{std::string(kFile), EntryType::kFile}};
    for (const std::string_view name : kFolders) {
      if (DepthOf(folder) < kDepth) entries.push_back({std::string(name), EntryType::kFolder});
    }
    return std::make_unique<OnePage>(std::move(entries));
  }

 private:
  static absl::Status Missing(const std::string& path) { return headrace::MissingError(path); }
};

void LookFor(const std::string& pattern) {
  const auto found = headrace::Glob(FewFolders(), {pattern});
  if (!found.ok()) return;
  headrace::Require(!found->empty(), "a pattern without matches is an error");
  for (int64_t i = 0; i < found->size(); ++i) {
    headrace::Require(IsFile((*found)[i]), "what was found is there");
    headrace::Require(i == 0 || (*found)[i - 1] < (*found)[i], "each file is found once");
  }
}

// A store with the same files below one bucket.
const headrace::MemoryStore& FarFolders() {
  static const auto* const store = [] {
    auto* const made = new headrace::MemoryStore;
    std::vector<std::string> folders = {"mem://b/"};
    for (size_t i = 0; i < folders.size(); ++i) {
      made->Put(headrace::Cat(folders[i], kFile), "");
      if (std::count(folders[i].begin(), folders[i].end(), '/') == 3 + kDepth) continue;
      for (const std::string_view name : kFolders) folders.push_back(headrace::Cat(folders[i], name, "/"));
    }
    return made;
  }();
  return *store;
}

// Parts such as ".." and "." lead elsewhere on a disk, and are names in a store.
bool IsPlainWalk(std::string_view pattern) {
  const std::string parts = headrace::Cat("/", pattern, "/");
  return parts.find("/../") == parts.npos && parts.find("/./") == parts.npos && parts.find("//", 1) == parts.npos;
}

void LookForFar(const std::string& pattern) {
  const auto far = headrace::Glob(FarFolders(), {headrace::Cat("mem://b/", pattern)});
  const auto near = headrace::Glob(FewFolders(), {pattern});
  if (!IsPlainWalk(pattern) || pattern.empty()) return;
  headrace::Require(far.ok() == near.ok(), "a pattern matches in a store if it matches on a disk");
  if (!far.ok()) return;
  headrace::Require(far->size() == near->size(), "it matches as many files");
  for (int64_t i = 0; i < far->size(); ++i) {
    headrace::Require((*far)[i] == headrace::Cat("mem://b/", (*near)[i]), "it matches the same files");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view pattern = input.substr(0, input.find('\0'));
  const std::string_view name = input.substr(std::min(input.size(), pattern.size() + 1));
  headrace::MatchesPattern(pattern, name);
  std::string plain;
  for (const char letter : name) {
    const bool sign = letter == '*' || letter == '?' || letter == '[';
    plain += sign ? std::string{'[', letter, ']'} : std::string{letter};
  }
  headrace::Require(headrace::MatchesPattern(plain, name), "a name matches itself");
  LookFor(std::string(pattern));
  if (headrace::RootOf(pattern).empty()) LookForFar(std::string(pattern));
  return 0;
}
