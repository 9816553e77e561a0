// `ListFolder` lists a folder of S3, and `ListTreeOf` all keys below one: where they are more than a page, the range of
// keys is cut where folders begin, and the cuts are listed at the same time. Pages come in the order of keys.
// Threads: any thread; FolderPages as theirs.
#ifndef HEADRACE_IO_FILES_S3_S3_LISTING_H_
#define HEADRACE_IO_FILES_S3_S3_LISTING_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/s3/list_page.h"
#include "io/files/s3/s3_path.h"
#include "io/files/s3/s3_store.h"

namespace headrace::s3 {

struct FolderPlace {
  std::shared_ptr<S3Store> store;
  std::string name;  // "s3://bucket/photos"
  S3Path at;
};

// kNotFound: nothing is there.
absl::StatusOr<std::unique_ptr<FolderPages>> ListFolder(const FolderPlace& place);
absl::StatusOr<std::unique_ptr<FolderPages>> ListTreeOf(const FolderPlace& place);

// Whether any key is below the folder; the bucket itself is one that exists.
absl::StatusOr<bool> IsFolder(const FolderPlace& place);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_LISTING_H_
