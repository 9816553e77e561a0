// `NamedFiles` reads whole files that the user's data name, by paths that may be relative to a folder. Their sizes are
// looked up when the run is made, so that states and caches notice files that changed; a file that is missing fails its
// row. A far store is not asked about each file before it is read: the size of a far file is not looked up.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_OPS_SOURCE_IMAGES_NAMED_FILES_H_
#define HEADRACE_OPS_SOURCE_IMAGES_NAMED_FILES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/whole_files.h"

namespace headrace {

class NamedFiles : public WholeFiles {
 public:
  struct Names {
    size_t count = 0;
    std::function<std::string_view(size_t)> path;  // constant, and not empty; may be called from any thread
    std::string root;                              // the folder of relative paths; empty: the working folder
    std::string key;                               // equal for equal names alone, so that sizes are kept between runs
    std::string listing;                           // the file that holds the names; empty: none
    bool rows = false;                             // errors say by its number which row names the file
  };
  // Looks up the sizes. `files` outlives it. kClosed: interrupted.
  static absl::StatusOr<std::unique_ptr<NamedFiles>> Make(const FileSystem* files, Names names);

  uint64_t size() const override { return names_.count; }
  uint64_t HashOfSizes() const;

 private:
  // In the order of the names; -1: there is no such file, kNotAsked: one of a far store.
  using Sizes = std::vector<int64_t>;
  static constexpr int64_t kNotAsked = -2;

  NamedFiles(const FileSystem* files, Names names);
  std::string PathOf(uint64_t file) const override;
  std::string NameOf(uint64_t file) const override;
  ListedFile ListedAs(uint64_t file) const override { return {std::max<int64_t>(-1, (*sizes_)[file]), 0}; }
  bool Differs(uint64_t file, int64_t bytes) const override {
    return (*sizes_)[file] != kNotAsked && (*sizes_)[file] != bytes;
  }
  void NoteChange() const override;
  absl::StatusOr<Sizes> Measure() const;
  absl::StatusOr<int64_t> SizeOf(const std::string& path) const;
  // What the sizes depend on: the listing, and the folders of the files.
  std::vector<std::string> FilesOfSizes() const;

  const FileSystem* const files_;
  const Names names_;
  std::shared_ptr<const Sizes> sizes_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_IMAGES_NAMED_FILES_H_
