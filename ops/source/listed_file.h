// Reads a listed file with its current contents, whatever size was listed. A pure function.
#ifndef HEADRACE_OPS_SOURCE_LISTED_FILE_H_
#define HEADRACE_OPS_SOURCE_LISTED_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "io/files/file_system.h"

namespace headrace {

// All bytes of the file; sets `changed` if their number is not `listed`.
inline absl::StatusOr<Tensor> ReadListed(const FileSystem& files, const std::string& path, int64_t listed,
                                         bool& changed) {
  absl::StatusOr<Tensor> read = files.Read(path);
  changed |= read.ok() && static_cast<int64_t>(read->bytes_value().size()) != listed;
  return read;
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LISTED_FILE_H_
