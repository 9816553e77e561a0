// `FindMindFiles` finds the files that the attribute `paths` of hr.MindRecord names: those of a set, by one of them, or
// those of a list, a pattern or a folder.
// Threads: a pure function; files are read on the calling thread.
#ifndef HEADRACE_OPS_SOURCE_MINDRECORD_MIND_PATHS_H_
#define HEADRACE_OPS_SOURCE_MINDRECORD_MIND_PATHS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/mindrecord/mind_set.h"

namespace headrace {

struct MindPaths {
  std::vector<std::string> paths = {};
  MindNaming naming = MindNaming::kList;
};

// `one`: the user gave one text, not a list: if a file has that name, the whole set is meant. Patterns and folders
// leave out what lies beside such files, their indices.
absl::StatusOr<MindPaths> FindMindFiles(const FileSystem& files, const std::vector<std::string>& texts, bool one);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MINDRECORD_MIND_PATHS_H_
