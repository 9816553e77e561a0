// `ListQuery` says which part of a bucket a request of ListObjectsV2 lists. Threads: plain data.
#ifndef HEADRACE_IO_FILES_S3_LIST_REQUEST_H_
#define HEADRACE_IO_FILES_S3_LIST_REQUEST_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/s3/list_page.h"
#include "io/files/s3/s3_listing.h"
#include "io/files/s3/s3_store.h"

namespace headrace::s3 {

struct ListQuery {
  std::string prefix = {};
  bool folders = false;          // names what lies in folders by these alone
  std::string start_after = {};  // a key, after which it begins
  std::string token = {};        // of the page before; empty: the first page
  int most = 0;                  // of a page; 0: what the store gives
};

S3Request ListRequest(const FolderPlace& place, const ListQuery& query);
// The page, or what was refused.
absl::StatusOr<ListPage> PageOf(const FolderPlace& place, absl::StatusOr<http::Reply> reply);
// As the request and the page, but waits.
absl::StatusOr<ListPage> ListOnePage(const FolderPlace& place, const ListQuery& query);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_LIST_REQUEST_H_
