// `ImageListing` is the listing of ImageFolder: a folder holds one folder per class, and all images below a class
// folder belong to that class. Row i of the source is image i of the listing. The order is fixed: classes by name, and
// within a class by path relative to the class folder, both in byte order.
// Threads: made by Make or Load, const afterwards; readable from any thread.
#ifndef HEADRACE_IO_LISTINGS_IMAGE_LISTING_H_
#define HEADRACE_IO_LISTINGS_IMAGE_LISTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

struct ImageListingOptions {
  std::vector<std::string> extensions = {".jpg", ".jpeg", ".png"};  // any case; the dot may be left out
  // From class folder to label; other folders are left out. Empty: every folder, labelled 0, 1, … by name.
  std::map<std::string, int32_t> class_map = {};
  bool allow_empty = false;  // a class folder without images is not an error
  int threads = 0;           // 0: chosen; more than there are cores, because most of the work is waiting for the disk
};

struct ImageClass {
  std::string name;
  int32_t label = 0;
  int64_t begin = 0;  // its images are [begin, end)
  int64_t end = 0;
};

// Shows whether entries of a folder were added, removed or renamed.
struct FolderVersion {
  std::string path;
  int64_t changed_ns = 0;    // from FileStat
  std::string identity;      // from FileStat
  std::string version = {};  // from FileStat, of a file that holds the listing
};

class ImageListing {
 public:
  // Walks the folder, or lists it at once where its store is far; symbolic links are followed, and one that leads back
  // to a folder above is an error. Pipes, sockets and devices are skipped, whatever their names.
  static absl::StatusOr<ImageListing> Make(const FileSystem& files, const std::string& folder,
                                           const ImageListingOptions& options);

  // A saved listing replaces the walk. Its paths are relative to the folder, so the folder may have moved. It is
  // trusted as it is: images added since are not seen. A listing made with other options is refused (kGraph), and so
  // is a damaged one (kData).
  absl::Status Save(const FileSystem& files, const std::string& path) const;
  static absl::StatusOr<ImageListing> Load(const FileSystem& files, const std::string& path, const std::string& folder,
                                           const ImageListingOptions& options);

  int64_t size() const { return paths_.size(); }
  const std::string& folder() const { return folder_; }
  const std::vector<ImageClass>& classes() const { return classes_; }
  const ImageClass& ClassOf(int64_t i) const;
  int32_t label(int64_t i) const { return ClassOf(i).label; }
  // "photos/cat/1.jpg", and "cat/1.jpg" without the folder.
  std::string Path(int64_t i) const { return JoinPath(folder_, RelativePath(i)); }
  std::string RelativePath(int64_t i) const;
  // The listed size, in bytes.
  int64_t file_size(int64_t i) const { return sizes_[static_cast<size_t>(i)]; }
  // The listed version (VersionHash); 0: not known.
  uint64_t file_version(int64_t i) const { return versions_.empty() ? 0 : versions_[static_cast<size_t>(i)]; }

  // Covers, in order: the extensions, each class's name, label and number of images, each image's path relative to
  // the folder, its size in bytes and its version, if it has one. It does not cover the folder's path, change times, or
  // the images' bytes: a copy on another machine's disk has the same fingerprint.
  uint64_t fingerprint() const { return fingerprint_; }

  // The versions of all folders that were walked, each taken before the folder was read; empty if the listing was
  // loaded.
  std::vector<FolderVersion> TakeFolders() { return std::move(folders_); }

 private:
  // Hashes the options that affect a listing.
  static uint64_t OptionsHash(const ImageListingOptions& options);

  std::string folder_;
  std::vector<ImageClass> classes_;
  PathArena paths_;  // relative to the class's folder
  std::vector<int64_t> sizes_;
  std::vector<uint64_t> versions_;  // empty: none is known
  uint64_t options_hash_ = 0;
  uint64_t fingerprint_ = 0;
  std::vector<FolderVersion> folders_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_LISTINGS_IMAGE_LISTING_H_
