// `ParseListPage` reads a reply of ListObjectsV2. Threads: pure function.
#ifndef HEADRACE_IO_FILES_S3_LIST_PAGE_H_
#define HEADRACE_IO_FILES_S3_LIST_PAGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace::s3 {

struct ListedObject {
  std::string key;
  int64_t size = 0;
  std::string version;  // VersionOfETag
};

struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes;  // of the folders, "photos/cat/"
  bool truncated = false;
  std::string next;  // the token of the next page
};

// kData: it is not such a reply, or a part is missing.
absl::StatusOr<ListPage> ParseListPage(std::string_view xml);

// The version that an ETag is: without its quotes, and empty where it is a weak one.
std::string VersionOfETag(std::string_view etag);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_LIST_PAGE_H_
