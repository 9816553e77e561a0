// `ParseArrayFile` and `FormatArrayFile` read and write MXNet's files of named arrays, such as mean images (mean.bin):
// what mx.nd.save writes, of every version since 0.x.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_NDARRAY_ARRAY_FILE_H_
#define HEADRACE_IO_FORMATS_NDARRAY_ARRAY_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"

namespace headrace {

struct NamedArray {
  std::string name;  // empty if the file names none
  Tensor array;
};

// kData, naming `path` and the byte: not such a file, or one that is cut off. kUnsupported: sparse arrays.
absl::StatusOr<std::vector<NamedArray>> ParseArrayFile(std::string_view bytes, std::string_view path);

// As MXNet 1.9.1 writes (version V2; V3 for scalars). Names are written unless all are empty. kUnsupported: bytes and
// strings.
absl::StatusOr<std::string> FormatArrayFile(absl::Span<const NamedArray> arrays);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_NDARRAY_ARRAY_FILE_H_
