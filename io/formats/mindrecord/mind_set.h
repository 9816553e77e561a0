// `MindSet` is a set of MindRecord files that belong together: their headers agree, so that each row of the set is read
// in the same way. `NamesOfMindSet` finds the files of a set by any one of them.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_MIND_SET_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_MIND_SET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/mindrecord/mind_file.h"

namespace headrace {

// How the files were named: as a set, by one of them, or one by one.
enum class MindNaming { kSet, kList };

// The paths of the set that the file at `path` is of, in the order of the set: its header names them. A file of another
// name than the header says stands for the one that it was.
absl::StatusOr<std::vector<std::string>> NamesOfMindSet(const FileSystem& files, const std::string& path);

// The headers of these files, at least one. kData: two of them differ in what must be the same, in fields and version,
// or, under kSet, also in the sizes of pages or in what is indexed; the error names both.
absl::StatusOr<std::vector<MindFile>> ReadMindSet(const FileSystem& files, const std::vector<std::string>& paths,
                                                  MindNaming naming);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_MIND_SET_H_
