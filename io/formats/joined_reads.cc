#include "io/formats/joined_reads.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/row_id.h"
#include "core/stop_signal.h"
#include "io/files/far_of.h"

namespace headrace {
namespace {

// Reads of so many bytes or less are joined with those in front of them.
constexpr int64_t kMostJoined = int64_t{1} << 20;
// Of far files: a request costs about as much as the bytes that are always read along. More is read along if it is no
// more than half of what is wanted, so that a rank does not read the rows of the others.
constexpr int64_t kMostJoinedFar = int64_t{16} << 20;
constexpr int64_t kBetweenFar = int64_t{32} << 10;
constexpr int64_t kMostBetweenFar = int64_t{1} << 20;
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
    if (checks_) unchecked_.insert(file);
    if (open_[file].file != nullptr) return open_[file];
  }
  OpenFile opened;
  HEADRACE_ASSIGN_OR_RETURN(opened.file, files_->Open(*paths_[file], listed_[file]));
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

void JoinedReads::Join(int64_t most_between) {
  const FarFiles* const far = paths_.empty() ? nullptr : FarOf(*files_, *paths_[0]);
  most_outstanding_ = far == nullptr ? 0 : std::max(1, far->most_outstanding());
  checks_ = far != nullptr && !far->conditional_reads();
  most_between_ = most_outstanding_ > 0 ? std::max(most_between, kBetweenFar) : most_between;
  most_joined_ = most_outstanding_ > 0 ? kMostJoinedFar : kMostJoined;
  if (far != nullptr) TakeVersions();
}

// The store forgets the version of a file that turns out to have changed, for the next run; this one still refuses
// other bytes when it opens the file again.
void JoinedReads::TakeVersions() {
  for (size_t i = 0; i < paths_.size(); ++i) {
    const FarFiles* const far = listed_[i].version == 0 ? FarOf(*files_, *paths_[i]) : nullptr;
    if (far == nullptr) continue;
    const ListedFile known = far->ListedAs(*paths_[i]);
    if (known.size == listed_[i].size) listed_[i].version = known.version;
  }
}

absl::Status JoinedReads::CheckFiles() const {
  std::set<uint64_t> read;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    read.swap(unchecked_);
  }
  for (const uint64_t file : read) {
    if (StopSignal::Raised()) return StopSignal::Error();
    // Compares the version.
    absl::Status unchanged = files_->Open(*paths_[file], listed_[file]).status();
    if (unchanged.ok()) continue;
    AddErrorField(unchanged, ErrorField::kFile, *paths_[file]);
    return BeyondRow(std::move(unchanged));
  }
  return absl::OkStatus();
}

bool JoinedReads::IsNear(int64_t gap, int64_t wanted, int64_t between) const {
  if (gap <= most_between_) return true;
  return most_outstanding_ > 0 && gap < kMostBetweenFar && between + gap <= wanted / 2;
}

std::shared_ptr<JoinedReads::Run> JoinedReads::StartRun(absl::Span<const uint64_t> items, PieceOf piece_of) const {
  auto run = std::make_shared<Run>();
  run->piece = piece_of(items[0]);
  run->begins.push_back(run->piece.begin);
  int64_t wanted = run->piece.end - run->piece.begin;
  int64_t between = 0;
  for (run->items = 1; run->items < items.size() && items[run->items] > items[run->items - 1]; ++run->items) {
    const Piece piece = piece_of(items[run->items]);
    if (piece.file != run->piece.file) break;
    const int64_t end = std::max(run->piece.end, piece.end);
    // Items are not in the order of their bytes in every format.
    if (piece.begin < run->begins.back()) break;
    const int64_t gap = std::max<int64_t>(0, piece.begin - run->piece.end);
    if (!IsNear(gap, wanted, between) || end - run->piece.begin > most_joined_) break;
    between += gap;
    wanted += end - run->piece.end - gap;
    run->piece.end = end;
    run->begins.push_back(piece.begin);
  }
  run->started = StartReading(*run);
  return run;
}

absl::Status JoinedReads::StartReading(Run& run) const {
  absl::StatusOr<OpenFile> opened = Open(run.piece.file);
  // A fault of all rows of the file, not of one.
  if (!opened.ok()) return BeyondRow(std::move(opened).status());
  run.opened = *std::move(opened);
  const auto bytes = static_cast<size_t>(run.piece.end - run.piece.begin);
  HEADRACE_ASSIGN_OR_RETURN(run.read, PendingRead::Start(run.opened.file, run.piece.begin, 0, bytes));
  return absl::OkStatus();
}

void JoinedReads::Start(absl::Span<const uint64_t> items, PieceOf piece_of) const {
  StartedReads* const started = StartedReads::Current();
  if (started == nullptr) return;
  for (size_t at = 0; at < items.size();) {
    const std::shared_ptr<Run> run = StartRun(items.subspan(at), piece_of);
    for (size_t i = 0; i < run->items; ++i) started->Add(this, items[at + i], {run, i});
    at += run->items;
  }
}

absl::InlinedVector<JoinedReads::Part, 1> JoinedReads::PartsOf(absl::Span<const uint64_t> items,
                                                               PieceOf piece_of) const {
  StartedReads* const started = StartedReads::Current();
  absl::InlinedVector<Part, 1> parts;
  for (size_t at = 0; at < items.size(); at += parts.back().items) {
    if (!parts.empty() && !parts.back().run->started.ok()) break;
    const StartedReads::Entry entry = started == nullptr ? StartedReads::Entry{} : started->Take(this, items[at]);
    if (entry.read != nullptr) {
      parts.push_back({std::static_pointer_cast<Run>(entry.read), entry.at, 1});
      continue;
    }
    std::shared_ptr<Run> run = StartRun(items.subspan(at), piece_of);
    const size_t together = run->items;
    parts.push_back({std::move(run), 0, together});
  }
  return parts;
}

size_t JoinedReads::CutPart(const Part& part, absl::Span<const uint64_t> items,
                            absl::Span<RandomAccessReader::Content> contents, Cut cut, absl::Status& wrong) {
  const Run& run = *part.run;
  wrong = run.started;
  if (!wrong.ok()) return 0;
  const absl::StatusOr<int64_t> got = run.read->Wait();
  wrong = got.status();
  if (!got.ok()) return 0;
  uint8_t* const data = run.read->buffer()->data();
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t at = std::min(run.begins[part.first + i] - run.piece.begin, *got);
    contents[i].buffer = run.read->buffer();
    wrong = cut(items[i], run.opened, absl::MakeSpan(data + at, static_cast<size_t>(*got - at)), contents[i]);
    if (!wrong.ok()) return i;
  }
  return items.size();
}

size_t JoinedReads::Read(const RandomAccessReader& reader, absl::Span<const uint64_t> items,
                         absl::Span<RandomAccessReader::Content> contents, PieceOf piece_of, Cut cut,
                         absl::Status& wrong) const {
  size_t done = 0;
  for (const Part& part : PartsOf(items, piece_of)) {
    const size_t made = CutPart(part, items.subspan(done, part.items), contents.subspan(done, part.items), cut, wrong);
    done += made;
    if (made < part.items) break;
  }
  if (done == items.size()) return done;
  const auto [file, record, offset] = reader.LocationOf(items[done]);
  AddErrorField(wrong, ErrorField::kFile, DescribeProvenance({paths_[file], record, offset}));
  return done;
}

}  // namespace headrace
