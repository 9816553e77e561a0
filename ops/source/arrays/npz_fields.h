// `FindNpzFieldTexts` finds the fields of an .npz archive, of which nothing but the headers of its arrays is read.
// Threads: a pure function; the file is read on the calling thread.
#ifndef HEADRACE_OPS_SOURCE_ARRAYS_NPZ_FIELDS_H_
#define HEADRACE_OPS_SOURCE_ARRAYS_NPZ_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"

namespace headrace {

// The texts of a hidden attribute `fields`: "image uint8 (8, 8)". Of the chosen columns, or of all without `columns`.
// kGraph, naming the column and one that is near: no array is for it.
absl::StatusOr<std::vector<std::string>> FindNpzFieldTexts(const FileSystem& files, const std::string& path,
                                                           const std::vector<std::string>* columns);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARRAYS_NPZ_FIELDS_H_
