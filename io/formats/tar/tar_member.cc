#include "io/formats/tar/tar_member.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "core/error.h"

namespace headrace {
namespace {

// Fields of a header (POSIX.1-1988, and GNU's tar.h).
struct TarFieldPlace {
  size_t begin;
  size_t bytes;
};
constexpr TarFieldPlace kTarName = {0, 100};
constexpr TarFieldPlace kTarSize = {124, 12};
constexpr TarFieldPlace kTarChecksum = {148, 8};
constexpr size_t kTarType = 156;
constexpr TarFieldPlace kTarMagic = {257, 8};
constexpr TarFieldPlace kTarPrefix = {345, 155};
constexpr std::string_view kUstarMagic = "ustar";
constexpr std::string_view kGnuMagic = "ustar  ";

// Of all extended headers of a member: names and attributes are far shorter.
constexpr size_t kMostTarExtensions = size_t{1} << 20;
// What may come before a member's data, and after it, without overflow.
constexpr int64_t kMostTarSize = std::numeric_limits<int64_t>::max() / 4;

int64_t PaddedToBlock(int64_t bytes) {
  constexpr auto kBlock = static_cast<int64_t>(kTarBlock);
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

std::string_view TarFieldOf(const uint8_t* head, TarFieldPlace place) {
  return {reinterpret_cast<const char*>(head) + place.begin, place.bytes};
}

// Up to the first NUL.
std::string_view TarTextOf(std::string_view field) { return field.substr(0, field.find('\0')); }

bool IsZeroBlock(const uint8_t* head) {
  return std::all_of(head, head + kTarBlock, [](uint8_t byte) { return byte == 0; });
}

// A number in base 256, whose first byte says so; nullopt: negative, or beyond 63 bits.
std::optional<int64_t> BinaryNumber(std::string_view field) {
  constexpr uint8_t kPositive = 0x80;
  if (static_cast<uint8_t>(field[0]) != kPositive) return std::nullopt;
  const std::string_view digits = field.substr(field.size() - sizeof(int64_t));
  const std::string_view above = field.substr(1, field.size() - 1 - sizeof(int64_t));
  if (above.find_first_not_of('\0') != std::string_view::npos) return std::nullopt;
  uint64_t number = 0;
  for (const char byte : digits) number = number << 8 | static_cast<uint8_t>(byte);
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(number);
}

// Octal digits between blanks, up to a NUL; none are 0. nullopt: something else.
std::optional<int64_t> OctalNumber(std::string_view field) {
  std::string_view text = TarTextOf(field);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
  const size_t digits = std::min(text.size(), text.find_first_not_of("01234567"));
  if (text.find_first_not_of(' ', digits) != std::string_view::npos) return std::nullopt;
  int64_t number = 0;
  for (const char digit : text.substr(0, digits)) number = number << 3 | (digit - '0');
  return number;
}

std::optional<int64_t> TarNumberOf(std::string_view field) {
  return static_cast<uint8_t>(field[0]) >= 0x80 ? BinaryNumber(field) : OctalNumber(field);
}

// The sum of the header's bytes, with its own field as blanks. Some old writers added signed bytes.
bool HasTarChecksum(const uint8_t* head) {
  const std::optional<int64_t> stated = OctalNumber(TarFieldOf(head, kTarChecksum));
  if (!stated.has_value()) return false;
  int64_t sum = 0, high = 0, own = 0, own_high = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    sum += head[i];
    high += head[i] >> 7;
  }
  for (size_t i = kTarChecksum.begin; i < kTarChecksum.begin + kTarChecksum.bytes; ++i) {
    own += head[i];
    own_high += head[i] >> 7;
  }
  sum += static_cast<int64_t>(kTarChecksum.bytes) * ' ' - own;
  return sum == *stated || sum - 256 * (high - own_high) == *stated;
}

bool IsTarExtension(char type) { return std::string_view("LKxXg").find(type) != std::string_view::npos; }

// Reads a member's headers, one after the other.
class TarHeaders {
 public:
  TarHeaders(absl::Span<const uint8_t> bytes, int64_t offset, TarMember& member, std::string& joined)
      : bytes_(bytes), offset_(offset), member_(member), joined_(joined) {}

  absl::StatusOr<TarStep> Read() {
    while (true) {
      if (bytes_.size() < at_ + kTarBlock) return TarStep{TarStep::Kind::kMore, at_ + kTarBlock};
      const uint8_t* const head = bytes_.data() + at_;
      if (at_ == 0 && IsZeroBlock(head)) return AtZeros();
      if (!HasTarChecksum(head)) return BadChecksum();
      const auto type = static_cast<char>(head[kTarType]);
      const std::optional<int64_t> size = TarNumberOf(TarFieldOf(head, kTarSize));
      if (!size.has_value() || *size > kMostTarSize) return DataError(Here(), " has a size that is no number of bytes");
      if (!IsTarExtension(type)) return Finish(head, type, *size);
      if (*size > static_cast<int64_t>(kMostTarExtensions - at_)) {
        return DataError(Here(), " is an extended one of ", *size, " bytes, and names are far shorter");
      }
      const size_t end = at_ + kTarBlock + static_cast<size_t>(PaddedToBlock(*size));
      if (bytes_.size() < end) return TarStep{TarStep::Kind::kMore, end};
      HEADRACE_RETURN_IF_ERROR(TakeExtension(type, head + kTarBlock, static_cast<size_t>(*size)));
      at_ = end;
      if (at_ >= kMostTarExtensions) return DataError(Here(), " comes after more extended headers than a member has");
    }
  }

 private:
  std::string Here() const { return Cat("the header at byte ", offset_ + static_cast<int64_t>(at_)); }

  absl::Status BadChecksum() const {
    return DataError(Here(), " is damaged: its bytes do not have its checksum",
                     offset_ == 0 && at_ == 0 ? "; is this a tar archive?" : "");
  }

  absl::StatusOr<TarStep> AtZeros() const {
    if (bytes_.size() < 2 * kTarBlock) return TarStep{TarStep::Kind::kMore, 2 * kTarBlock};
    if (IsZeroBlock(bytes_.data() + kTarBlock)) return TarStep{TarStep::Kind::kEnd, 0};
    return DataError("the block at byte ", offset_,
                     " is zeros, and the next one is not: an archive ends with two; was it "
                     "overwritten?");
  }

  absl::Status TakeExtension(char type, const uint8_t* data, size_t size) {
    const std::string_view content(reinterpret_cast<const char*>(data), size);
    if (type == 'K') return absl::OkStatus();
    if (type != 'L') return TakeRecords(content, type == 'g');
    long_name_ = TarTextOf(content);
    return absl::OkStatus();
  }

  // Records "27 path=folder/name.jpg\n" of PAX, whose numbers are their own lengths. `global`: they are for all members
  // that follow.
  absl::Status TakeRecords(std::string_view content, bool global) {
    while (!content.empty() && content[0] != '\0') {
      size_t length = 0;
      const auto [digits, wrong] = std::from_chars(content.data(), content.data() + content.size(), length);
      const auto begin = static_cast<size_t>(digits - content.data()) + 1;
      const std::string_view record = content.substr(0, length);
      const size_t equals = record.find('=');
      if (wrong != std::errc() || length > content.size() || begin >= length || record[begin - 1] != ' ' ||
          record.back() != '\n' || equals == std::string_view::npos || equals < begin) {
        return DataError(Here(), " is an extended one whose records are damaged");
      }
      content.remove_prefix(length);
      HEADRACE_RETURN_IF_ERROR(
          TakeRecord(record.substr(begin, equals - begin), record.substr(equals + 1, length - equals - 2), global));
    }
    return absl::OkStatus();
  }

  absl::Status TakeRecord(std::string_view key, std::string_view value, bool global) {
    constexpr std::string_view kSparse = "GNU.sparse.";
    const bool sparse = key.substr(0, kSparse.size()) == kSparse;
    if (key != "path" && key != "size" && !sparse) return absl::OkStatus();
    if (global) return DataError(Here(), " gives one ", key, " to all members after it; write the archive anew");
    if (sparse) {
      sparse_ = true;
    } else if (key == "path") {
      pax_path_ = value;
    } else {
      int64_t size = 0;
      const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (wrong != std::errc() || end != value.data() + value.size() || size < 0 || size > kMostTarSize) {
        return DataError(Here(), " has a size that is no number of bytes");
      }
      pax_size_ = size;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TarStep> Finish(const uint8_t* head, char type, int64_t size) {
    if (sparse_ || type == 'S') {
      return DataError(Here(),
                       " is that of a sparse file, whose holes the archive leaves out; write the archive anew "
                       "without --sparse");
    }
    member_.path = PathOf(head);
    const bool folder = type == '5' || (type == '\0' && !member_.path.empty() && member_.path.back() == '/');
    member_.regular = !folder && (type == '0' || type == '\0' || type == '7');
    // Links, folders and devices have none, whatever their size says; what other types are is not known.
    const bool has_data = !folder && std::string_view("12346").find(type) == std::string_view::npos;
    member_.size = has_data ? pax_size_.value_or(size) : 0;
    member_.data = static_cast<int64_t>(at_ + kTarBlock);
    member_.end = member_.data + PaddedToBlock(member_.size);
    return TarStep{TarStep::Kind::kMember, 0};
  }

  std::string_view PathOf(const uint8_t* head) const {
    if (pax_path_.has_value() && !pax_path_->empty()) return *pax_path_;
    if (long_name_.has_value()) return *long_name_;
    const std::string_view name = TarTextOf(TarFieldOf(head, kTarName));
    // GNU has times where ustar has the beginning of a long name.
    const std::string_view magic = TarFieldOf(head, kTarMagic);
    const bool has_prefix =
        magic.substr(0, kUstarMagic.size()) == kUstarMagic && magic.substr(0, kGnuMagic.size()) != kGnuMagic;
    const std::string_view prefix = has_prefix ? TarTextOf(TarFieldOf(head, kTarPrefix)) : "";
    if (prefix.empty()) return name;
    joined_.assign(prefix).append("/").append(name);
    return joined_;
  }

  const absl::Span<const uint8_t> bytes_;
  const int64_t offset_;
  TarMember& member_;
  std::string& joined_;
  size_t at_ = 0;  // the header that is read
  std::optional<std::string_view> long_name_;
  std::optional<std::string_view> pax_path_;
  std::optional<int64_t> pax_size_;
  bool sparse_ = false;
};

}  // namespace

absl::StatusOr<TarStep> ParseTarMember(absl::Span<const uint8_t> bytes, int64_t offset, TarMember& member,
                                       std::string& joined) {
  return TarHeaders(bytes, offset, member, joined).Read();
}

absl::Status TarEndsWithin(int64_t begin, int64_t size) {
  return DataError(
      "the archive ends at byte ", size, ", within the member that begins at byte ", begin,
      size < static_cast<int64_t>(kTarBlock) ? ": is it a tar archive?" : ": it was cut off; copy or write it again");
}

absl::Status TarCutOff(absl::Span<const uint8_t> rest, int64_t begin, int64_t size) {
  if (size == 0) return DataError("the file is empty, and a tar archive is not: copy or write it again");
  const bool zeros = std::all_of(rest.begin(), rest.end(), [](uint8_t byte) { return byte == 0; });
  if (!zeros) return TarEndsWithin(begin, size);
  return DataError("the archive ends at byte ", size,
                   " without the two blocks of zeros that end one: it was cut off, or ",
                   "its writer was not closed; copy or write it again");
}

absl::Status TarGoesOn(int64_t offset) {
  return DataError("byte ", offset,
                   " is not zero, after the blocks of zeros that end the archive: were several archives "
                   "joined? Join them by tar --concatenate, or keep them apart");
}

}  // namespace headrace
