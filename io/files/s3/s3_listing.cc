#include "io/files/s3/s3_listing.h"

#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/plainly_missing.h"
#include "io/files/s3/list_request.h"
#include "io/files/s3/tree_listing.h"

namespace headrace::s3 {
namespace {

absl::Status NoFolderError(const FolderPlace& place) { return MissingError(place.name); }

FolderEntry FolderOf(std::string name) {
  FolderEntry entry;
  entry.name = std::move(name);
  entry.type = EntryType::kFolder;
  return entry;
}

bool IsEmptyPage(const ListPage& page) { return page.objects.empty() && page.prefixes.empty(); }

// The entries of one folder, page by page.
class S3FolderPages : public FolderPages {
 public:
  S3FolderPages(FolderPlace place, std::string prefix, ListPage first)
      : place_(std::move(place)), prefix_(std::move(prefix)), page_(std::move(first)) {}

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    while (true) {
      if (!page_.has_value()) {
        if (token_.empty()) return std::vector<FolderEntry>();
        HEADRACE_ASSIGN_OR_RETURN(page_, ListOnePage(place_, {.prefix = prefix_, .folders = true, .token = token_}));
      }
      if (page_->truncated && page_->next == token_) return RepeatedTokenError(place_.name);
      token_ = page_->truncated ? page_->next : std::string();
      std::vector<FolderEntry> entries = EntriesOf(*std::exchange(page_, std::nullopt));
      if (!entries.empty()) return entries;
    }
  }

 private:
  std::vector<FolderEntry> EntriesOf(ListPage page) const {
    std::vector<FolderEntry> entries;
    entries.reserve(page.objects.size() + page.prefixes.size());
    for (const std::string& prefix : page.prefixes) {
      if (!prefix.starts_with(prefix_) || !prefix.ends_with('/')) continue;
      std::string name = prefix.substr(prefix_.size(), prefix.size() - prefix_.size() - 1);
      if (!name.empty()) entries.push_back(FolderOf(std::move(name)));
    }
    for (ListedObject& object : page.objects) {
      // A key that ends with '/' stands for a folder.
      if (!object.key.starts_with(prefix_) || object.key.ends_with('/')) continue;
      entries.push_back(FileOf(object, prefix_.size()));
    }
    return entries;
  }

  const FolderPlace place_;
  const std::string prefix_;
  std::optional<ListPage> page_;
  std::string token_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FolderPages>> ListFolder(const FolderPlace& place) {
  const std::string prefix = place.at.Prefix();
  HEADRACE_ASSIGN_OR_RETURN(ListPage first, ListOnePage(place, {.prefix = prefix, .folders = true}));
  if (IsEmptyPage(first) && !first.truncated && !prefix.empty()) return NoFolderError(place);
  return std::make_unique<S3FolderPages>(place, prefix, std::move(first));
}

absl::StatusOr<std::unique_ptr<FolderPages>> ListTreeOf(const FolderPlace& place) {
  const std::string prefix = place.at.Prefix();
  HEADRACE_ASSIGN_OR_RETURN(ListPage first, ListOnePage(place, {.prefix = prefix}));
  if (first.objects.empty() && !first.truncated && !prefix.empty()) return NoFolderError(place);
  return MakeTreePages(place, prefix, std::move(first));
}

absl::StatusOr<bool> IsFolder(const FolderPlace& place) {
  const std::string prefix = place.at.Prefix();
  HEADRACE_ASSIGN_OR_RETURN(const ListPage page, ListOnePage(place, {.prefix = prefix, .most = 1}));
  return prefix.empty() || !page.objects.empty();
}

}  // namespace headrace::s3
