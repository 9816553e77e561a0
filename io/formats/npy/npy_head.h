// `ParseNpyHead` reads what comes first in an array as numpy.save writes it (.npy, versions 1.0 to 3.0): its type,
// which may be a record of several fields, its order and its shape. Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_NPY_NPY_HEAD_H_
#define HEADRACE_IO_FORMATS_NPY_NPY_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "io/formats/fixed/fixed_field.h"

namespace headrace {

struct NpyHead {
  bool record = false;                  // its elements are records
  std::vector<FixedField> fields = {};  // of an element: one without a name, if it is not a record
  int64_t element_bytes = 0;            // with what is between fields
  std::string descr = {};               // for messages, of an array without fields
  bool fortran = false;                 // the first axis is the one that changes fastest
  Shape shape = {};                     // of the array
};

// So many bytes say how long the head is.
inline constexpr size_t kNpyFirstBytes = 12;
inline constexpr size_t kMostNpyHeadBytes = size_t{1} << 20;

// The length of the head, by the first kNpyFirstBytes bytes, or as many as there are. kData: it is not an array.
absl::StatusOr<size_t> NpyHeadBytes(std::string_view first);
// Of a whole head. kData: damage, pickled objects, or a type that no column has.
absl::StatusOr<NpyHead> ParseNpyHead(std::string_view head);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_NPY_NPY_HEAD_H_
