#include "io/formats/mindrecord/mind_set.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"

namespace headrace {
namespace {

// "a/b" to "a" and "b"; "/b" to "/" and "b"; "b" to "" and "b".
struct SplitName {
  std::string_view folder;
  std::string_view name;
};
SplitName SplitNameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", path};
  return {path.substr(0, std::max<size_t>(slash, 1)), path.substr(slash + 1)};
}

std::string Beside(std::string_view folder, const std::string& name) {
  return folder.empty() ? name : JoinPath(folder, name);
}

// kNotFound, naming both, if a file of the set is missing.
absl::Status CheckThere(const FileSystem& files, const std::string& path, const std::string& named_by) {
  const absl::StatusOr<FileStat> stat = files.Stat(path);
  if (stat.ok()) return absl::OkStatus();
  if (KindOf(stat.status()) != ErrorKind::kNotFound) return stat.status();
  absl::Status missing =
      NotFoundError(path, " is missing, a file of the same set as ", named_by,
                    ": copy it there, or name the files that are to be read in a list, which are then read alone");
  AddErrorField(missing, ErrorField::kFile, path);
  return missing;
}

// What two headers differ in that must be the same; empty: nothing.
std::string_view DifferenceOf(const MindHeader& a, const MindHeader& b, MindNaming naming) {
  if (a.packed != b.packed) return "version";
  if (a.fields != b.fields || a.blob_fields != b.blob_fields) return "schema";
  if (naming == MindNaming::kList) return "";
  if (a.header_size != b.header_size) return "header_size";
  if (a.page_size != b.page_size) return "page_size";
  return a.index_fields != b.index_fields ? "index_fields" : "";
}

absl::Status MixedError(const std::string& path, const std::string& first, std::string_view difference) {
  absl::Status error =
      DataError(path, " has another ", difference, " than ", first,
                ": the set is mixed from files that were not written together; write it anew, or read them apart");
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> NamesOfMindSet(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const MindFile file, ReadMindFile(files, path));
  std::vector<std::string> names = file.header.shard_addresses;
  if (names.size() < 2) return std::vector<std::string>{path};
  const auto [folder, own] = SplitNameOf(path);
  const bool renamed = std::find(names.begin(), names.end(), own) == names.end();
  const auto number = static_cast<size_t>(file.header.shard_id);
  std::vector<std::string> paths;
  for (size_t i = 0; i < names.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const bool is_own = names[i] == own || (renamed && i == number);
    paths.push_back(is_own ? path : Beside(folder, names[i]));
    if (!is_own) HEADRACE_RETURN_IF_ERROR(CheckThere(files, paths.back(), path));
  }
  return paths;
}

absl::StatusOr<std::vector<MindFile>> ReadMindSet(const FileSystem& files, const std::vector<std::string>& paths,
                                                  MindNaming naming) {
  std::vector<MindFile> set;
  for (const std::string& path : paths) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(MindFile file, ReadMindFile(files, path));
    if (!set.empty()) {
      const std::string_view difference = DifferenceOf(set[0].header, file.header, naming);
      if (!difference.empty()) return MixedError(path, set[0].path, difference);
    }
    set.push_back(std::move(file));
  }
  return set;
}

}  // namespace headrace
