#include "ops/source/column_source.h"

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

// Copies items that were read with many bytes between them, which views of them would keep in memory.
void SeparateItems(RecordBlock& items) {
  const Record& last = items.records.back();
  const size_t extent = last.begin + last.length - items.records[0].begin;
  // Line ends stay between lines (AllAreUtf8).
  size_t bytes = items.records.size();
  for (const Record& item : items.records) bytes += item.length;
  if (extent <= kMostKeptByRow * bytes) return;
  BufferRef copies = BufferPool::Current().Allocate(bytes + PendingRead::kSlack);
  if (!copies) return;
  uint8_t* target = copies->data();
  for (Record& item : items.records) {
    std::memcpy(target, items.bytes + item.begin, item.length);
    item.begin = static_cast<uint32_t>(target - copies->data());
    target += item.length;
    *target++ = '\n';
  }
  items.buffer = std::move(copies);
  items.bytes = items.buffer->data();
}

}  // namespace

absl::Status ColumnSource::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

absl::Status ColumnSource::ReadRows(const RowPositions& wanted, Block& block) const {
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
    absl::Status added = AddItems(wanted.epoch, positions.subspan(at, count), rest.subspan(0, count), *columns, block);
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

absl::Status ColumnSource::AddItems(uint64_t epoch, absl::Span<const uint64_t> positions, Contents contents,
                                    RecordColumns& columns, Block& block) const {
  RecordBlock items;
  items.path = reader_->Path(reader_->LocationOf(positions[0]).file);
  items.buffer = contents[0].buffer;
  items.bytes = items.buffer->data();
  const char* const begin = reinterpret_cast<const char*>(items.bytes);
  for (size_t i = 0; i < contents.size(); ++i) {
    const std::string_view bytes = contents[i].bytes;
    items.records.push_back({reader_->LocationOf(positions[i]).offset, static_cast<uint32_t>(bytes.data() - begin),
                             static_cast<uint32_t>(bytes.size())});
  }
  SeparateItems(items);
  absl::Status wrong;
  const size_t added = columns.Add(items, 0, 1, contents.size(), wrong);
  AppendMade(block.ids, added, [&](size_t i) { return RowId{epoch, positions[i], false, contents[i].changed}; });
  block.provenances.AppendRun(items.path, added, [&](size_t i) { return items.records[i].offset; });
  if (!wrong.ok()) {
    AddErrorField(wrong, ErrorField::kFile, DescribeProvenance({items.path, -1, items.records[added].offset}));
  }
  return wrong;
}

void ColumnSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  const RandomAccessReader::Location location = reader_->LocationOf(position);
  id = {epoch, position};
  provenance = {reader_->Path(location.file), location.record, location.offset};
}

std::unique_ptr<RecordColumns> ColumnSource::TakeColumns() const {
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

void ColumnSource::KeepColumns(std::unique_ptr<RecordColumns> columns) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(columns));
}

}  // namespace headrace
