#include "io/formats/mds/mds_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/error.h"
#include "core/seeded_hash.h"

namespace headrace {
namespace {

using IndexJson = nlohmann::json;

constexpr int64_t kMostIndexBytes = int64_t{64} << 20;
// Offsets of samples have 32 bits.
constexpr int64_t kMostShardBytes = int64_t{1} << 32;
constexpr int kShardDepth = 2;  // of the objects in the list "shards"
constexpr int kMostDepth = 4;   // of the hashes of a file of a shard
constexpr int64_t kIndexVersion = 2;

// Null: there is none, or it is of another kind.
const IndexJson* Member(const IndexJson& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string TextMember(const IndexJson& object, const char* name) {
  const IndexJson* const found = Member(object, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

// -1: it is not a whole number from 0 to `most`.
int64_t WholeMember(const IndexJson& object, const char* name, int64_t most) {
  const IndexJson* const found = Member(object, name);
  if (found == nullptr || !found->is_number_unsigned()) return -1;
  const auto number = found->get<uint64_t>();
  return number <= static_cast<uint64_t>(most) ? static_cast<int64_t>(number) : -1;
}

// Takes the shards one by one, as the parser finds them, so that the text is not kept as a tree.
class ShardCollector {
 public:
  explicit ShardCollector(MdsIndex& index) : index_(index) {}

  const absl::Status& wrong() const { return wrong_; }
  bool has_version() const { return has_version_; }

  // Returns whether the parser keeps the value.
  bool See(int depth, IndexJson::parse_event_t event, const IndexJson& parsed) {
    using Event = IndexJson::parse_event_t;
    if (event == Event::key && depth == 1) {
      key_ = parsed.is_string() ? parsed.get<std::string>() : "";
      return true;
    }
    if (event == Event::value && depth == 1 && key_ == "version") {
      has_version_ = true;
      if (!parsed.is_number_unsigned() || parsed.get<uint64_t>() != kIndexVersion) {
        Fail(UnsupportedError("the index is of a version other than ", kIndexVersion));
      }
    }
    // What no reader needs is not kept, whatever its size.
    const bool begins = event == Event::array_start || event == Event::object_start;
    if (begins && ((depth == 1 && key_ != "shards") || depth > kMostDepth)) return false;
    if (event != Event::object_end || depth != kShardDepth || key_ != "shards") return true;
    if (wrong_.ok()) Fail(TakeShard(parsed));
    return false;
  }

 private:
  void Fail(absl::Status status) {
    if (wrong_.ok()) wrong_ = std::move(status);
  }

  absl::Status Damaged(std::string_view what) const {
    return DataError("the index is damaged: ", what, " of shard ", index_.shards.size(), " is missing or wrong");
  }

  absl::Status TakeShard(const IndexJson& object) {
    const std::string format = TextMember(object, "format");
    if (format != "mds") {
      if (format.empty()) return Damaged("\"format\"");
      return UnsupportedError("shard ", index_.shards.size(), " has the format ", format,
                              ", and MDS is read; its files are text: read them with hr.Text, Csv or JsonLines");
    }
    if (WholeMember(object, "version", kIndexVersion) != kIndexVersion) return Damaged("\"version\"");
    MdsShard shard;
    shard.samples = WholeMember(object, "samples", kMostShardBytes / 4);
    if (shard.samples < 0) return Damaged("\"samples\"");
    shard.packing = TextMember(object, "compression");
    HEADRACE_RETURN_IF_ERROR(TakeFile(object, "raw_data", shard.raw));
    HEADRACE_RETURN_IF_ERROR(TakeFile(object, "zip_data", shard.packed));
    if (shard.raw.name.empty()) return Damaged("\"raw_data\"");
    if (shard.packing.empty() != shard.packed.name.empty()) return Damaged("\"compression\"");
    HEADRACE_RETURN_IF_ERROR(TakeColumns(object));
    index_.shards.push_back(std::move(shard));
    return absl::OkStatus();
  }

  absl::Status TakeFile(const IndexJson& shard, const char* name, MdsFile& file) const {
    const IndexJson* const object = Member(shard, name);
    if (object == nullptr || object->is_null()) return absl::OkStatus();
    if (!object->is_object()) return Damaged(name);
    file.name = TextMember(*object, "basename");
    file.bytes = WholeMember(*object, "bytes", kMostShardBytes);
    if (file.name.empty() || file.bytes < 0) return Damaged(name);
    HEADRACE_RETURN_IF_ERROR(CheckName(file.name));
    const IndexJson* const hashes = Member(*object, "hashes");
    if (hashes == nullptr || !hashes->is_object()) return absl::OkStatus();
    for (const auto& [kind, hash] : hashes->items()) {
      if (hash.is_string()) file.hashes.emplace_back(kind, hash.get<std::string>());
    }
    return absl::OkStatus();
  }

  // A name that leaves the folder, in an index of others, would read any file of this machine.
  static absl::Status CheckName(std::string_view name) {
    bool good =
        name[0] != '/' && name.find('\0') == std::string_view::npos && name.find("://") == std::string_view::npos;
    for (std::string_view rest = name; good && !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      good = part != "..";
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    return good ? absl::OkStatus()
                : DataError("the index names the file \"", name, "\", which is not below its own folder");
  }

  absl::Status TakeColumns(const IndexJson& shard) {
    const IndexJson* const names = Member(shard, "column_names");
    const IndexJson* const encodings = Member(shard, "column_encodings");
    const IndexJson* const sizes = Member(shard, "column_sizes");
    for (const IndexJson* const list : {names, encodings, sizes}) {
      if (list == nullptr || !list->is_array() || list->size() != names->size()) return Damaged("a list of columns");
    }
    std::vector<MdsColumn> columns;
    std::unordered_set<std::string, SeededHash> seen;
    for (size_t i = 0; i < names->size(); ++i) {
      const IndexJson& bytes = (*sizes)[i];
      const bool sized = bytes.is_number_unsigned() && bytes.get<uint64_t>() <= static_cast<uint64_t>(kMostShardBytes);
      if (!(*names)[i].is_string() || !(*encodings)[i].is_string() || !(sized || bytes.is_null())) {
        return Damaged("a column");
      }
      columns.push_back({(*names)[i].get<std::string>(), (*encodings)[i].get<std::string>(),
                         sized ? static_cast<int64_t>(bytes.get<uint64_t>()) : MdsColumn::kVaries});
      if (!seen.insert(columns.back().name).second) return Damaged("a column, whose name comes twice,");
    }
    if (columns.empty()) return Damaged("a column");
    if (index_.shards.empty()) index_.columns = columns;
    if (columns == index_.columns) return absl::OkStatus();
    return DataError("shard ", index_.shards.size(),
                     " has other columns, encodings or sizes than the first one; write "
                     "it anew, or give it an index of its own");
  }

  MdsIndex& index_;
  std::string key_;  // of the outermost object
  absl::Status wrong_;
  bool has_version_ = false;
};

// Remembers where the text is not JSON, where nlohmann's own handler throws or says nothing.
class IndexHandler : public nlohmann::detail::json_sax_dom_callback_parser<IndexJson> {
 public:
  IndexHandler(IndexJson& result, const IndexJson::parser_callback_t& callback)
      : nlohmann::detail::json_sax_dom_callback_parser<IndexJson>(result, callback, false) {}

  template <typename Exception>
  bool parse_error(size_t position, const std::string& /*token*/, const Exception& /*error*/) {
    wrong_at_ = position == 0 ? 0 : position - 1;
    return false;
  }

  size_t wrong_at() const { return wrong_at_; }

 private:
  size_t wrong_at_ = 0;
};

absl::StatusOr<MdsIndex> ReadIndexFile(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files.Stat(path));
  if (stat.size > kMostIndexBytes) {
    return DataError("the index has ", stat.size, " bytes; at most ", kMostIndexBytes, " are read");
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor read, files.Read(path));
  return ParseMdsIndex({reinterpret_cast<const char*>(read.raw()), read.bytes()});
}

}  // namespace

absl::StatusOr<MdsIndex> ParseMdsIndex(std::string_view text) {
  MdsIndex index;
  ShardCollector collector(index);
  const IndexJson::parser_callback_t see = [&](int depth, IndexJson::parse_event_t event, IndexJson& parsed) {
    return collector.See(depth, event, parsed);
  };
  IndexJson rest;
  IndexHandler handler(rest, see);
  if (!IndexJson::sax_parse(text.begin(), text.end(), &handler)) {
    return DataError("the index is not JSON: what is wrong begins at its byte ", handler.wrong_at());
  }
  HEADRACE_RETURN_IF_ERROR(collector.wrong());
  if (!rest.is_object() || !collector.has_version()) {
    return DataError("it is not the index of MDS shards: it has no \"version\" and \"shards\"");
  }
  if (index.shards.empty()) return DataError("the index lists no shards");
  return index;
}

absl::StatusOr<MdsIndex> ReadMdsIndex(const FileSystem& files, const std::string& folder) {
  const std::string path = JoinPath(folder, kMdsIndexName);
  const absl::StatusOr<FileStat> stat = files.Stat(path);
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) return MissingPathError(files, path);
  absl::StatusOr<MdsIndex> index = ReadIndexFile(files, path);
  if (index.ok()) return index;
  absl::Status error = std::move(index).status();
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

absl::StatusOr<Compression> CompressionOfMds(std::string_view packing) {
  const std::string_view kind = packing.substr(0, packing.find(':'));
  if (kind == "zstd") return Compression::kZstd;
  if (kind == "gz") return Compression::kGzip;
  if (kind == "bz2") return Compression::kBzip2;
  return UnsupportedError("the shards are compressed by ", kind,
                          ", and zstd, gz and bz2 are read; unpack them, or write them with one of these");
}

}  // namespace headrace
