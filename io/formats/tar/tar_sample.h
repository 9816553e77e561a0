// `TarSample` gives the fields of a sample: of the run of members of one key that its bytes hold, with members between
// them that belong to no sample.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_TAR_TAR_SAMPLE_H_
#define HEADRACE_IO_FORMATS_TAR_TAR_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace {

class TarSample {
 public:
  struct Field {
    std::string_view name;  // in the case in which it is written
    std::string_view data;
  };

  // `bytes` begin at byte `offset` of the archive. Forgets the sample before.
  void Begin(std::string_view bytes, int64_t offset);
  // Sets the next field, which is valid until the next call; false: there is none. kData: the bytes are not whole
  // members of one key.
  absl::StatusOr<bool> Next(Field& field);
  // Of the fields so far.
  const std::string& key() const { return key_; }

 private:
  absl::Status NotASample() const;

  std::string_view bytes_;
  int64_t offset_ = 0;
  size_t at_ = 0;
  bool has_key_ = false;
  std::string key_;
  std::string joined_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TAR_SAMPLE_H_
