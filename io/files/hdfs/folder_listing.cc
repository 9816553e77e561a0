#include "io/files/hdfs/folder_listing.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/http/percent_text.h"

namespace headrace::hdfs {
namespace {

// Of a folder that is listed whole: some millions of files.
constexpr int64_t kMostListingBytes = int64_t{2} << 30;

bool ByName(const HdfsStatus& a, const HdfsStatus& b) { return a.name < b.name; }

}  // namespace

ListDialogue::ListDialogue(HdfsClient* client, std::string name, std::string path, std::string after)
    : NameNodeDialogue(client->cluster(),
                       {.name = std::move(name), .path = std::move(path), .most_body = kMostListingBytes}),
      client_(client),
      after_(std::move(after)) {}

http::Call ListDialogue::Next() {
  by_parts_ = client_->lists_by_parts();
  std::string& query = operation().query;
  query = by_parts_ ? "op=LISTSTATUS_BATCH" : "op=LISTSTATUS";
  if (by_parts_ && !after_.empty()) Append(query, "&startAfter=", http::PercentEncoded(after_));
  return NameNodeDialogue::Next();
}

ListDialogue::Step ListDialogue::Take(absl::StatusOr<http::Reply> reply) {
  const Step step = NameNodeDialogue::Take(std::move(reply));
  if (step != Step::kEnd || !by_parts_ || result().ok()) return step;
  // Servers that do not know an operation call it a bad argument, in words of their own.
  if (status() != 400 && status() != 501 && fault() != RemoteFault::kUnknownOp) return step;
  client_->set_lists_whole();
  return Step::kCall;
}

absl::StatusOr<HdfsListing> ListDialogue::TakeListing() {
  HEADRACE_RETURN_IF_ERROR(result().status());
  const std::string& name = operation().name;
  absl::StatusOr<HdfsListing> listing = ParseListing(result()->body);
  result()->body.clear();
  if (!listing.ok()) return Reworded(listing.status(), Cat(name, ": ", ToStd(listing.status().message())));
  std::vector<HdfsStatus>& entries = listing->entries;
  if (entries.size() == 1 && entries[0].name.empty() && entries[0].type != EntryType::kFolder) {
    return NotFoundError(name, " is a file, where a folder is expected");
  }
  // Some gateways begin at the first name again.
  std::erase_if(entries, [&](const HdfsStatus& entry) { return entry.name.empty() || entry.name <= after_; });
  if (entries.empty() && listing->remaining > 0) {
    return DataError(name, ": the server lists the same files again instead of those after \"", after_, "\"");
  }
  if (!std::is_sorted(entries.begin(), entries.end(), ByName)) std::sort(entries.begin(), entries.end(), ByName);
  return listing;
}

}  // namespace headrace::hdfs
