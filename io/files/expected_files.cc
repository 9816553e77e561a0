#include "io/files/expected_files.h"

#include <map>
#include <string_view>
#include <utility>

#include "io/files/far_files.h"
#include "io/files/far_glob.h"
#include "io/files/glob.h"

namespace headrace {
namespace {

class Expected {
 public:
  explicit Expected(const FileSystem& files) : files_(files) {}

  void Add(std::string_view path) {
    if (RootOf(path).find("://") == std::string_view::npos || !TakesPatterns(path) || HasWildcards(path)) return;
    absl::StatusOr<FileSystem::Located> located = files_.Locate(std::string(path));
    if (!located.ok() || located->files->far() == nullptr) return;
    by_store_[located->files->far()].push_back(std::move(located->path));
  }

  void Tell() const {
    for (const auto& [store, paths] : by_store_) store->Expect(paths);
  }

 private:
  const FileSystem& files_;
  std::map<const FarFiles*, std::vector<std::string>> by_store_;
};

}  // namespace

void ExpectFiles(const FileSystem& files, const std::vector<std::string>& paths) {
  Expected expected(files);
  for (const std::string& path : paths) expected.Add(path);
  expected.Tell();
}

void ExpectFiles(const FileSystem& files, const PathArena& paths) {
  Expected expected(files);
  for (int64_t i = 0; i < paths.size(); ++i) expected.Add(paths[i]);
  expected.Tell();
}

}  // namespace headrace
