// `FarListing` is one listing of a far store: the files below a folder, or the entries of a folder, with sizes and
// versions, in two blocks of memory. Threads: made by Read, const afterwards; readable from any thread.
#ifndef HEADRACE_IO_FILES_FAR_LISTING_H_
#define HEADRACE_IO_FILES_FAR_LISTING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

class FarListing {
 public:
  // All pages of a listing of a folder, sorted, each name once. Markers of folders ("cat/", of no bytes) are left out.
  static absl::StatusOr<FarListing> Read(FolderPages& pages, const std::string& folder, bool tree);

  // Whether it has all files below the folder, or else its entries.
  bool tree() const { return tree_; }
  int64_t size() const { return names_.size(); }
  // Relative to the folder, in byte order.
  std::string_view name(int64_t i) const;
  FolderEntry Entry(int64_t i) const;

  // What is under a name relative to the folder; nothing: not there.
  std::optional<FileStat> Find(std::string_view name) const;
  // The entries whose names begin so are [first, last).
  struct Range {
    int64_t first;
    int64_t last;
  };
  Range Below(std::string_view beginning) const;

 private:
  void Add(std::string_view name, std::string_view version, int64_t size);
  // In byte order of the names, the first of equal ones.
  void SortUnique();
  int64_t LowerBound(std::string_view name) const;

  bool tree_ = true;
  PathArena names_;  // those of folders end in '/'
  PathArena versions_;
  std::vector<int64_t> sizes_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FAR_LISTING_H_
