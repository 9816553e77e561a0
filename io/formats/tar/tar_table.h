// `BuildTarTable` and `ReadTarTable` number the samples of archives, by their headers or by the indices of DALI's
// wds2idx.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_TAR_TAR_TABLE_H_
#define HEADRACE_IO_FORMATS_TAR_TAR_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"

namespace headrace {

// Takes the index that is kept beside each file, or walks over its headers and, if it `writes`, keeps one there
// (io/formats/item_index.h). An error names the file and the byte.
absl::StatusOr<ItemTable> BuildTarTable(const FileSystem& files, const std::vector<std::string>& paths, bool writes);

// `indices`: one of wds2idx for each of the paths. Looks whether a member follows those that it names. kData, naming
// the index and the line.
absl::StatusOr<ItemTable> ReadTarTable(const FileSystem& files, const std::vector<std::string>& paths,
                                       const std::vector<std::string>& indices);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TAR_TABLE_H_
