// `IndexedLines` gives lines of files, or the elements of JSON arrays, as items, by a table of their offsets.
// Threads: as RandomAccessReader's.
#ifndef HEADRACE_IO_FORMATS_TEXT_INDEXED_LINES_H_
#define HEADRACE_IO_FORMATS_TEXT_INDEXED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/file_system.h"
#include "io/formats/item_table.h"
#include "io/formats/joined_reads.h"
#include "io/formats/random_access_reader.h"

namespace headrace {

// Of the format of which a table was made.
struct IndexedText {
  std::optional<char> quote = std::nullopt;
  bool json = false;  // a file may be an array (io/formats/text/json_format.h)
};

class IndexedLines : public RandomAccessReader {
 public:
  // `files` outlives it.
  IndexedLines(const FileSystem* files, std::shared_ptr<const ItemTable> table, IndexedText text = {});

  uint64_t size() const override { return table_->size(); }
  Location LocationOf(uint64_t item) const override;
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  // Contents have PendingRead::kSlack bytes after them. kData: no line or element begins, or ends, where one did when
  // the table was made.
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override;
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override;

 private:
  JoinedReads::Piece PieceOf(uint64_t item) const;
  absl::Status Cut(uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<const uint8_t> bytes,
                   Content& content) const;
  // The line, or the element, at byte `offset` of the file; nullopt: none is there. `text`: the bytes of the piece.
  std::optional<std::string_view> LineAt(std::string_view text, int64_t offset, const JoinedReads::Piece& piece) const;
  static std::optional<std::string_view> ElementAt(std::string_view text, int64_t offset,
                                                   const JoinedReads::Piece& piece);

  bool IsArray(uint64_t file) const;

  const std::shared_ptr<const ItemTable> table_;
  const IndexedText text_;
  const JoinedReads reads_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_INDEXED_LINES_H_
