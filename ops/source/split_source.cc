#include "ops/source/split_source.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/far_of.h"

namespace headrace {
namespace {

constexpr uint64_t kLargestFile = std::numeric_limits<int64_t>::max() / 2;
constexpr int kReadersOfShuffled = 8;
constexpr int64_t kLeastBlockBytes = 4096;
// All blocks of a source together take about this part of the budget at most.
constexpr int64_t kBudgetShare = 16;
// Blocks that a reader holds or has asked for.
constexpr int64_t kBlocksOfReader = 3;
// Of far files: the block that a reader holds, those that it has asked for, and those of the split that comes next.
constexpr int64_t kFarBlocksOfReader = 1 + 2 * RecordReader::kFarBlocksAhead;
constexpr size_t kFarSplitsAhead = 32;
// A request waits for the network as long as some megabytes take.
constexpr int64_t kFarBlockBytes = int64_t{8} << 20;
// A message ends with the record that reaches this size, however many rows were asked for: records may be far longer
// than those by which their number was chosen.
constexpr int64_t kMostMessageBytes = int64_t{2} << 20;
constexpr int64_t kMessageShare = 8;  // of the budget

// The counters of a checkpoint, after the rows read.
enum Counter { kRows, kOpened, kTurn, kGiven, kLanes };
// Of each lane, from kLanes on: its split plus one, or 0, and the byte after its last row.
constexpr size_t kCountersOfLane = 2;

int64_t BytesOf(const MatchedFiles& files) {
  return std::accumulate(files.sizes.begin(), files.sizes.end(), int64_t{0});
}

using Sharding = SplitReading::Sharding;

int64_t SplitBytesOf(const SplitReading& reading, const MatchedFiles& files, uint64_t world) {
  // One reader that takes split after split of a file reads the file.
  const bool all = reading.sharding != Sharding::kSplits || world == 1;
  if (reading.readers == 1 && !reading.shuffle && all) return SplitTable::kWholeFiles;
  return reading.split_bytes > 0 ? reading.split_bytes : SplitTable::DefaultSplitBytes(BytesOf(files));
}

// `split_bytes`: 0: as the attributes say.
SplitReading ReadingOf(const ir::Attributes& attributes, int64_t split_bytes) {
  SplitReading reading = SplitReading::Of(attributes);
  if (split_bytes > 0) reading.split_bytes = split_bytes;
  return reading;
}

const FarFiles* StoreOf(const MatchedFiles& files, const FileSystem& system) {
  return files.paths.size() == 0 ? nullptr : FarOf(system, std::string(files.paths[0]));
}

// Whether reads of another version are not refused.
bool Checks(const FarFiles* far) { return far != nullptr && !far->conditional_reads(); }

size_t BlockBytesOf(const SplitReading& reading, int64_t memory, int64_t wanted, bool far) {
  if (far) wanted = std::max(wanted, kFarBlockBytes);
  const int64_t share = memory / kBudgetShare / ((far ? kFarBlocksOfReader : kBlocksOfReader) * reading.readers);
  return static_cast<size_t>(std::clamp(share / kLeastBlockBytes * kLeastBlockBytes, kLeastBlockBytes, wanted));
}

}  // namespace

std::vector<ir::Attribute> SplitReading::Declare() {
  return {{.name = "shuffle",
           .type = ir::AttributeType::kBool,
           .doc = "Read the splits of the files in an order that differs in each epoch, several at once.",
           .default_value = "False"},
          {.name = "interleave",
           .type = ir::AttributeType::kInt,
           .doc = "The number of splits that are read at once; each gives 16 rows in turn. None: 1, or 8 with shuffle.",
           .default_value = "None",
           .nullable = true,
           .minimum = 1,
           .maximum = kMostReaders},
          {.name = "sharding",
           .type = ir::AttributeType::kString,
           .doc = "What is sharded: with \"splits\" a rank reads its own bytes alone, as with \"contiguous\", where "
                  "they are one run of them; with \"rows\" all bytes, and keeps its rows. None: rows, or splits with "
                  "shuffle.",
           .default_value = "None",
           .nullable = true,
           .choices = {"rows", "splits", "contiguous"}},
          {.name = "split_bytes",
           .type = ir::AttributeType::kInt,
           .doc = "The size of a split in bytes. None: 1/1024 of all bytes, between 64 KiB and 16 MiB.",
           .default_value = "None",
           .nullable = true,
           .minimum = 1,
           .maximum = 1e15}};
}

std::vector<ir::Attribute> SplitReading::DeclareBesideIndex() {
  std::vector<ir::Attribute> attributes = Declare();
  for (ir::Attribute& attribute : attributes) {
    if (attribute.name != "shuffle") {
      attribute.doc = Cat("Without an index. ", attribute.doc);
      continue;
    }
    attribute.puts_above = "permute";
    attribute.doc =
        "With an index: all orders of the rows are equally likely, and each epoch has a new one. Without: read the "
        "splits of the files in an order that differs in each epoch, several at once.";
  }
  return attributes;
}

std::vector<ir::Attribute> SplitReading::DeclareWholeFilesBesideIndex() {
  std::vector<ir::Attribute> attributes = DeclareBesideIndex();
  std::erase_if(attributes, [](const ir::Attribute& attribute) { return attribute.name == "split_bytes"; });
  for (ir::Attribute& attribute : attributes) {
    if (attribute.name == "shuffle") {
      attribute.doc =
          "With an index: all orders of the rows are equally likely, and each epoch has a new one. Without: read the "
          "files in an order that differs in each epoch, several at once.";
    } else if (attribute.name == "interleave") {
      attribute.doc =
          "Without an index. The number of files that are read at once; each gives 16 rows in turn. None: 1, or 8 with "
          "shuffle.";
    } else if (attribute.name == "sharding") {
      attribute.choices = {"rows", "splits"};
      attribute.doc =
          "Without an index. What is sharded: with \"splits\" a rank reads its own files alone, with \"rows\" all of "
          "them, and keeps its rows. None: rows, or splits with shuffle.";
    }
  }
  return attributes;
}

absl::Status SplitReading::CheckBesideIndex(const ir::Attributes& attributes) {
  if (attributes.IsNone("index")) return absl::OkStatus();
  for (const std::string_view name : {"interleave", "sharding", "split_bytes"}) {
    if (attributes.Find(name) == nullptr || attributes.IsNone(name)) continue;
    return GraphError(name,
                      "= is for reading in splits, and with index= rows are read by their numbers; leave out one "
                      "of the two");
  }
  return absl::OkStatus();
}

SplitReading SplitReading::Of(const ir::Attributes& attributes) {
  SplitReading reading;
  reading.shuffle = attributes.Bool("shuffle");
  reading.readers = reading.shuffle ? kReadersOfShuffled : 1;
  if (!attributes.IsNone("interleave")) reading.readers = static_cast<int>(attributes.Int("interleave"));
  reading.sharding = reading.shuffle ? Sharding::kSplits : Sharding::kRows;
  if (!attributes.IsNone("sharding")) {
    const std::string& sharding = attributes.String("sharding");
    reading.sharding = sharding == "rows"     ? Sharding::kRows
                       : sharding == "splits" ? Sharding::kSplits
                                              : Sharding::kContiguous;
  }
  const bool may_cut = attributes.Find("split_bytes") != nullptr;
  if (may_cut && !attributes.IsNone("split_bytes")) reading.split_bytes = attributes.Int("split_bytes");
  return reading;
}

void SplitReading::Describe(OperatorProperties& properties) const {
  properties.checkpoint_counters = kLanes + static_cast<int>(kCountersOfLane) * readers;
  properties.shards_itself = sharding != Sharding::kRows;
}

// Each rank pays for the whole set, and they share one network.
void SplitReading::WarnOfFarRows(const RunOptions& run, const std::string& path, RowWarnings& warnings) const {
  if (sharding != Sharding::kRows || run.world == 1 || FarOf(*run.files, path) == nullptr) return;
  warnings.Add({}, {std::make_shared<const std::string>(path), -1, -1},
               Cat("each of the ", run.world,
                   " ranks reads all bytes of the far files and keeps its rows; with "
                   "sharding=\"splits\" a rank reads its own bytes alone"));
}

absl::StatusOr<SplitTable> SplitSource::SplitsOf(const SplitReading& reading, const MatchedFiles& files,
                                                 const Format& format, const RunOptions& run) {
  const int64_t split_bytes = SplitBytesOf(reading, files, run.world);
  SplitTable splits = reading.sharding == Sharding::kContiguous
                          ? SplitTable(files.sizes, split_bytes, {run.rank, run.world, format.part_borders()})
                          : SplitTable(files.sizes, split_bytes);
  std::vector<uint64_t> whole;
  for (const uint64_t file : splits.CutFiles()) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const std::string path(files.paths[static_cast<int64_t>(file)]);
    const absl::StatusOr<bool> one_split = format.IsOneSplit(*run.files, path);
    absl::Status status = one_split.status();
    if (!status.ok()) AddErrorField(status, ErrorField::kFile, path);
    HEADRACE_RETURN_IF_ERROR(status);
    if (*one_split) whole.push_back(file);
  }
  splits.KeepWhole(whole);
  return splits;
}

absl::StatusOr<std::unique_ptr<StreamSource>> SplitSource::Make(std::unique_ptr<const Format> format,
                                                                MatchedFiles files,
                                                                std::unique_ptr<RecordColumns> columns,
                                                                const OpArguments& arguments, int64_t block_bytes,
                                                                int64_t split_bytes) {
  const SplitReading reading = ReadingOf(arguments.attributes, split_bytes);
  HEADRACE_ASSIGN_OR_RETURN(SplitTable splits, SplitsOf(reading, files, *format, *arguments.run));
  std::unique_ptr<SplitSource> source(new SplitSource(std::move(format), std::move(files), std::move(columns),
                                                      arguments, reading, std::move(splits), block_bytes));
  if (source->files_.paths.size() > 0) {
    reading.WarnOfFarRows(*arguments.run, std::string(source->files_.paths[0]), *source->warnings_);
  }
  return source;
}

SplitSource::SplitSource(std::unique_ptr<const Format> format, MatchedFiles files,
                         std::unique_ptr<RecordColumns> columns, const OpArguments& arguments,
                         const SplitReading& reading, SplitTable splits, int64_t block_bytes)
    : format_(std::move(format)),
      system_(arguments.run->files),
      files_(std::move(files)),
      columns_(std::move(columns)),
      reading_(reading),
      rank_(reading_.sharding == Sharding::kSplits ? arguments.run->rank : 0),
      world_(reading_.sharding == Sharding::kSplits ? arguments.run->world : 1),
      splits_(std::move(splits)),
      order_(splits_.size(), arguments.seed, arguments.salt),
      share_(splits_.size() > rank_ ? (splits_.size() - rank_ - 1) / world_ + 1 : 0),
      skip_failed_(arguments.run->skip_failed),
      block_bytes_(BlockBytesOf(reading_, arguments.run->memory, block_bytes, StoreOf(files_, *system_) != nullptr)),
      most_message_bytes_(
          static_cast<size_t>(std::clamp(arguments.run->memory / kMessageShare, kLeastBlockBytes, kMostMessageBytes))),
      far_(StoreOf(files_, *system_) != nullptr),
      checks_(Checks(StoreOf(files_, *system_))),
      warnings_(std::make_shared<RowWarnings>(arguments.name, "position")),
      lanes_(static_cast<size_t>(reading_.readers)) {}

uint64_t SplitSource::SplitAt(uint64_t number) const {
  uint64_t split = rank_ + number * world_;
  if (reading_.shuffle) order_.Find(epoch_, absl::MakeSpan(&split, 1));
  return split;
}

SplitSource::Opened SplitSource::Open(uint64_t split, int64_t from) const {
  const SplitTable::FileSplit found = splits_.At(split);
  Opened opened;
  opened.split = split;
  opened.file = found.file;
  opened.path = std::make_shared<const std::string>(files_.paths[static_cast<int64_t>(found.file)]);
  from = std::max(from, found.split.begin);
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      format_->Open(*system_, *opened.path, found.split, from, block_bytes_);
  opened.status = Located(reader.status(), opened, from);
  if (!reader.ok()) return opened;
  opened.reader = *std::move(reader);
  opened.changed = opened.reader->file_size() != files_.sizes[found.file];
  return opened;
}

absl::Status SplitSource::Start(uint64_t epoch, absl::Span<const uint64_t> counters) {
  if (counters[kOpened] > share_ || counters[kTurn] >= lanes_.size() || counters[kGiven] >= SplitReading::kTurn) {
    return CounterError("had opened ", counters[kOpened], " splits of ", share_, ", and reader ", counters[kTurn],
                        " of ", lanes_.size(), " had given ", counters[kGiven], " rows of ", SplitReading::kTurn);
  }
  epoch_ = epoch;
  position_ = counters[kRows];
  opened_ = counters[kOpened];
  turn_ = counters[kTurn];
  given_ = counters[kGiven];
  ahead_.clear();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const uint64_t* const counter = &counters[kLanes + i * kCountersOfLane];
    lanes_[i] = Lane();
    if (counter[0] == 0) continue;
    if (counter[0] > splits_.size() || counter[1] > kLargestFile) {
      return CounterError("had read split ", counter[0] - 1, " up to byte ", counter[1], " of ", splits_.size(),
                          " splits");
    }
    lanes_[i].byte = static_cast<int64_t>(counter[1]);
    lanes_[i].opened = Open(counter[0] - 1, lanes_[i].byte);
  }
  OpenAhead();
  return absl::OkStatus();
}

// Opens as many splits ahead as are read at once: when a reader is done, the next one has its first bytes.
void SplitSource::OpenAhead() {
  while (opened_ + ahead_.size() < share_ && (ahead_.size() < lanes_.size() || MayOpenMore())) {
    ahead_.push_back(Open(SplitAt(opened_ + ahead_.size()), 0));
  }
}

// Small far splits take a request each: as many are opened as have the bytes of one reader's blocks together.
bool SplitSource::MayOpenMore() const {
  if (!far_ || ahead_.size() >= kFarSplitsAhead) return false;
  const auto most = static_cast<int64_t>(block_bytes_) * RecordReader::kFarBlocksAhead;
  int64_t bytes = 0;
  for (const Opened& opened : ahead_) {
    const Split split = splits_.At(opened.split).split;
    bytes += std::min(split.end, files_.sizes[opened.file]) - split.begin;
  }
  return bytes < most;
}

bool SplitSource::TakeSplit(Lane& lane) {
  if (opened_ == share_) return false;
  lane.opened = std::move(ahead_.front());
  ahead_.pop_front();
  ++opened_;
  OpenAhead();
  return true;
}

void SplitSource::PassTurn() {
  turn_ = (turn_ + 1) % lanes_.size();
  given_ = 0;
}

// Gives the lane its next record; it has no split if there is none.
absl::Status SplitSource::Fill(Lane& lane) {
  while (lane.at == lane.block.records.size()) {
    if (lane.opened.path == nullptr && !TakeSplit(lane)) return absl::OkStatus();
    HEADRACE_RETURN_IF_ERROR(lane.opened.status);
    const absl::Status read = lane.opened.reader->Next(lane.block);
    if (!read.ok()) return Located(read, lane.opened, lane.opened.reader->offset());
    lane.block.path = lane.opened.path;
    lane.at = 0;
    NoteLost(lane);
    if (lane.block.records.empty()) {
      HEADRACE_RETURN_IF_ERROR(CheckUnchanged(lane.opened));
      lane = Lane();
    } else {
      columns_->Choose(lane.block);
    }
  }
  return absl::OkStatus();
}

// At the end of a split of a store that refuses no reads of another version.
absl::Status SplitSource::CheckUnchanged(const Opened& opened) const {
  if (!checks_) return absl::OkStatus();
  const ListedFile listed{files_.sizes[opened.file], files_.versions[opened.file]};
  return Located(system_->Open(*opened.path, listed).status(), opened, -1);
}

void SplitSource::NoteLost(const Lane& lane) {
  for (const LostBytes& lost : lane.block.lost) {
    warnings_->Add({}, {lane.opened.path, -1, lost.offset}, Cat(lost.bytes, " bytes left out: ", lost.reason));
  }
}

absl::StatusOr<SplitSource::Lane*> SplitSource::NextLane() {
  for (size_t tried = 0; tried < lanes_.size(); ++tried) {
    Lane& lane = lanes_[turn_];
    HEADRACE_RETURN_IF_ERROR(Fill(lane));
    if (lane.at < lane.block.records.size()) return &lane;
    PassTurn();
  }
  return nullptr;
}

void SplitSource::Advance(Lane& lane, size_t records) {
  lane.at += records;
  lane.byte = lane.block.After(lane.at - 1);
  position_ += records;
  // One reader alone is always its own next one.
  if (lanes_.size() == 1) return;
  given_ += records;
  if (given_ == SplitReading::kTurn) PassTurn();
}

void SplitSource::Save(absl::Span<uint64_t> counters) const {
  counters[kRows] = position_;
  counters[kOpened] = opened_;
  counters[kTurn] = turn_;
  counters[kGiven] = given_;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    uint64_t* const counter = &counters[kLanes + i * kCountersOfLane];
    const Lane& each = lanes_[i];
    counter[0] = each.opened.path == nullptr ? 0 : each.opened.split + 1;
    counter[1] = each.opened.path == nullptr ? 0 : static_cast<uint64_t>(each.byte);
  }
}

absl::Status SplitSource::AddTurn(Lane& lane, size_t rows, const RowShare& share, Block& block,
                                  absl::Span<uint64_t> counters) {
  const size_t left = lane.block.records.size() - lane.at;
  const size_t turn = lanes_.size() == 1 ? left : std::min(left, static_cast<size_t>(SplitReading::kTurn - given_));
  const uint64_t next = share.NextFrom(position_);
  if (next - position_ >= turn) {
    Advance(lane, turn);
    return absl::OkStatus();
  }
  const auto first = lane.at + static_cast<size_t>(next - position_);
  const auto step = static_cast<size_t>(std::min<uint64_t>(share.world, turn));
  const size_t count = std::min(rows, (lane.at + turn - first - 1) / step + 1);
  absl::Status wrong;
  const size_t added = columns_->Add(lane.block, first, step, count, wrong);
  const Record* const records = lane.block.records.data() + first;
  AppendMade(block.ids, added, [=, epoch = epoch_, file = lane.opened.file, changed = lane.opened.changed](size_t i) {
    return RowId{epoch, MixKey(file, static_cast<uint64_t>(records[i * step].offset)), false, changed};
  });
  block.provenances.AppendRun(lane.opened.path, added, [=](size_t i) { return records[i * step].offset; });
  for (size_t i = 0; i < added; ++i) message_bytes_ += records[i * step].length;
  if (added > 0) {
    Advance(lane, first + (added - 1) * step + 1 - lane.at);
    Save(counters);
  }
  if (wrong.ok()) return wrong;
  return FailRow(lane, first + added * step, std::move(wrong), block, counters);
}

// The row of a record that is not what it should be. Where such rows are skipped, the next one comes next.
absl::Status SplitSource::FailRow(Lane& lane, size_t record, absl::Status wrong, Block& block,
                                  absl::Span<uint64_t> counters) {
  const int64_t offset = lane.block.records[record].offset;
  absl::Status located = Located(std::move(wrong), lane.opened, offset);
  if (!skip_failed_) return located;
  const RowId id{epoch_, MixKey(lane.opened.file, static_cast<uint64_t>(offset)), false, lane.opened.changed};
  block.failed = std::make_unique<FailedRow>(FailedRow{id, {lane.opened.path, -1, offset}, {}});
  Advance(lane, record + 1 - lane.at);
  Save(counters);
  return located;
}

absl::Status SplitSource::ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                                   bool& end) {
  absl::Status status;
  block.ids.reserve(static_cast<size_t>(rows));
  block.provenances.reserve(static_cast<size_t>(rows));
  columns_->Expect(static_cast<size_t>(rows));
  message_bytes_ = 0;
  while (status.ok() && block.rows() < rows && message_bytes_ < most_message_bytes_) {
    const absl::StatusOr<Lane*> lane = NextLane();
    status = lane.status();
    if (!lane.ok() || *lane == nullptr) break;
    if (block.rows() > 0 && !columns_->Joins((*lane)->block)) break;
    status = AddTurn(**lane, static_cast<size_t>(rows - block.rows()), share, block, counters);
  }
  end = status.ok() && block.rows() == 0;
  if (block.rows() == 0) return status;
  const absl::Status taken = columns_->Take(block);
  if (taken.ok()) return status;
  block.DropRows();
  return taken;
}

absl::Status SplitSource::Located(absl::Status status, const Opened& opened, int64_t offset) {
  if (!status.ok()) AddErrorField(status, ErrorField::kFile, DescribeProvenance({opened.path, -1, offset}));
  return status;
}

OpFactories SplitFactories(MakeStreamSource make) {
  return {.stream_source = std::move(make),
          .properties = [](const OpArguments& arguments, OperatorProperties& properties) {
            SplitReading::Of(arguments.attributes).Describe(properties);
          }};
}

}  // namespace headrace
