#include "capi/graph_file.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "core/error.h"
#include "core/tensor.h"
#include "io/files/file_system.h"
#include "io/formats/model/model_entries.h"

namespace headrace::capi {
namespace {

constexpr std::string_view kGraphKey = "headrace.graph";
constexpr std::string_view kCheckKey = "headrace.check";
// Of a file, to see whether it is a graph: more than its format, and the tag and length of its first node.
constexpr size_t kHead = 32;

// Takes a varint off the bytes; false: they end within it.
bool SkipVarint(std::string_view& bytes) {
  size_t length = 0;
  while (length < bytes.size() && (static_cast<uint8_t>(bytes[length]) & 0x80) != 0) ++length;
  if (length >= bytes.size()) return false;
  bytes.remove_prefix(length + 1);
  return true;
}

bool SkipTag(std::string_view& bytes, char tag) {
  if (bytes.empty() || bytes[0] != tag) return false;
  bytes.remove_prefix(1);
  return true;
}

// "": the model is a folder.
absl::StatusOr<std::string> ReadHead(const std::string& path) {
  const absl::StatusOr<FileStat> stat = LocalFileSystem()->Stat(path);
  if (!stat.ok()) {
    return KindOf(stat.status()) == ErrorKind::kNotFound ? MissingPathError(*LocalFileSystem(), path) : stat.status();
  }
  if (stat->type == EntryType::kFolder) return std::string();
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, LocalFileSystem()->Open(path));
  uint8_t head[kHead];
  HEADRACE_ASSIGN_OR_RETURN(const int64_t read, file->ReadAt(0, absl::MakeSpan(head)));
  return std::string(head, head + read);
}

absl::StatusOr<GraphFile> ReadSavedGraph(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor bytes, LocalFileSystem()->Read(path));
  return GraphFile{std::string(bytes.bytes_value()), std::nullopt};
}

absl::StatusOr<GraphFile> ReadAttachedGraph(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::string> entry,
                            ReadModelEntry(*LocalFileSystem(), path, kGraphKey));
  if (!entry) return NotFoundError("the model has no graph: attach one in Python, graph.attach(path)");
  GraphFile file;
  if (!absl::Base64Unescape(*entry, &file.graph)) return DataError("the model's entry ", kGraphKey, " is not base64");
  HEADRACE_ASSIGN_OR_RETURN(file.check, ReadModelEntry(*LocalFileSystem(), path, kCheckKey));
  return file;
}

absl::StatusOr<GraphFile> ReadEither(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string head, ReadHead(path));
  return BeginsAsGraph(head) ? ReadSavedGraph(path) : ReadAttachedGraph(path);
}

}  // namespace

bool BeginsAsGraph(std::string_view head) {
  // Tags of Graph.format, Graph.nodes and Node.op (ir/graph.proto).
  return SkipTag(head, '\x08') && SkipVarint(head) && SkipTag(head, '\x12') && SkipVarint(head) &&
         SkipTag(head, '\x0a');
}

absl::StatusOr<GraphFile> ReadGraphFile(const std::string& path) {
  absl::StatusOr<GraphFile> file = ReadEither(path);
  if (file.ok()) return file;
  absl::Status error = file.status();
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

}  // namespace headrace::capi
