#include "io/listings/kept_listings.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// The coarsest change times of known file systems.
constexpr int64_t kCoarseNs = 2'000'000'000;
// Checking more folders takes too long.
constexpr size_t kMostFolders = 20'000;

bool SameOptions(const ImageListingOptions& a, const ImageListingOptions& b) {
  return a.extensions == b.extensions && a.class_map == b.class_map && a.allow_empty == b.allow_empty;
}

}  // namespace

KeptListings::KeptListings(std::function<int64_t()> now_ns) : now_ns_(std::move(now_ns)) {}

KeptListings& KeptListings::OfProcess() {
  static auto* const kept = new KeptListings;
  return *kept;
}

int64_t KeptListings::SystemNow() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

bool KeptListings::Unchanged(const Kept& kept) {
  return std::all_of(kept.versions.begin(), kept.versions.end(), [&kept](const FolderVersion& version) {
    const absl::StatusOr<FileStat> now = kept.files->Stat(version.path);
    return now.ok() && now->changed_ns == version.changed_ns && now->identity == version.identity &&
           now->version == version.version;
  });
}

std::shared_ptr<const KeptListings::Kept> KeptListings::Find(const Kept& wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&wanted](const auto& kept) {
    return kept->files == wanted.files && kept->folder == wanted.folder && kept->saved == wanted.saved &&
           SameOptions(kept->options, wanted.options);
  });
  return found == kept_.end() ? nullptr : *found;
}

void KeptListings::Keep(Kept kept, int64_t began_ns) {
  const auto tells = [began_ns](const FolderVersion& version) {
    return !version.version.empty() || (version.changed_ns > 0 && version.changed_ns < began_ns - kCoarseNs);
  };
  const bool keep = !kept.versions.empty() && kept.versions.size() <= kMostFolders &&
                    std::all_of(kept.versions.begin(), kept.versions.end(), tells);
  const std::shared_ptr<const Kept> old = Find(kept);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(kept_, old);
  if (keep) kept_.push_front(std::make_shared<const Kept>(std::move(kept)));
  if (kept_.size() > kMost) kept_.pop_back();
}

void KeptListings::Forget(const ImageListing* listing) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(kept_, [listing](const auto& kept) { return kept->listing.get() == listing; });
}

absl::StatusOr<std::shared_ptr<const ImageListing>> KeptListings::Get(const FileSystem& files,
                                                                      const std::string& folder,
                                                                      const ImageListingOptions& options,
                                                                      const std::string* saved, bool writes) {
  Kept kept{files.kept_as(), folder, saved != nullptr ? *saved : "", options, {}, nullptr};
  if (const std::shared_ptr<const Kept> found = Find(kept); found != nullptr && Unchanged(*found)) {
    return found->listing;
  }
  const int64_t began_ns = now_ns_();
  // Stats the file before it is read, so that a later change is noticed.
  const absl::StatusOr<FileStat> file = saved != nullptr ? files.Stat(*saved) : NotFoundError("no file is named");
  const bool load = file.ok();
  HEADRACE_ASSIGN_OR_RETURN(ImageListing listing, load ? ImageListing::Load(files, *saved, folder, options)
                                                       : ImageListing::Make(files, folder, options));
  if (saved != nullptr && !load && writes) HEADRACE_RETURN_IF_ERROR(listing.Save(files, *saved));
  if (load) {
    kept.versions.push_back({*saved, file->changed_ns, file->identity, file->version});
  } else if (saved == nullptr) {
    kept.versions = listing.TakeFolders();
  }
  kept.listing = std::make_shared<const ImageListing>(std::move(listing));
  std::shared_ptr<const ImageListing> made = kept.listing;
  Keep(std::move(kept), began_ns);
  return made;
}

}  // namespace headrace
