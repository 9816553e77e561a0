// The listings that this process made last, for the next iteration over the same folder: a walk over a million files
// takes seconds, a look at its folders milliseconds. A listing is given again while each of its folders is the same
// one and was not changed since, so that files added, removed or renamed are seen. One that was read from a file is
// given again while that file is unchanged. Sizes are those at the time of the walk: whoever finds a file that has
// another one has the listing forgotten.
// Bounded: the latest few are kept, and none whose folders are too many to look at, or were changed so short before
// the walk that their times could not tell of another change.
// Thread contract: any thread; no lock is held while files are looked at.
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

  // `now_ns`: since 1970, as file systems count; a test may replace it.
  explicit KeptListings(std::function<int64_t()> now_ns = SystemNow);
  static KeptListings& OfProcess();

  // As ImageListing::Make; or, with the path of a file that keeps the listing, as Load where it exists, and Make and
  // Save where it does not.
  absl::StatusOr<std::shared_ptr<const ImageListing>> Get(const FileSystem& files, const std::string& folder,
                                                          const ImageListingOptions& options,
                                                          const std::string* saved = nullptr);
  // Lets the next one be made anew.
  void Forget(const ImageListing* listing);

 private:
  struct Kept {
    const FileSystem* files;
    std::string folder;
    std::string saved;  // empty: none
    ImageListingOptions options;
    std::vector<FolderStamp> stamps;  // of the folders, or of the file
    std::shared_ptr<const ImageListing> listing;
  };

  static int64_t SystemNow();
  static bool Unchanged(const Kept& kept);
  std::shared_ptr<const Kept> Find(const Kept& wanted);
  void Keep(Kept kept, int64_t began_ns);

  const std::function<int64_t()> now_ns_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Kept>> kept_;  // the latest first
};

}  // namespace headrace

#endif  // HEADRACE_IO_LISTINGS_KEPT_LISTINGS_H_
