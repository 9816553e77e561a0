// `KeptCredentials` holds the credentials of a place for all who sign with them, and has them found again before they
// expire, by one thread at a time, while the old ones are still given. Threads: any thread; none waits.
#ifndef HEADRACE_IO_FILES_S3_KEPT_CREDENTIALS_H_
#define HEADRACE_IO_FILES_S3_KEPT_CREDENTIALS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/s3/credential_chain.h"
#include "io/files/s3/credentials.h"

namespace headrace::s3 {

class KeptCredentials {
 public:
  using Find = std::function<absl::StatusOr<Credentials>()>;
  // Called once, perhaps on the thread that found them; must not block.
  using Done = std::function<void(const absl::StatusOr<Credentials>& credentials)>;

  // Seconds before they expire in which new ones are looked for.
  static constexpr int64_t kEarly = 300;

  // `find` may wait. `now`: seconds since 1970.
  KeptCredentials(Find find, std::function<int64_t()> now) : find_(std::move(find)), now_(std::move(now)) {}
  explicit KeptCredentials(Credentials lasting);
  // Waits for a search that goes on.
  ~KeptCredentials();

  void Get(Done done);
  // A store has refused these: they are looked for again by the next Get, unless others are kept by now.
  void Refuse(const Credentials& refused);

 private:
  void Search();
  // With the lock held.
  bool AreGood() const;
  bool AreOld() const;
  absl::Status StartSearch();

  const Find find_;  // null: they are lasting
  const std::function<int64_t()> now_;
  std::mutex mutex_;
  std::optional<Credentials> kept_;
  std::vector<Done> waiting_;
  bool searches_ = false;
  int64_t next_search_s_ = 0;  // after one that failed while the kept ones are good
  std::thread thread_;
};

// The credentials of this process for a place: one copy for equal places.
std::shared_ptr<KeptCredentials> SharedCredentials(const CredentialPlace& place);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_KEPT_CREDENTIALS_H_
