#include "io/formats/recordio/indexed_records.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "core/row_id.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

constexpr auto kHead = static_cast<int64_t>(RecordFrame::kHeadBytes);
// Reads of so many bytes or less are joined with those in front of them.
constexpr int64_t kMostJoined = int64_t{1} << 20;
// Bytes between two records that are read along. Few: a rank reads its own records.
constexpr int64_t kMostBetween = 64;
// What is read at first of a record whose length is not known.
constexpr int64_t kFirstRead = int64_t{64} << 10;
constexpr size_t kMostOpen = 64;

}  // namespace

IndexedRecords::IndexedRecords(const FileSystem* files, std::shared_ptr<const RecordTable> table)
    : files_(files), table_(std::move(table)), open_(table_->files().size()) {
  for (const RecordTable::File& file : table_->files())
    paths_.push_back(std::make_shared<const std::string>(file.path));
}

RandomAccessReader::Location IndexedRecords::LocationOf(uint64_t item) const {
  const uint64_t file = table_->FileOf(item);
  return {file, static_cast<int64_t>(item - table_->files()[file].first), table_->Begin(item, file)};
}

absl::StatusOr<IndexedRecords::OpenFile> IndexedRecords::Open(uint64_t file) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (open_[file].file != nullptr) return open_[file];
  }
  OpenFile opened;
  HEADRACE_ASSIGN_OR_RETURN(opened.file, files_->Open(*paths_[file]));
  HEADRACE_ASSIGN_OR_RETURN(opened.size, opened.file->Size());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_[file].file != nullptr) return open_[file];
  if (opened_files_.size() == kMostOpen) {
    open_[opened_files_.front()].file.reset();
    opened_files_.pop_front();
  }
  open_[file] = opened;
  opened_files_.push_back(file);
  return opened;
}

// A record counts only with the head of the next one behind it.
int64_t IndexedRecords::EndOf(uint64_t item, uint64_t file) const {
  const RecordTable::File& of = table_->files()[file];
  const int64_t end = table_->End(item, file);
  const int64_t most = table_->Begin(item, file) + kFirstRead;
  return std::min(of.size, (of.complete ? end : std::min(end, most)) + kHead);
}

IndexedRecords::Run IndexedRecords::RunFrom(absl::Span<const uint64_t> items) const {
  Run run;
  run.file = table_->FileOf(items[0]);
  run.begin = table_->Begin(items[0], run.file);
  run.end = EndOf(items[0], run.file);
  const uint64_t first = table_->files()[run.file].first;
  const uint64_t behind = run.file + 1 < table_->files().size() ? table_->files()[run.file + 1].first : size();
  for (run.items = 1; run.items < items.size(); ++run.items) {
    const uint64_t item = items[run.items];
    if (item < first || item >= behind || item <= items[run.items - 1]) break;
    const int64_t begin = table_->Begin(item, run.file);
    const int64_t end = std::max(run.end, EndOf(item, run.file));
    if (begin > run.end + kMostBetween || end - run.begin > kMostJoined) break;
    run.end = end;
  }
  return run;
}

absl::Status IndexedRecords::Start(Run& run) const {
  absl::StatusOr<OpenFile> opened = Open(run.file);
  // A fault of all rows of the file, not of one.
  if (!opened.ok()) return BeyondRow(std::move(opened).status());
  run.opened = *std::move(opened);
  HEADRACE_ASSIGN_OR_RETURN(
      run.read, PendingRead::Start(run.opened.file, run.begin, 0, static_cast<size_t>(run.end - run.begin)));
  return absl::OkStatus();
}

size_t IndexedRecords::Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const {
  absl::InlinedVector<Run, 1> runs;
  absl::InlinedVector<absl::Status, 1> started;
  for (size_t at = 0; at < items.size();) {
    runs.push_back(RunFrom(items.subspan(at)));
    started.push_back(Start(runs.back()));
    at += runs.back().items;
    if (!started.back().ok()) break;
  }
  size_t done = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    wrong = started[i];
    const size_t cut =
        wrong.ok() ? Cut(run, items.subspan(done, run.items), contents.subspan(done, run.items), wrong) : 0;
    done += cut;
    if (cut == run.items) continue;
    const Location location = LocationOf(items[done]);
    AddErrorField(wrong, ErrorField::kFile, DescribeProvenance({paths_[run.file], location.record, location.offset}));
    break;
  }
  return done;
}

size_t IndexedRecords::Cut(const Run& run, absl::Span<const uint64_t> items, absl::Span<Content> contents,
                           absl::Status& wrong) const {
  const absl::StatusOr<int64_t> got = run.read->Wait();
  wrong = got.status();
  if (!got.ok()) return 0;
  uint8_t* const data = run.read->buffer()->data();
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t at = std::min(table_->Begin(items[i], run.file) - run.begin, *got);
    contents[i].buffer = run.read->buffer();
    contents[i].changed = run.opened.size != table_->files()[run.file].size;
    wrong = CutOne(run, items[i], absl::MakeSpan(data + at, static_cast<size_t>(*got - at)), contents[i]);
    if (!wrong.ok()) return i;
  }
  return items.size();
}

absl::Status IndexedRecords::CutOne(const Run& run, uint64_t item, absl::Span<uint8_t> bytes, Content& content) const {
  const int64_t offset = table_->Begin(item, run.file);
  if (bytes.size() < RecordFrame::kHeadBytes || !IsRecordHead(bytes.data())) return NoHead(item, run.file);
  const bool last = offset + static_cast<int64_t>(bytes.size()) >= run.opened.size;
  HEADRACE_ASSIGN_OR_RETURN(const CutRecord cut, CutRecordAt(bytes, offset, last));
  if (!cut.whole) return ReadLong(run.opened, offset, bytes, cut.end, content);
  content.bytes = {reinterpret_cast<const char*>(bytes.data()) + cut.begin, cut.length};
  return absl::OkStatus();
}

// A record that ends elsewhere than the index said, if it said so at all. `bytes`: what is known of it; `reach`: how
// many it claims.
absl::Status IndexedRecords::ReadLong(const OpenFile& opened, int64_t offset, absl::Span<const uint8_t> bytes,
                                      size_t reach, Content& content) const {
  while (true) {
    HEADRACE_RETURN_IF_ERROR(CheckRecordReach(bytes, offset, *opened.file));
    HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<PendingRead> read,
                              PendingRead::Start(opened.file, offset, 0, reach));
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, read->Wait());
    content.buffer = read->buffer();
    const absl::Span<uint8_t> all = absl::MakeSpan(read->buffer()->data(), static_cast<size_t>(got));
    const bool last = offset + got >= opened.size;
    HEADRACE_ASSIGN_OR_RETURN(const CutRecord cut, CutRecordAt(all, offset, last));
    if (cut.whole) {
      content.bytes = {reinterpret_cast<const char*>(all.data()) + cut.begin, cut.length};
      return absl::OkStatus();
    }
    if (cut.end <= reach) return DataError("the record at byte ", offset, " was changed while it was read");
    bytes = all;
    reach = cut.end;
  }
}

absl::Status IndexedRecords::NoHead(uint64_t item, uint64_t file) const {
  const RecordTable::File& of = table_->files()[file];
  const int64_t offset = table_->Begin(item, file);
  if (of.index.empty()) {
    return DataError("no record begins at byte ", offset, ", where one was found before: the file was changed");
  }
  return DataError(of.index, ": key ", table_->Key(item, file), " points to byte ", offset, " of ", of.path,
                   ", where no record begins: make the index anew, or read with index=\"build\"");
}

}  // namespace headrace
