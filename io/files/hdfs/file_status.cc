#include "io/files/hdfs/file_status.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace headrace::hdfs {
namespace {

using StatusJson = nlohmann::json;

// {"DirectoryListing": {"partialListing": {"FileStatuses": {"FileStatus": [{…}]}}}}, and the lists of an entry.
constexpr int kMostStatusDepth = 8;

int64_t NumberIn(const StatusJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return -1;
  const auto number = found->get<uint64_t>();
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return number <= kMost ? static_cast<int64_t>(number) : -1;
}

EntryType TypeNamed(std::string_view name) {
  if (name == "FILE") return EntryType::kFile;
  return name == "DIRECTORY" ? EntryType::kFolder : EntryType::kOther;
}

bool IsStatus(const StatusJson& object) {
  const auto type = object.find("type");
  const auto name = object.find("pathSuffix");
  return type != object.end() && type->is_string() && name != object.end() && name->is_string();
}

// Takes entries one by one, as the parser finds them.
class StatusCollector {
 public:
  explicit StatusCollector(HdfsListing& listing) : listing_(listing) {}

  bool wrong() const { return wrong_; }

  // Returns whether the parser keeps the value.
  bool See(int depth, StatusJson::parse_event_t event, const StatusJson& parsed) {
    using Event = StatusJson::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth > kMostStatusDepth) return false;
    if (event == Event::key && parsed.is_string())
      is_remaining_ = parsed.get_ref<const std::string&>() == "remainingEntries";
    if (event == Event::value && std::exchange(is_remaining_, false)) {
      if (parsed.is_number_unsigned()) listing_.remaining = parsed.get<uint32_t>();
      return true;
    }
    if (event != Event::object_end || !IsStatus(parsed)) return true;
    Take(parsed);
    return false;
  }

 private:
  void Take(const StatusJson& object) {
    HdfsStatus status;
    status.name = object["pathSuffix"].get<std::string>();
    status.type = TypeNamed(object["type"].get_ref<const std::string&>());
    status.size = NumberIn(object, "length");
    status.modified_ms = std::max<int64_t>(0, NumberIn(object, "modificationTime"));
    status.file_id = std::max<int64_t>(0, NumberIn(object, "fileId"));
    status.block_size = std::max<int64_t>(0, NumberIn(object, "blockSize"));
    const bool good = status.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos &&
                      status.name != "." && status.name != ".." &&
                      (status.size >= 0 || status.type != EntryType::kFile);
    if (status.size < 0) status.size = 0;
    if (!good) wrong_ = true;
    listing_.entries.push_back(std::move(status));
  }

  HdfsListing& listing_;
  bool is_remaining_ = false;
  bool wrong_ = false;
};

absl::StatusOr<HdfsListing> ParseStatuses(std::string_view json, std::string_view member) {
  HdfsListing listing;
  StatusCollector collector(listing);
  const auto see = [&](int depth, StatusJson::parse_event_t event, const StatusJson& parsed) {
    return collector.See(depth, event, parsed);
  };
  const StatusJson left = StatusJson::parse(json, see, /*allow_exceptions=*/false);
  if (!left.is_object() || collector.wrong() || json.find(member) == std::string_view::npos) {
    return DataError("the server's reply is not what HDFS says of files");
  }
  return listing;
}

}  // namespace

std::string VersionOf(const HdfsStatus& status) {
  if (status.type != EntryType::kFile || status.modified_ms == 0) return "";
  return Cat(status.modified_ms, ".", status.file_id);
}

FileStat StatOf(const HdfsStatus& status) {
  constexpr int64_t kNsOfMs = 1'000'000;
  FileStat stat;
  stat.type = status.type;
  stat.size = status.size;
  stat.version = VersionOf(status);
  const bool fits = status.modified_ms <= std::numeric_limits<int64_t>::max() / kNsOfMs;
  stat.changed_ns = fits ? status.modified_ms * kNsOfMs : 0;
  return stat;
}

absl::StatusOr<HdfsStatus> ParseFileStatus(std::string_view json) {
  HEADRACE_ASSIGN_OR_RETURN(HdfsListing listing, ParseStatuses(json, "\"FileStatus\""));
  if (listing.entries.size() != 1) return DataError("the server's reply is not what HDFS says of a file");
  return std::move(listing.entries[0]);
}

absl::StatusOr<HdfsListing> ParseListing(std::string_view json) { return ParseStatuses(json, "\"FileStatus\""); }

}  // namespace headrace::hdfs
