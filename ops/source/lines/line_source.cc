#include "ops/source/lines/line_source.h"

#include <cstring>
#include <utility>

#include "core/error.h"
#include "io/formats/pending_read.h"
#include "ops/rows/separate_row.h"
#include "ops/source/read_one.h"

namespace headrace {
namespace {

// How many of the contents, from the first on, were read into its buffer.
size_t ReadTogether(absl::Span<const RandomAccessReader::Content> contents) {
  size_t count = 1;
  while (count < contents.size() && contents[count].buffer.get() == contents[0].buffer.get()) ++count;
  return count;
}

// Copies lines that were read with many bytes between them, which views of them would keep in memory.
void SeparateLines(RecordBlock& lines) {
  const Record& last = lines.records.back();
  const size_t extent = last.begin + last.length - lines.records[0].begin;
  // Line ends stay between them (AllAreUtf8).
  size_t bytes = lines.records.size();
  for (const Record& line : lines.records) bytes += line.length;
  if (extent <= kMostKeptByRow * bytes) return;
  BufferRef copies = BufferPool::Current().Allocate(bytes + PendingRead::kSlack);
  if (!copies) return;
  uint8_t* target = copies->data();
  for (Record& line : lines.records) {
    std::memcpy(target, lines.bytes + line.begin, line.length);
    line.begin = static_cast<uint32_t>(target - copies->data());
    target += line.length;
    *target++ = '\n';
  }
  lines.buffer = std::move(copies);
  lines.bytes = lines.buffer->data();
}

}  // namespace

absl::Status LineSource::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

absl::Status LineSource::ReadRows(const RowPositions& wanted, Block& block) const {
  const absl::Span<const uint64_t> positions = wanted.positions;
  absl::InlinedVector<RandomAccessReader::Content, 1> contents(positions.size());
  absl::Status wrong;
  const size_t read = reader_->Read(positions, absl::MakeSpan(contents), wrong);
  if (read == 0) return wrong;
  std::unique_ptr<RecordColumns> columns = TakeColumns();
  columns->Expect(read);
  for (size_t at = 0; at < read;) {
    const Contents rest = Contents(contents).subspan(at, read - at);
    const size_t count = ReadTogether(rest);
    absl::Status added = AddLines(wanted.epoch, positions.subspan(at, count), rest.subspan(0, count), *columns, block);
    if (!added.ok()) {
      wrong = std::move(added);
      break;
    }
    at += count;
  }
  if (block.rows() == 0) return wrong;
  const absl::Status taken = columns->Take(block);
  if (!taken.ok()) {
    block.columns.clear();
    block.DropRows();
    return taken;
  }
  KeepColumns(std::move(columns));
  return wrong;
}

absl::Status LineSource::AddLines(uint64_t epoch, absl::Span<const uint64_t> positions, Contents contents,
                                  RecordColumns& columns, Block& block) const {
  RecordBlock lines;
  lines.path = reader_->Path(reader_->LocationOf(positions[0]).file);
  lines.buffer = contents[0].buffer;
  lines.bytes = lines.buffer->data();
  const char* const begin = reinterpret_cast<const char*>(lines.bytes);
  for (size_t i = 0; i < contents.size(); ++i) {
    const std::string_view line = contents[i].bytes;
    lines.records.push_back({reader_->LocationOf(positions[i]).offset, static_cast<uint32_t>(line.data() - begin),
                             static_cast<uint32_t>(line.size())});
  }
  SeparateLines(lines);
  absl::Status wrong;
  const size_t added = columns.Add(lines, 0, 1, contents.size(), wrong);
  AppendMade(block.ids, added, [&](size_t i) { return RowId{epoch, positions[i], false, contents[i].changed}; });
  block.provenances.AppendRun(lines.path, added, [&](size_t i) { return lines.records[i].offset; });
  if (!wrong.ok()) {
    AddErrorField(wrong, ErrorField::kFile, DescribeProvenance({lines.path, -1, lines.records[added].offset}));
  }
  return wrong;
}

void LineSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  const RandomAccessReader::Location location = reader_->LocationOf(position);
  id = {epoch, position};
  provenance = {reader_->Path(location.file), location.record, location.offset};
}

std::unique_ptr<RecordColumns> LineSource::TakeColumns() const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<RecordColumns> columns = std::move(idle_.back());
      idle_.pop_back();
      return columns;
    }
  }
  return make_();
}

void LineSource::KeepColumns(std::unique_ptr<RecordColumns> columns) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(columns));
}

}  // namespace headrace
