#include "ops/source/parquet/read_footers.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/glob.h"
#include "io/files/plain_path.h"
#include "io/files/system_error.h"

namespace headrace {
namespace {

constexpr std::string_view kParquetEnding = ".parquet";

// Files beside those of rows, as Spark and Hive leave them: "_metadata", "_temporary/…", ".part.crc".
bool IsBesideParquet(std::string_view below) {
  for (size_t begin = 0; begin < below.size();) {
    if (below[begin] == '_' || below[begin] == '.') return true;
    begin = below.find('/', begin);
    begin = begin == std::string_view::npos ? below.size() : begin + 1;
  }
  return false;
}

// Appends the .parquet files below a folder, in byte order.
absl::Status AddFolder(const FileSystem& files, const std::string& folder, PathArena& paths) {
  const std::string below = JoinPath(EscapePattern(folder), "");
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, Glob(files, {Cat(below, "**/*", kParquetEnding)}));
  const size_t length = JoinPath(folder, "").size();
  for (int64_t i = 0; i < matched.size(); ++i) {
    if (!IsBesideParquet(matched[i].substr(std::min(length, matched[i].size())))) paths.Add(matched[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ParquetFile>> OpenParquet(const FileSystem& files, const ParquetLibrary& library,
                                                               const std::string& path, const ListedFile& listed) {
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located place, files.Locate(path));
  if (place.files->local() == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, place.files->Open(place.path, listed));
    return library.OpenFar(path, std::move(file));
  }
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files.Stat(path));
  if (stat.type != EntryType::kFile) return NotARegularFileError(path);
  return library.Open(place.path);
}

absl::StatusOr<PathArena> MatchParquet(const FileSystem& files, const std::vector<std::string>& texts) {
  PathArena paths;
  for (const std::string& text : texts) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
    const absl::StatusOr<FileStat> stat = StatNamed(files, text);
    if (stat.ok() && stat->type == EntryType::kFolder) {
      HEADRACE_RETURN_IF_ERROR(AddFolder(files, text, paths));
      continue;
    }
    HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, MatchInOrder(files, {text}, kParquetEnding));
    paths.Append(matched);
  }
  PathArena once;
  std::set<std::string, std::less<>> seen;
  for (int64_t i = 0; i < paths.size(); ++i) {
    if (seen.insert(PlainPath(paths[i])).second) once.Add(paths[i]);
  }
  if (once.empty()) return NotFoundError("no Parquet file (", kParquetEnding, ") is there");
  return once;
}

absl::StatusOr<ParquetTable> ReadFooters(const FileSystem& files, const ParquetLibrary& library,
                                         const MatchedFiles& matched) {
  ParquetTable table;
  for (int64_t i = 0; i < matched.paths.size(); ++i) {
    if (StopSignal::Raised()) return StopSignal::Error();
    const std::string path(matched.paths[i]);
    const auto at = static_cast<size_t>(i);
    const int64_t size = matched.sizes[at];
    const ListedFile listed = {size, at < matched.versions.size() ? matched.versions[at] : 0};
    const auto add = [&]() -> absl::Status {
      HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const ParquetFile> file,
                                OpenParquet(files, library, path, listed));
      return table.Add(path, size, file->group_rows(), listed.version);
    };
    absl::Status added = add();
    if (added.ok()) continue;
    AddErrorField(added, ErrorField::kFile, path);
    return added;
  }
  return table;
}

}  // namespace headrace
