#include "io/files/far_of.h"

#include <algorithm>

namespace headrace {

const FarFiles* FarOf(const FileSystem& files, const std::string& path) {
  const absl::StatusOr<FileSystem::Located> located = files.Locate(path);
  return located.ok() ? located->files->far() : nullptr;
}

int MostOutstanding(const FileSystem& files, const std::string& path) {
  const FarFiles* const far = FarOf(files, path);
  return far == nullptr ? 0 : std::max(1, far->most_outstanding());
}

}  // namespace headrace
