#include "io/formats/model/onnx_file.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/varint.h"
#include "io/formats/model/entry_list.h"
#include "io/formats/model/file_window.h"
#include "io/formats/wire/wire_fields.h"

namespace headrace {
namespace {

// Fields of onnx.ModelProto.
constexpr uint32_t kIrVersion = 1;
constexpr uint32_t kModelVersion = 5;
constexpr uint32_t kGraph = 7;
constexpr uint32_t kOpsetImport = 8;
constexpr uint32_t kMetadataProps = 14;
// Fields of onnx.StringStringEntryProto.
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;

// From this version on every model says which operators it uses.
constexpr uint64_t kVersionWithOpsets = 3;
// Far above the version of today.
constexpr uint64_t kMostVersion = 1000;
// Of a tag and a length.
constexpr int64_t kMostHead = 20;
// A model has a field for each function and each set of operators.
constexpr int64_t kMostFields = int64_t{1} << 20;
// Protobuf's libraries read no message that is longer.
constexpr int64_t kMostMessage = INT32_MAX;

std::string_view NameOfField(uint32_t number) {
  switch (number) {
    case kIrVersion:
      return " (ir_version)";
    case 2:
      return " (producer_name)";
    case 3:
      return " (producer_version)";
    case 4:
      return " (domain)";
    case kModelVersion:
      return " (model_version)";
    case 6:
      return " (doc_string)";
    case kGraph:
      return " (graph)";
    case kOpsetImport:
      return " (opset_import)";
    case kMetadataProps:
      return " (metadata_props)";
    case 20:
      return " (training_info)";
    case 25:
      return " (functions)";
    default:
      return "";
  }
}

// Goes over the fields of a message in a file.
class OnnxFields {
 public:
  // The message is between both places, of which `end` is at most the file's size. `left` is how many fields may follow
  // in all.
  OnnxFields(FileWindow& window, int64_t begin, int64_t end, int64_t& left)
      : window_(window), end_(end), left_(left), next_(begin) {}

  // Goes to the next field; false: there is none.
  absl::StatusOr<bool> Next() {
    begin_ = next_;
    if (begin_ == end_) return false;
    if (left_-- == 0) return DataError("it has more than ", kMostFields, " fields, at byte ", begin_);
    HEADRACE_ASSIGN_OR_RETURN(std::string_view head, window_.From(begin_, std::min(kMostHead, end_ - begin_)));
    head = head.substr(0, static_cast<size_t>(std::min(kMostHead, end_ - begin_)));
    const auto* const start = reinterpret_cast<const uint8_t*>(head.data());
    const uint8_t* const stop = start + head.size();
    uint64_t tag = 0;
    const uint8_t* at = ReadVarint(start, stop, tag);
    if (at == nullptr || tag < 8 || tag > 0xffffffff) return NotAField();
    number_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    uint64_t bytes = 0;
    varint_ = 0;
    if (type_ == WireType::kVarint) {
      at = ReadVarint(at, stop, varint_);
    } else if (type_ == WireType::kBytes) {
      at = ReadVarint(at, stop, bytes);
    } else if (type_ == WireType::kFixed64) {
      bytes = 8;
    } else if (type_ == WireType::kFixed32) {
      bytes = 4;
    } else {
      return NotAField();
    }
    if (at == nullptr) return NotAField();
    content_ = begin_ + (at - start);
    if (bytes > static_cast<uint64_t>(end_ - content_)) {
      return DataError("the field ", number_, NameOfField(number_), " at byte ", begin_, " has ", bytes,
                       " bytes, of which ", end_ - content_, " are there: the file is cut off or damaged");
    }
    next_ = content_ + static_cast<int64_t>(bytes);
    return true;
  }

  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  uint64_t varint() const { return varint_; }
  // Of the whole field, and of what it holds.
  int64_t begin() const { return begin_; }
  int64_t content() const { return content_; }
  int64_t end() const { return next_; }

 private:
  absl::Status NotAField() const {
    return DataError("the bytes from ", begin_, " on are not a field of a message: the file is cut off or damaged");
  }

  FileWindow& window_;
  const int64_t end_;
  int64_t& left_;
  int64_t next_;
  int64_t begin_ = 0;
  int64_t content_ = 0;
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t varint_ = 0;
};

struct BytesInFile {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

// A metadata_props.
struct OnnxProperty {
  BytesInFile field;
  BytesInFile key;
  BytesInFile value;
};

// Whether ONNX's schema has the field with another type.
bool ContradictsOnnx(uint32_t number, WireType type) {
  switch (number) {
    case kIrVersion:
    case kModelVersion:
      return type != WireType::kVarint;
    case 2:
    case 3:
    case 4:
    case 6:
    case kGraph:
    case kOpsetImport:
    case kMetadataProps:
    case 20:
    case 25:
      return type != WireType::kBytes;
    default:
      return false;
  }
}

absl::StatusOr<OnnxProperty> ReadProperty(FileWindow& window, const OnnxFields& field, int64_t& left) {
  OnnxProperty property = {.field = {field.begin(), field.end()}, .key = {}, .value = {}};
  OnnxFields parts(window, field.content(), field.end(), left);
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(const bool more, parts.Next());
    if (!more) return property;
    if (parts.number() != kKey && parts.number() != kValue) continue;
    if (parts.type() != WireType::kBytes) {
      return DataError("the entry of metadata_props at byte ", field.begin(), " is damaged");
    }
    (parts.number() == kKey ? property.key : property.value) = {parts.content(), parts.end()};
  }
}

absl::Status CheckModel(uint64_t version, bool has_graph, bool has_opsets) {
  if (version == 0 || version > kMostVersion || !has_graph) {
    return DataError("it is not a whole ONNX model: it has no ",
                     has_graph ? "ir_version (field 1) that may be one" : "graph (field 7)");
  }
  if (version < kVersionWithOpsets || has_opsets) return absl::OkStatus();
  return DataError("it is not a whole ONNX model: it has no opset_import (field 8), and may be cut off");
}

absl::StatusOr<std::vector<OnnxProperty>> FindProperties(FileWindow& window, int64_t size) {
  std::vector<OnnxProperty> properties;
  int64_t left = kMostFields;
  OnnxFields fields(window, 0, size, left);
  uint64_t version = 0;
  bool has_graph = false;
  bool has_opsets = false;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(const bool more, fields.Next());
    if (!more) break;
    const uint32_t number = fields.number();
    if (ContradictsOnnx(number, fields.type())) {
      return DataError("the field ", number, NameOfField(number), " at byte ", fields.begin(),
                       " has another type than in ONNX");
    }
    if (number == kIrVersion) version = fields.varint();
    has_graph |= number == kGraph;
    has_opsets |= number == kOpsetImport;
    if (number != kMetadataProps) continue;
    HEADRACE_ASSIGN_OR_RETURN(OnnxProperty property, ReadProperty(window, fields, left));
    properties.push_back(property);
  }
  HEADRACE_RETURN_IF_ERROR(CheckModel(version, has_graph, has_opsets));
  return properties;
}

// Whether the property has the key; only one of the key's length is read.
absl::StatusOr<bool> HasKey(FileWindow& window, const OnnxProperty& property, std::string_view key) {
  if (property.key.size() != static_cast<int64_t>(key.size())) return false;
  HEADRACE_ASSIGN_OR_RETURN(const std::string found, window.Read(property.key.begin, property.key.size()));
  return found == key;
}

absl::StatusOr<bool> HasAnyKey(FileWindow& window, const OnnxProperty& property,
                               absl::Span<const ModelChange> changes) {
  for (const ModelChange& change : changes) {
    HEADRACE_ASSIGN_OR_RETURN(const bool has, HasKey(window, property, change.first));
    if (has) return true;
  }
  return false;
}

void PutText(std::string& message, uint32_t number, std::string_view text) {
  PutVarint(message, (number << 3) | static_cast<uint32_t>(WireType::kBytes));
  PutVarint(message, text.size());
  message.append(text);
}

std::string PropertyBytes(std::string_view key, std::string_view value) {
  std::string property;
  PutText(property, kKey, key);
  PutText(property, kValue, value);
  std::string field;
  PutText(field, kMetadataProps, property);
  return field;
}

}  // namespace

bool BeginsAsOnnx(std::string_view start) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(start.data());
  uint64_t version = 0;
  if (start.empty() || start[0] != kIrVersion << 3) return false;
  return ReadVarint(begin + 1, begin + start.size(), version) != nullptr && version > 0 && version <= kMostVersion;
}

absl::StatusOr<std::vector<ModelEntry>> ReadOnnxEntries(const RandomAccessFile& file, int64_t size, WantedKey key) {
  FileWindow window(file, size);
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<OnnxProperty> properties, FindProperties(window, size));
  EntryList entries;
  int64_t bytes = 0;
  for (const OnnxProperty& property : properties) {
    bool wanted = true;
    if (key.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(wanted, HasKey(window, property, *key));
    }
    if (!wanted) continue;
    bytes += property.key.size() + property.value.size();
    if (bytes > kMostEntryBytes) {
      return DataError("the entry of metadata_props at byte ", property.field.begin, " and those before have ", bytes,
                       " bytes, where ", kMostEntryBytes, " are read");
    }
    HEADRACE_ASSIGN_OR_RETURN(std::string name, window.Read(property.key.begin, property.key.size()));
    HEADRACE_ASSIGN_OR_RETURN(std::string value, window.Read(property.value.begin, property.value.size()));
    entries.Set(std::move(name), std::move(value));
  }
  return entries.Take();
}

absl::StatusOr<std::optional<FilePieces>> ChangeOnnxEntries(const RandomAccessFile& file, int64_t size,
                                                            absl::Span<const ModelChange> changes) {
  FileWindow window(file, size);
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<OnnxProperty> properties, FindProperties(window, size));
  FilePieces pieces;
  int64_t kept = 0;
  for (const OnnxProperty& property : properties) {
    HEADRACE_ASSIGN_OR_RETURN(const bool replaced, HasAnyKey(window, property, changes));
    if (!replaced) continue;
    pieces.Keep(kept, property.field.begin);
    kept = property.field.end;
  }
  pieces.Keep(kept, size);
  bool any = kept > 0;
  for (const auto& [key, value] : changes) {
    if (!value.has_value()) continue;
    pieces.Add(PropertyBytes(key, *value));
    any = true;
  }
  if (!any) return std::nullopt;
  if (size <= kMostMessage && pieces.size() > kMostMessage) {
    return UnsupportedError("with these entries it would have ", pieces.size(), " bytes, and libraries read at most ",
                            kMostMessage, " of an ONNX model; save its weights as external data first");
  }
  return pieces;
}

}  // namespace headrace
