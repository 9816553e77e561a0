#include "ops/source/parquet/parquet_stream.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace {
namespace {

// The counters of a checkpoint, after the rows read: as those of SplitSource, whose number SplitReading declares.
enum ParquetCounter { kReadRows, kTakenGroups, kWhoseTurn, kGivenRows, kFirstLane };
// Of each lane, from kFirstLane on: its row group plus one, or 0, and its next row.
constexpr size_t kCountersOfParquetLane = 2;

using Sharding = SplitReading::Sharding;

bool SharesGroups(const SplitReading& reading) { return reading.sharding != Sharding::kRows; }

// Of the row groups, those whose turn among the ranks is this one's.
uint64_t ShareOf(uint64_t groups, uint64_t rank, uint64_t world) {
  return groups > rank ? (groups - rank - 1) / world + 1 : 0;
}

}  // namespace

ParquetStream::ParquetStream(std::unique_ptr<ParquetFiles> files, const OpArguments& arguments, Fingerprint fingerprint)
    : files_(std::move(files)),
      fingerprint_(std::move(fingerprint)),
      reading_(SplitReading::Of(arguments.attributes)),
      rank_(SharesGroups(reading_) ? arguments.run->rank : 0),
      world_(SharesGroups(reading_) ? arguments.run->world : 1),
      order_(files_->table().groups().size(), arguments.seed, arguments.salt),
      share_(ShareOf(files_->table().groups().size(), rank_, world_)),
      skip_failed_(arguments.run->skip_failed),
      warnings_(std::make_shared<RowWarnings>(arguments.name, "position")),
      lanes_(static_cast<size_t>(reading_.readers)) {
  if (files_->table().files().empty()) return;
  reading_.WarnOfFarRows(*arguments.run, files_->table().files()[0].path, *warnings_);
}

size_t ParquetStream::GroupAt(uint64_t number) const {
  uint64_t group = rank_ + number * world_;
  if (reading_.shuffle) order_.Find(epoch_, absl::MakeSpan(&group, 1));
  return static_cast<size_t>(group);
}

absl::Status ParquetStream::Start(uint64_t epoch, absl::Span<const uint64_t> counters) {
  if (counters[kTakenGroups] > share_ || counters[kWhoseTurn] >= lanes_.size() ||
      counters[kGivenRows] >= SplitReading::kTurn) {
    return CounterError("had opened ", counters[kTakenGroups], " row groups of ", share_, ", and reader ",
                        counters[kWhoseTurn], " of ", lanes_.size(), " had given ", counters[kGivenRows], " rows of ",
                        SplitReading::kTurn);
  }
  epoch_ = epoch;
  ahead_.reset();
  position_ = counters[kReadRows];
  opened_ = counters[kTakenGroups];
  turn_ = counters[kWhoseTurn];
  given_ = counters[kGivenRows];
  const std::vector<ParquetTable::Group>& groups = files_->table().groups();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const uint64_t* const counter = &counters[kFirstLane + i * kCountersOfParquetLane];
    lanes_[i] = Lane();
    if (counter[0] == 0) continue;
    if (counter[0] > groups.size() || counter[1] > groups[static_cast<size_t>(counter[0] - 1)].rows) {
      return CounterError("had read row group ", counter[0] - 1, " up to row ", counter[1], " of ", groups.size(),
                          " row groups");
    }
    lanes_[i].has_group = true;
    lanes_[i].group = static_cast<size_t>(counter[0] - 1);
    lanes_[i].row = counter[1];
    lanes_[i].run.first = counter[1];
  }
  return absl::OkStatus();
}

bool ParquetStream::TakeGroup(Lane& lane) {
  if (opened_ == share_) return false;
  lane.has_group = true;
  lane.group = GroupAt(opened_++);
  return true;
}

absl::Status ParquetStream::Fill(Lane& lane) {
  while (lane.left() == 0) {
    if (lane.has_group && lane.row == TableGroup(lane).rows) lane = Lane();
    if (!lane.has_group && !TakeGroup(lane)) return absl::OkStatus();
    HEADRACE_RETURN_IF_ERROR(ReadOn(lane));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ParquetGroupReader>> ParquetStream::OpenGroup(size_t group) {
  if (!ahead_.has_value() || ahead_group_ != group) return files_->OpenGroup(group);
  absl::StatusOr<std::unique_ptr<ParquetGroupReader>> opened = *std::move(ahead_);
  ahead_.reset();
  return opened;
}

void ParquetStream::OpenAhead() {
  if (ahead_.has_value() || opened_ == share_) return;
  const auto needs_next = [this](const Lane& lane) {
    return !lane.has_group || (lane.run.rows > 0 && lane.run.first + lane.run.rows == TableGroup(lane).rows);
  };
  if (std::none_of(lanes_.begin(), lanes_.end(), needs_next)) return;
  const size_t next = GroupAt(opened_);
  // Requests would keep back rows that are decoded.
  if (files_->IsFar(next)) return;
  ahead_group_ = next;
  // An error is given in place of the rows, to the lane that takes the row group.
  ahead_ = files_->OpenGroup(next);
}

// Reads the run of rows that has the lane's next one. After a restart those before it are decoded again.
absl::Status ParquetStream::ReadOn(Lane& lane) {
  if (lane.reader == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(lane.reader, OpenGroup(lane.group));
    OpenAhead();
  }
  do {
    lane.run = ParquetRun{lane.row};
    HEADRACE_ASSIGN_OR_RETURN(lane.run, lane.reader->Next());
  } while (lane.run.first + lane.run.rows <= lane.row);
  OpenAhead();
  return absl::OkStatus();
}

void ParquetStream::PassTurn() {
  turn_ = (turn_ + 1) % lanes_.size();
  given_ = 0;
}

absl::StatusOr<ParquetStream::Lane*> ParquetStream::NextLane() {
  for (size_t tried = 0; tried < lanes_.size(); ++tried) {
    Lane& lane = lanes_[turn_];
    HEADRACE_RETURN_IF_ERROR(Fill(lane));
    if (lane.left() > 0) return &lane;
    PassTurn();
  }
  return nullptr;
}

void ParquetStream::Advance(Lane& lane, uint64_t rows) {
  lane.row += rows;
  position_ += rows;
  // One reader alone is always its own next one.
  if (lanes_.size() == 1) return;
  given_ += rows;
  if (given_ == SplitReading::kTurn) PassTurn();
}

void ParquetStream::Save(absl::Span<uint64_t> counters) const {
  counters[kReadRows] = position_;
  counters[kTakenGroups] = opened_;
  counters[kWhoseTurn] = turn_;
  counters[kGivenRows] = given_;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    uint64_t* const counter = &counters[kFirstLane + i * kCountersOfParquetLane];
    counter[0] = lanes_[i].has_group ? lanes_[i].group + 1 : 0;
    counter[1] = lanes_[i].has_group ? lanes_[i].row : 0;
  }
}

absl::Status ParquetStream::ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                                     bool& end) {
  absl::Status status;
  while (status.ok() && block.rows() < rows && JoinsTurns()) {
    const absl::StatusOr<Lane*> lane = StopSignal::Raised() ? StopSignal::Error() : NextLane();
    status = lane.status();
    if (!lane.ok() || *lane == nullptr) break;
    status = AddTurn(**lane, static_cast<size_t>(rows - block.rows()), share, block, counters);
  }
  if (status.ok() && block.rows() == 0) status = files_->CheckUnchanged();
  end = status.ok() && block.rows() == 0;
  turns_.Take(block);
  return status;
}

// Rows of one reader are views of its run; those of several, of which each has few, are copied, unless they are long.
bool ParquetStream::JoinsTurns() const {
  constexpr size_t kMostCopied = size_t{64} << 10;
  return turns_.empty() || (lanes_.size() > 1 && turns_.bytes() < kMostCopied);
}

absl::Status ParquetStream::AddTurn(Lane& lane, size_t rows, const RowShare& share, Block& block,
                                    absl::Span<uint64_t> counters) {
  const uint64_t turn = lanes_.size() == 1 ? lane.left() : std::min(lane.left(), SplitReading::kTurn - given_);
  const uint64_t before = share.NextFrom(position_) - position_;
  if (before >= turn) {
    Advance(lane, turn);
    return absl::OkStatus();
  }
  const auto step = static_cast<size_t>(std::min(share.world, turn));
  const uint64_t most = (turn - before - 1) / step + 1;
  const auto count = static_cast<size_t>(std::min<uint64_t>(rows, most));
  return Give(lane, {lane.row + before, step, count}, block, counters);
}

absl::Status ParquetStream::Give(Lane& lane, const Chosen& chosen, Block& block, absl::Span<uint64_t> counters) {
  absl::Status wrong;
  const OpenedParquet& opened = lane.reader->opened();
  const auto first_in_run = static_cast<int64_t>(chosen.first - lane.run.first);
  const bool alone = lanes_.size() == 1;
  const size_t made = turns_.Add(
      {opened.columns, lane.run.batch, first_in_run, chosen.step, chosen.count, alone, lane.run.copied_bytes}, wrong);
  const auto row_of = [&](size_t i) { return chosen.first + i * chosen.step; };
  const uint64_t first = TableGroup(lane).first + chosen.first;
  AppendMade(block.ids, made, [=, epoch = epoch_, step = chosen.step, changed = opened.changed](size_t i) {
    return RowId{epoch, first + i * step, false, changed};
  });
  block.provenances.AppendNumbered(opened.path, made, [=, before = opened.first_row, step = chosen.step](size_t i) {
    return first + i * step - before;
  });
  const uint64_t failed = row_of(made);
  if (made > 0) {
    Advance(lane, row_of(made - 1) + 1 - lane.row);
    Save(counters);
  }
  return wrong.ok() ? wrong : FailRow(lane, failed, std::move(wrong), block, counters);
}

// Where rows that fail are skipped, the next one comes next.
absl::Status ParquetStream::FailRow(Lane& lane, uint64_t row, absl::Status wrong, Block& block,
                                    absl::Span<uint64_t> counters) {
  const Provenance provenance = ProvenanceOf(lane, row);
  AddErrorField(wrong, ErrorField::kFile, DescribeProvenance(provenance));
  if (!skip_failed_) return wrong;
  block.failed = std::make_unique<FailedRow>(FailedRow{IdOf(lane, row), provenance, {}});
  Advance(lane, row + 1 - lane.row);
  Save(counters);
  return wrong;
}

RowId ParquetStream::IdOf(const Lane& lane, uint64_t row) const {
  return {epoch_, TableGroup(lane).first + row, false, lane.reader->opened().changed};
}

Provenance ParquetStream::ProvenanceOf(const Lane& lane, uint64_t row) const {
  const OpenedParquet& opened = lane.reader->opened();
  return {opened.path, static_cast<int64_t>(TableGroup(lane).first + row - opened.first_row), -1};
}

}  // namespace headrace
