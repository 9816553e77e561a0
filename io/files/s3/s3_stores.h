// `S3Stores` gives the store of S3 for the settings and the environment as it is now: whoever sets AWS_PROFILE or keys
// after the first use is heard. Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_S3_STORES_H_
#define HEADRACE_IO_FILES_S3_S3_STORES_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/s3/s3_store.h"

namespace headrace::s3 {

class S3Stores {
 public:
  explicit S3Stores(StoreOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::shared_ptr<S3Store>> Now() const;
  // The store of the last Now, without a look at the environment, which other threads may be changing: for the many
  // reads of files that were listed.
  absl::StatusOr<std::shared_ptr<S3Store>> Last() const;
  // Of all stores.
  StoreCounters counters() const;
  bool are_aws() const;

 private:
  const StoreOptions options_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<S3Store>> by_environment_;
  mutable std::shared_ptr<S3Store> last_;
  mutable StoreCounters past_;  // of stores that were let go
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_STORES_H_
