// `StoreMakers` says which schemes have a far store, and how it is made. RegisterFileSystem replaces the current one by
// a copy with one more scheme, so that whoever holds one is not disturbed. `MadeStore` makes a store at its first use.
// Threads: immutable once made; the functions from any thread.
#ifndef HEADRACE_IO_FILES_STORE_MAKERS_H_
#define HEADRACE_IO_FILES_STORE_MAKERS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/files/file_system_registration.h"
#include "io/files/storage_settings.h"

namespace headrace {

struct StoreMakers {
  std::map<std::string, std::shared_ptr<const MakeFileSystem>, std::less<>> by_scheme;
  std::shared_ptr<const WrapFileSystem> object_cache;  // null: there is none
};

// Never null.
std::shared_ptr<const StoreMakers> CurrentStoreMakers();

// The store of a scheme that `makers` has. It is made once for equal settings of one maker, and again in a child that
// was forked, which lacks the threads of its parent's. An error is not kept: the next call tries again.
absl::StatusOr<const FileSystem*> MadeStore(const StoreMakers& makers, std::string_view scheme,
                                            const StorageSettings& settings);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_STORE_MAKERS_H_
