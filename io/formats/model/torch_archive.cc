#include "io/formats/model/torch_archive.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/buffer.h"
#include "core/error.h"
#include "io/formats/model/entry_list.h"
#include "io/formats/zip/zip_directory.h"

namespace headrace {
namespace {

constexpr std::string_view kExtra = "extra/";
// Members that every archive of torch has one of.
constexpr std::string_view kMarks[] = {"version", ".data/version", "archive_format"};

// The name within the folder that holds all of the archive; "": it is not in one.
std::string_view NameInFolder(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos || slash == 0 ? std::string_view() : name.substr(slash + 1);
}

bool IsMarkOfTorch(const ZipMember& member) {
  const std::string_view name = NameInFolder(member.name);
  return std::find(std::begin(kMarks), std::end(kMarks), name) != std::end(kMarks);
}

}  // namespace

bool BeginsAsZip(std::string_view start) { return start.starts_with("PK\3\4"); }

absl::StatusOr<std::optional<std::vector<ModelEntry>>> ReadTorchEntries(const RandomAccessFile& file, int64_t size,
                                                                        WantedKey key) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ZipMember> members, ReadZipDirectory(file, size));
  if (!std::any_of(members.begin(), members.end(), IsMarkOfTorch)) return std::nullopt;
  EntryList entries(key);
  int64_t bytes = 0;
  for (const ZipMember& member : members) {
    std::string_view name = NameInFolder(member.name);
    if (!name.starts_with(kExtra) || name == kExtra) continue;
    name.remove_prefix(kExtra.size());
    if (!entries.Wants(name)) continue;
    if (entries.Has(std::string(name)))
      return DataError("the archive has two entries ", ShownKey(name), " in folders extra");
    if (member.bytes > kMostEntryBytes - bytes) {
      return DataError("the member ", member.name, " has ", member.bytes, " bytes, at most ", kMostEntryBytes,
                       " are read of all entries");
    }
    bytes += member.bytes;
    HEADRACE_ASSIGN_OR_RETURN(const BufferRef held, ReadMember(file, size, member));
    entries.Set(std::string(name),
                std::string(reinterpret_cast<const char*>(held->data()), static_cast<size_t>(member.bytes)));
  }
  return std::optional(entries.Take());
}

}  // namespace headrace
