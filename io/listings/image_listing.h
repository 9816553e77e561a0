// The listing behind ImageFolder: a folder holds one folder a class, and all pictures beneath a class folder belong to
// that class. Row i of the source is picture i of the listing, so its order is fixed: classes by name, and within a
// class by path relative to the class folder, both in byte order.
// Thread contract: made by Make or Load, const afterwards; readable from any thread.
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
  // From class folder to label; folders not named are left out. Empty: every folder, labelled 0, 1, … by name.
  std::map<std::string, int32_t> class_map = {};
  bool allow_empty = false;  // a class folder without pictures is no error
  int threads = 0;           // 0: chosen; waiting for the disk is most of the work, so more than there are cores
};

struct ImageClass {
  std::string name;
  int32_t label = 0;
  int64_t begin = 0;  // its pictures are [begin, end)
  int64_t end = 0;
};

// What tells that entries of a folder were added, removed or renamed.
struct FolderStamp {
  std::string path;
  int64_t changed_ns = 0;  // as FileStat's
  std::string identity;    // as FileStat's
};

class ImageListing {
 public:
  // Walks the folder; symbolic links are followed, and one that leads back to a folder above is an error. Pipes,
  // sockets and devices are no pictures, whatever their names.
  static absl::StatusOr<ImageListing> Make(const FileSystem& files, const std::string& folder,
                                           const ImageListingOptions& options);

  // A saved listing spares the walk. It holds paths relative to the folder, so the folder may stand elsewhere now; it
  // is believed as it stands: pictures added since are not seen. One made with other options is refused (kGraph), as is
  // a damaged one (kData).
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
  // In bytes, as it was listed.
  int64_t file_size(int64_t i) const { return sizes_[static_cast<size_t>(i)]; }

  // Covers, in order: the extensions, each class's name, label and number of pictures, each picture's path relative to
  // the folder and its size in bytes. Not where the folder stands, times of change, or the pictures'
  // bytes: a copy elsewhere has the same fingerprint.
  uint64_t fingerprint() const { return fingerprint_; }

  // Of all folders that were walked, each as of before it was read; none where the listing was loaded.
  std::vector<FolderStamp> TakeFolders() { return std::move(folders_); }

 private:
  // Which options the listing was made with, as far as they change it.
  static uint64_t OptionsHash(const ImageListingOptions& options);

  std::string folder_;
  std::vector<ImageClass> classes_;
  PathArena paths_;  // relative to the class's folder
  std::vector<int64_t> sizes_;
  uint64_t options_hash_ = 0;
  uint64_t fingerprint_ = 0;
  std::vector<FolderStamp> folders_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_LISTINGS_IMAGE_LISTING_H_
