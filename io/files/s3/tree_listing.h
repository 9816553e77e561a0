// `MakeTreePages` lists the keys below a folder in their order, several ranges of keys at the same time. Threads: any
// thread; FolderPages as theirs.
#ifndef HEADRACE_IO_FILES_S3_TREE_LISTING_H_
#define HEADRACE_IO_FILES_S3_TREE_LISTING_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/s3/list_page.h"
#include "io/files/s3/s3_listing.h"

namespace headrace::s3 {

// `first`: the first page of all keys with the prefix. Looks for folders if there are more.
absl::StatusOr<std::unique_ptr<FolderPages>> MakeTreePages(const FolderPlace& place, const std::string& prefix,
                                                           ListPage first);

// The beginnings of folders below the prefix, after `after`, in order: at most some thousands, found by few requests.
absl::StatusOr<std::vector<std::string>> FindCuts(const FolderPlace& place, const std::string& prefix,
                                                  const std::string& after);

// The entry of an object; its name is what follows so many bytes of its key.
FolderEntry FileOf(ListedObject& object, size_t prefix_size);

// kData: a page names itself as the next one.
absl::Status RepeatedTokenError(std::string_view name);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_TREE_LISTING_H_
