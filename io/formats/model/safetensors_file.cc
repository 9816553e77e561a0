#include "io/formats/model/safetensors_file.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/number_at.h"
#include "core/printable.h"
#include "io/files/file_bytes.h"
#include "io/formats/json/json_scanner.h"
#include "io/formats/model/entry_list.h"
#include "io/formats/model/held_bytes.h"

namespace headrace {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kOffsets = "data_offsets";
constexpr int64_t kLengthBytes = 8;
// As the library has it.
constexpr uint64_t kMostHeader = 100'000'000;
constexpr size_t kAlignment = 8;
constexpr size_t kScanBlock = size_t{64} << 10;

uint64_t HeaderLength(std::string_view start) { return NumberAt<uint64_t>(start, 0); }

std::string LengthBytes(uint64_t length) {
  std::string bytes;
  for (int64_t i = 0; i < kLengthBytes; ++i, length >>= 8) bytes.push_back(static_cast<char>(length));
  return bytes;
}

// A key and its value in the text of a header.
struct HeaderMember {
  size_t begin = 0;
  size_t value = 0;
  size_t end = 0;
};

struct HeaderEntry {
  std::string key;
  std::string value;
  HeaderMember place;
};

struct SafetensorsHeader {
  std::string text = {};
  size_t end = 0;    // of the object, before the padding
  size_t first = 0;  // where members begin
  bool has_members = false;
  std::optional<HeaderMember> metadata = {};
  std::optional<size_t> end_before = {};   // of the member before it
  std::optional<size_t> begin_after = {};  // of the member after it
  std::vector<HeaderEntry> entries = {};
  int64_t data_bytes = 0;
};

// Reads the header's JSON, with the places of what it reads.
class HeaderScan {
 public:
  explicit HeaderScan(SafetensorsHeader& header)
      : header_(header), json_(std::make_unique<HeldBytes>(header.text), kScanBlock, header.text.size()) {}

  absl::Status Run() {
    std::string key;
    json_.EnterObject();
    header_.first = Place();
    size_t end = header_.first;
    while (json_.NextKey(key)) {
      const HeaderMember member = BeginMember(end);
      TakeMember(key, member);
      end = Place();
      header_.has_members = true;
    }
    header_.end = Place();
    json_.AtEnd();
    return json_.status();
  }

 private:
  size_t Place() const { return static_cast<size_t>(json_.place()); }

  // The member whose key was read, after one that ended at `end`.
  HeaderMember BeginMember(size_t end) {
    json_.Peek();
    return {.begin = header_.text.find_first_not_of(" \t\r\n,", end), .value = Place(), .end = 0};
  }

  void TakeMember(std::string_view key, const HeaderMember& member) {
    const size_t before = last_end_;
    const bool first = !header_.has_members;
    if (key != kMetadata) {
      TakeTensor(key);
      if (header_.metadata.has_value() && !header_.begin_after.has_value()) header_.begin_after = member.begin;
    } else if (header_.metadata.has_value()) {
      json_.Fail("__metadata__ is there twice");
    } else {
      TakeEntries();
      header_.metadata = {.begin = member.begin, .value = member.value, .end = Place()};
      if (!first) header_.end_before = before;
    }
    last_end_ = Place();
  }

  void TakeEntries() {
    // The library takes null for nothing.
    if (json_.Peek() == JsonKind::kNull) {
      json_.Skip();
      return;
    }
    std::string key;
    json_.EnterObject();
    size_t end = Place();
    while (json_.NextKey(key)) {
      HeaderMember member = BeginMember(end);
      std::string value;
      if (json_.Peek() != JsonKind::kText)
        json_.Fail(Cat("the value of ", ShownKey(key), " in __metadata__ is not a text"));
      json_.ReadText(value);
      end = Place();
      member.end = end;
      header_.entries.push_back({std::move(key), std::move(value), member});
    }
  }

  void TakeTensor(std::string_view name) {
    std::string key;
    bool found = false;
    if (json_.Peek() != JsonKind::kObject) json_.Fail(Cat("the tensor ", ShownKey(name), " is not an object"));
    json_.EnterObject();
    while (json_.NextKey(key)) {
      if (key != kOffsets) {
        json_.Skip();
        continue;
      }
      found = true;
      TakeOffsets(name);
    }
    if (!found) json_.Fail(Cat("the tensor ", ShownKey(name), " has no data_offsets"));
  }

  void TakeOffsets(std::string_view name) {
    JsonNumber offsets[2];
    json_.EnterArray();
    for (JsonNumber& offset : offsets) {
      if (!json_.NextElement() || !json_.ReadNumber(offset)) break;
    }
    const bool ended = json_.ok() && !json_.NextElement();
    if (!ended || !offsets[0].is_whole || !offsets[1].is_whole || offsets[0].whole < 0 ||
        offsets[1].whole < offsets[0].whole) {
      json_.Fail(Cat("the data_offsets of the tensor ", ShownKey(name), " are not a begin and an end"));
      return;
    }
    header_.data_bytes = std::max(header_.data_bytes, offsets[1].whole);
  }

  SafetensorsHeader& header_;
  JsonScanner json_;
  size_t last_end_ = 0;
};

absl::StatusOr<SafetensorsHeader> ReadHeader(const RandomAccessFile& file, int64_t size) {
  if (size < kLengthBytes) {
    return DataError("it is cut off: a file of safetensors begins with a length of 8 bytes, and it has ", size);
  }
  HEADRACE_ASSIGN_OR_RETURN(const std::string start, ReadFileBytes(file, 0, kLengthBytes));
  const uint64_t length = HeaderLength(start);
  if (length > kMostHeader) {
    return DataError("it is not a file of safetensors: its header is said to have ", length, " bytes, at most ",
                     kMostHeader, " are read");
  }
  const int64_t data = kLengthBytes + static_cast<int64_t>(length);
  if (data > size) return DataError("it is cut off: its header ends at byte ", data, ", and the file at byte ", size);
  SafetensorsHeader header;
  HEADRACE_ASSIGN_OR_RETURN(header.text, ReadFileBytes(file, kLengthBytes, static_cast<int64_t>(length)));
  if (!header.text.starts_with('{')) return DataError("its header is damaged: it does not begin with {");
  if (const absl::Status read = HeaderScan(header).Run(); !read.ok()) {
    return Reworded(read, Cat("its header, from byte 8 on, is damaged: ", ToStd(read.message())));
  }
  if (header.data_bytes > size - data) {
    return DataError("it is cut off: its tensors have ", header.data_bytes, " bytes from byte ", data,
                     " on, and the file ends at byte ", size);
  }
  if (header.data_bytes < size - data) {
    return DataError("it is damaged: there are ", size - data - header.data_bytes,
                     " bytes after its tensors, from byte ", data + header.data_bytes, " on");
  }
  return header;
}

// The members that __metadata__ will have; nullopt: those that it has.
std::optional<std::string> ChangedMembers(const SafetensorsHeader& header, absl::Span<const ModelChange> changes) {
  std::string members;
  bool any = false;
  const auto add = [&](std::string_view member) {
    if (!members.empty()) members.push_back(',');
    members.append(member);
  };
  for (const HeaderEntry& entry : header.entries) {
    const HeaderMember& place = entry.place;
    if (HasKeyOf(changes, entry.key)) {
      any = true;
    } else {
      add(std::string_view(header.text).substr(place.begin, place.end - place.begin));
    }
  }
  for (const auto& [key, value] : changes) {
    if (!value.has_value()) continue;
    any = true;
    add(Cat(JsonText(key), ":", JsonText(*value)));
  }
  return any ? std::optional(std::move(members)) : std::nullopt;
}

// The header with these members of __metadata__, without its padding.
std::string HeaderWith(const SafetensorsHeader& header, std::string_view members) {
  const std::string_view text = std::string_view(header.text).substr(0, header.end);
  if (!header.metadata.has_value()) {
    return Cat(text.substr(0, header.first), "\"", kMetadata, "\":{", members, "}", header.has_members ? "," : "",
               text.substr(header.first));
  }
  const HeaderMember& place = *header.metadata;
  if (!members.empty()) return Cat(text.substr(0, place.value), "{", members, "}", text.substr(place.end));
  if (header.begin_after.has_value()) return Cat(text.substr(0, place.begin), text.substr(*header.begin_after));
  return Cat(text.substr(0, header.end_before.value_or(place.begin)), text.substr(place.end));
}

}  // namespace

bool BeginsAsSafetensors(std::string_view start) {
  return start.size() > kLengthBytes && start[kLengthBytes] == '{' && HeaderLength(start) <= kMostHeader;
}

absl::StatusOr<std::vector<ModelEntry>> ReadSafetensorsEntries(const RandomAccessFile& file, int64_t size,
                                                               WantedKey key) {
  HEADRACE_ASSIGN_OR_RETURN(SafetensorsHeader header, ReadHeader(file, size));
  EntryList entries(key);
  for (HeaderEntry& entry : header.entries) {
    if (entries.Wants(entry.key)) entries.Set(std::move(entry.key), std::move(entry.value));
  }
  return entries.Take();
}

absl::StatusOr<std::optional<FilePieces>> ChangeSafetensorsEntries(const RandomAccessFile& file, int64_t size,
                                                                   absl::Span<const ModelChange> changes) {
  HEADRACE_ASSIGN_OR_RETURN(const SafetensorsHeader header, ReadHeader(file, size));
  const std::optional<std::string> members = ChangedMembers(header, changes);
  if (!members.has_value()) return std::nullopt;
  std::string text = HeaderWith(header, *members);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > kMostHeader) {
    return UnsupportedError("with these entries its header would have ", text.size(), " bytes, at most ", kMostHeader,
                            " are possible");
  }
  FilePieces pieces;
  pieces.Add(Cat(LengthBytes(text.size()), text));
  pieces.Keep(kLengthBytes + static_cast<int64_t>(header.text.size()), size);
  return pieces;
}

}  // namespace headrace
