// `KeptListings` keeps the last listings of this process for the next iteration over the same folder: a walk over a
// million files takes seconds, checking its folders milliseconds. A kept listing is reused while each of its folders is
// the same and unchanged, so that added, removed and renamed files are seen. A listing read from a file is reused while
// that file is unchanged. Sizes are those at the time of the walk; a listing is dropped when a reader finds another
// size. Only the last few listings are kept, and none with too many folders to check, or with folders changed so
// shortly before the walk that their change times could not show another change.
// Threads: any thread; no lock is held during file operations.
#ifndef HEADRACE_IO_LISTINGS_KEPT_LISTINGS_H_
#define HEADRACE_IO_LISTINGS_KEPT_LISTINGS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "io/listings/image_listing.h"

namespace headrace {

class KeptListings {
 public:
  static constexpr size_t kMost = 4;

  // `now_ns`: since 1970, on the clock of file systems; replaceable in tests.
  explicit KeptListings(std::function<int64_t()> now_ns = SystemNow);
  static KeptListings& OfProcess();

  // As ImageListing::Make. With the path of a saved listing: as Load if the file exists, otherwise as Make and, if it
  // `writes`, Save.
  absl::StatusOr<std::shared_ptr<const ImageListing>> Get(const FileSystem& files, const std::string& folder,
                                                          const ImageListingOptions& options,
                                                          const std::string* saved = nullptr, bool writes = true);
  // Makes the next Get list again.
  void Forget(const ImageListing* listing);

 private:
  struct Kept {
    const FileSystem* files;
    std::string folder;
    std::string saved;  // empty: not saved
    ImageListingOptions options;
    std::vector<FolderVersion> versions;  // of the folders, or of the file
    std::shared_ptr<const ImageListing> listing;
  };

  static int64_t SystemNow();
  static bool Unchanged(const Kept& kept);
  std::shared_ptr<const Kept> Find(const Kept& wanted);
  void Keep(Kept kept, int64_t began_ns);

  const std::function<int64_t()> now_ns_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Kept>> kept_;  // the newest first
};

}  // namespace headrace

#endif  // HEADRACE_IO_LISTINGS_KEPT_LISTINGS_H_
