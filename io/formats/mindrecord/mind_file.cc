#include "io/formats/mindrecord/mind_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/file_bytes.h"

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths of rows are little-endian");

constexpr std::string_view kSqliteHead = "SQLite f";  // of an index, in place of a length
constexpr std::string_view kEncryptedTail = "ENCRYPT";

// Encrypted files have no header in the clear, so that their first bytes are a length by accident alone.
absl::StatusOr<bool> IsEncrypted(const RandomAccessFile& file, int64_t size) {
  const auto tail = static_cast<int64_t>(kEncryptedTail.size());
  if (size < tail) return false;
  HEADRACE_ASSIGN_OR_RETURN(const std::string end, ReadFileBytes(file, size - tail, tail));
  return end == kEncryptedTail;
}

absl::Status EncryptedError() {
  return UnsupportedError("the file is encrypted; decrypt it with MindSpore first (set_dec_mode)");
}

// Of a header of so many bytes.
absl::Status CheckHeaderLength(uint64_t length, int64_t size) {
  constexpr auto kMost = static_cast<uint64_t>(MindHeader::kMostBytes - kMindLengthBytes);
  if (length == 0) {
    return DataError(
        "the file was never committed: its writer ended before commit(), which writes where the rows are; "
        "write it anew");
  }
  if (length > kMost) {
    return DataError("this is not a MindRecord file: its first 8 bytes claim a header of ", length,
                     " bytes, and headers have at most ", kMost);
  }
  const int64_t end = kMindLengthBytes + static_cast<int64_t>(length);
  if (end <= size) return absl::OkStatus();
  return DataError("the file is cut off, or not a MindRecord file: its header reaches byte ", end, " of ", size);
}

absl::StatusOr<std::string> HeaderText(const RandomAccessFile& file, int64_t size) {
  if (size == 0) return DataError("the file is empty; a MindRecord file has a header");
  if (size < kMindLengthBytes) return DataError("the file has only ", size, " bytes; a MindRecord file has a header");
  HEADRACE_ASSIGN_OR_RETURN(const std::string head, ReadFileBytes(file, 0, kMindLengthBytes));
  if (head == kSqliteHead) {
    return DataError("this is the index of a MindRecord file, and not needed: name the file without .db");
  }
  uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof(length));
  HEADRACE_RETURN_IF_ERROR(CheckHeaderLength(length, size));
  return ReadFileBytes(file, kMindLengthBytes, static_cast<int64_t>(length));
}

absl::StatusOr<MindHeader> CheckedMindHeader(const RandomAccessFile& file, int64_t size) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string text, HeaderText(file, size));
  HEADRACE_ASSIGN_OR_RETURN(MindHeader header, ParseMindHeader(text));
  const auto end = kMindLengthBytes + static_cast<int64_t>(text.size());
  if (!header.page_bytes.empty() && end > header.header_size) {
    return DataError("the header reaches byte ", end, ", and header_size is ", header.header_size);
  }
  for (size_t page = 0; page < header.page_bytes.size(); ++page) {
    const int64_t page_end = header.PageBegin(static_cast<int64_t>(page)) + header.page_bytes[page];
    if (page_end > size) {
      return DataError("the file is cut off: page ", page, " reaches byte ", page_end, " of ", size,
                       "; copy it again, or write it anew");
    }
  }
  return header;
}

absl::StatusOr<MindHeader> MindHeaderOf(const RandomAccessFile& file, int64_t size) {
  absl::StatusOr<MindHeader> header = CheckedMindHeader(file, size);
  if (header.ok() || KindOf(header.status()) != ErrorKind::kData) return header;
  const absl::StatusOr<bool> encrypted = IsEncrypted(file, size);
  if (encrypted.ok() && *encrypted) return EncryptedError();
  return header;
}

absl::StatusOr<MindFile> ReadOpened(const FileSystem& files, const std::string& path) {
  MindFile read;
  read.path = path;
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(read.size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(read.header, MindHeaderOf(*file, read.size));
  return read;
}

// Reads the lengths in front of rows, which are asked for in order: those of short rows with what is between them.
class LengthReader {
 public:
  explicit LengthReader(const RandomAccessFile& file) : file_(file) {}

  // Of a row at `offset`, whose page ends at `end`. `usual`: bytes of a row, about.
  absl::StatusOr<uint64_t> At(int64_t offset, int64_t end, int64_t usual) {
    if (offset < begin_ || offset + kMindLengthBytes > begin_ + static_cast<int64_t>(read_)) {
      HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
      const int64_t wanted = usual > kMostReadAlong ? kMindLengthBytes : kLengthsBlock;
      bytes_.resize(static_cast<size_t>(std::min(wanted, end - offset)));
      HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file_.ReadAt(offset, absl::MakeSpan(bytes_)));
      begin_ = offset;
      read_ = static_cast<size_t>(got);
      if (got < kMindLengthBytes) return DataError("the file was cut off while it was read, at byte ", offset + got);
    }
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data() + (offset - begin_), sizeof(length));
    return length;
  }

 private:
  static constexpr int64_t kLengthsBlock = int64_t{256} << 10;
  static constexpr int64_t kMostReadAlong = int64_t{4} << 10;

  const RandomAccessFile& file_;
  std::vector<uint8_t> bytes_;
  int64_t begin_ = 0;  // of the bytes in the file
  size_t read_ = 0;
};

// Which of the two places of rows.
struct RowPlaces {
  std::string_view what;  // "scalars"
  uint64_t least_bytes;   // of a row, without its length
};

absl::Status AddRowSpans(LengthReader& lengths, const RowPlaces& places, const MindHeader& header,
                         const MindRowGroup& group, int64_t begin, int64_t end, ItemSpans& spans) {
  int64_t at = begin;
  for (int64_t row = 0; row < group.rows; ++row) {
    const int64_t left = end - at - kMindLengthBytes;
    std::optional<uint64_t> length;
    if (left >= 0) {
      HEADRACE_ASSIGN_OR_RETURN(length, lengths.At(at, end, (end - begin) / group.rows));
    }
    if (!length.has_value() || *length < places.least_bytes || *length > static_cast<uint64_t>(left)) {
      return DataError(
          "byte ", at, ": the ", places.what, " of row ", group.first + row,
          " are damaged: ", length.has_value() ? Cat("they claim ", *length, " bytes") : "they have no length",
          ", and ", std::max<int64_t>(0, left), " are left in page ", (begin - header.header_size) / header.page_size);
    }
    spans.begins.push_back(at);
    at += kMindLengthBytes + static_cast<int64_t>(*length);
    spans.ends.push_back(at);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MindFile> ReadMindFile(const FileSystem& files, const std::string& path) {
  absl::StatusOr<MindFile> read = ReadOpened(files, path);
  if (read.ok()) return read;
  absl::Status error = std::move(read).status();
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

absl::StatusOr<ItemIndex> WalkMindRows(const RandomAccessFile& file, const MindHeader& header) {
  // Scalars have a byte at least, an empty map. So a hole in a file is none, and rows cost memory no faster than bytes.
  constexpr RowPlaces kScalars = {"scalars", 1};
  constexpr RowPlaces kBlobs = {"blobs", 0};
  ItemIndex index;
  index.parts.resize(2);
  LengthReader raw(file);
  LengthReader blobs(file);
  for (const MindRowGroup& group : header.groups) {
    HEADRACE_RETURN_IF_ERROR(AddRowSpans(raw, kScalars, header, group, group.raw_begin, group.raw_end, index.parts[0]));
    HEADRACE_RETURN_IF_ERROR(
        AddRowSpans(blobs, kBlobs, header, group, group.blob_begin, group.blob_end, index.parts[1]));
  }
  return index;
}

}  // namespace headrace
