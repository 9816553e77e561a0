#include "io/formats/text/indexed_lines.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/formats/text/json_array.h"
#include "io/formats/text/line_format.h"

namespace headrace {
namespace {

// Bytes between two lines that are read along: a read costs more than many short lines of other ranks.
constexpr int64_t kMostBetween = 512;

}  // namespace

IndexedLines::IndexedLines(const FileSystem* files, std::shared_ptr<const ItemTable> table, IndexedText text)
    : table_(std::move(table)), text_(text), reads_(files, table_->files(), kMostBetween) {}

RandomAccessReader::Location IndexedLines::LocationOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, -1, table_->Begin(item, file)};
}

// With the byte in front of the line, which shows whether a line begins there.
JoinedReads::Piece IndexedLines::PieceOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, std::max<int64_t>(0, table_->Begin(item, file) - 1), table_->End(item, file)};
}

void IndexedLines::Start(absl::Span<const uint64_t> items) const {
  reads_.Start(items, [this](uint64_t item) { return PieceOf(item); });
}

size_t IndexedLines::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  const auto piece_of = [this](uint64_t item) { return PieceOf(item); };
  const auto cut = [this](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                          Content& content) { return Cut(item, opened, bytes, content); };
  return reads_.Read(*this, items, contents, piece_of, cut, wrong);
}

// The first line begins with its file, and the first element after the bracket of the array.
bool IndexedLines::IsArray(uint64_t file) const {
  return text_.json && table_->Begin(table_->files()[file].first, file) > 0;
}

std::optional<std::string_view> IndexedLines::LineAt(std::string_view text, int64_t offset,
                                                     const JoinedReads::Piece& piece) const {
  const bool begins = offset == 0 || text.substr(0, 1) == "\n";
  text.remove_prefix(std::min(text.size(), static_cast<size_t>(offset - piece.begin)));
  const bool ends =
      FindLineEnd(text, text_.quote) != std::string_view::npos || piece.end == table_->files()[piece.file].size;
  return begins && ends ? std::optional(LineOf(text, offset, text_.quote)) : std::nullopt;
}

std::optional<std::string_view> IndexedLines::ElementAt(std::string_view text, int64_t offset,
                                                        const JoinedReads::Piece& piece) {
  const bool begins = !text.empty() && std::string_view("[, \t\r\n").find(text[0]) != std::string_view::npos;
  text.remove_prefix(std::min(text.size(), static_cast<size_t>(offset - piece.begin)));
  const size_t length = JsonElementLength(text);
  return begins && length > 0 && length <= text.size() ? std::optional(text.substr(0, length)) : std::nullopt;
}

absl::Status IndexedLines::Cut(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                               Content& content) const {
  const JoinedReads::Piece piece = PieceOf(item);
  const int64_t offset = table_->Begin(item, piece.file);
  content.changed = opened.size != table_->files()[piece.file].size;
  const auto wanted = static_cast<size_t>(piece.end - piece.begin);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), wanted));
  const bool array = IsArray(piece.file);
  const std::optional<std::string_view> found = array ? ElementAt(text, offset, piece) : LineAt(text, offset, piece);
  if (!found.has_value() || bytes.size() < wanted) {
    return DataError("no ", array ? "element" : "line", " begins at byte ", offset, " and ends before byte ", piece.end,
                     ", where one was found before: the file was changed");
  }
  content.bytes = *found;
  return absl::OkStatus();
}

}  // namespace headrace
