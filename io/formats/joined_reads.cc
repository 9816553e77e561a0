#include "io/formats/joined_reads.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/row_id.h"

namespace headrace {
namespace {

// Reads of so many bytes or less are joined with those in front of them.
constexpr int64_t kMostJoined = int64_t{1} << 20;
constexpr size_t kMostOpen = 64;

}  // namespace

absl::Status JoinedReads::CutWhole(const Piece& piece, std::string_view what, const OpenFile& opened,
                                   int64_t listed_bytes, absl::Span<const uint8_t> bytes,
                                   RandomAccessReader::Content& content) {
  content.changed = opened.size != listed_bytes;
  const auto length = static_cast<size_t>(piece.end - piece.begin);
  if (bytes.size() < length) {
    return DataError("byte ", piece.begin, ": the ", what, " ends at byte ",
                     piece.begin + static_cast<int64_t>(bytes.size()),
                     ": the file was cut off after the run had begun");
  }
  content.bytes = {reinterpret_cast<const char*>(bytes.data()), length};
  return absl::OkStatus();
}

absl::StatusOr<JoinedReads::OpenFile> JoinedReads::Open(uint64_t file) const {
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

JoinedReads::Run JoinedReads::RunFrom(absl::Span<const uint64_t> items, PieceOf piece_of) const {
  Run run;
  run.piece = piece_of(items[0]);
  run.begins.push_back(run.piece.begin);
  for (run.items = 1; run.items < items.size() && items[run.items] > items[run.items - 1]; ++run.items) {
    const Piece piece = piece_of(items[run.items]);
    if (piece.file != run.piece.file) break;
    const int64_t end = std::max(run.piece.end, piece.end);
    // Items are not in the order of their bytes in every format.
    if (piece.begin < run.begins.back()) break;
    if (piece.begin > run.piece.end + most_between_ || end - run.piece.begin > kMostJoined) break;
    run.piece.end = end;
    run.begins.push_back(piece.begin);
  }
  return run;
}

absl::Status JoinedReads::Start(Run& run) const {
  absl::StatusOr<OpenFile> opened = Open(run.piece.file);
  // A fault of all rows of the file, not of one.
  if (!opened.ok()) return BeyondRow(std::move(opened).status());
  run.opened = *std::move(opened);
  const auto bytes = static_cast<size_t>(run.piece.end - run.piece.begin);
  HEADRACE_ASSIGN_OR_RETURN(run.read, PendingRead::Start(run.opened.file, run.piece.begin, 0, bytes));
  return absl::OkStatus();
}

size_t JoinedReads::CutRun(const Run& run, absl::Span<const uint64_t> items,
                           absl::Span<RandomAccessReader::Content> contents, Cut cut, absl::Status& wrong) {
  const absl::StatusOr<int64_t> got = run.read->Wait();
  wrong = got.status();
  if (!got.ok()) return 0;
  uint8_t* const data = run.read->buffer()->data();
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t at = std::min(run.begins[i] - run.piece.begin, *got);
    contents[i].buffer = run.read->buffer();
    wrong = cut(items[i], run.opened, absl::MakeSpan(data + at, static_cast<size_t>(*got - at)), contents[i]);
    if (!wrong.ok()) return i;
  }
  return items.size();
}

size_t JoinedReads::Read(const RandomAccessReader& reader, absl::Span<const uint64_t> items,
                         absl::Span<RandomAccessReader::Content> contents, PieceOf piece_of, Cut cut,
                         absl::Status& wrong) const {
  absl::InlinedVector<Run, 1> runs;
  absl::InlinedVector<absl::Status, 1> started;
  for (size_t at = 0; at < items.size();) {
    runs.push_back(RunFrom(items.subspan(at), piece_of));
    started.push_back(Start(runs.back()));
    at += runs.back().items;
    if (!started.back().ok()) break;
  }
  size_t done = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    wrong = started[i];
    if (!wrong.ok()) break;
    const size_t made = CutRun(run, items.subspan(done, run.items), contents.subspan(done, run.items), cut, wrong);
    done += made;
    if (made < run.items) break;
  }
  if (done == items.size()) return done;
  const auto [file, record, offset] = reader.LocationOf(items[done]);
  AddErrorField(wrong, ErrorField::kFile, DescribeProvenance({paths_[file], record, offset}));
  return done;
}

}  // namespace headrace
