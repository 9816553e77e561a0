#include "ops/testing/run_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/passes/group_rows.h"
#include "ir/passes/insert_caches.h"
#include "ops/testing/fixed_cache_point.h"

namespace headrace {
namespace {

constexpr int64_t kMostElementsShown = 12;

template <typename T>
std::string NumberText(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  if constexpr (sizeof(T) == 1) {
    return std::to_string(static_cast<int>(value));
  } else {
    return Cat(value);
  }
}

std::string FixedText(DType dtype, const uint8_t* at) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return NumberText<uint8_t>(at);
    case DType::kInt8:
      return NumberText<int8_t>(at);
    case DType::kInt16:
      return NumberText<int16_t>(at);
    case DType::kInt32:
      return NumberText<int32_t>(at);
    case DType::kInt64:
      return NumberText<int64_t>(at);
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return NumberText<uint16_t>(at);
    case DType::kUInt32:
      return NumberText<uint32_t>(at);
    case DType::kUInt64:
      return NumberText<uint64_t>(at);
    case DType::kFloat32:
      return NumberText<float>(at);
    case DType::kFloat64:
      return NumberText<double>(at);
    default:
      return "?";
  }
}

std::string ElementsText(const Tensor& tensor) {
  std::vector<std::string> parts;
  if (IsVariableLength(tensor.dtype())) {
    for (int64_t i = 0; i < tensor.elements(); ++i) parts.push_back(Cat("'", tensor.bytes_at(i), "'"));
    return absl::StrJoin(parts, " ");
  }
  std::vector<uint8_t> bytes(tensor.bytes());
  tensor.CopyTo(bytes.data());
  const size_t item = ItemSize(tensor.dtype());
  uint64_t hash = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const std::string text = FixedText(tensor.dtype(), bytes.data() + static_cast<size_t>(i) * item);
    for (const char c : text) hash = MixKey(hash, static_cast<uint64_t>(c));
    if (i < kMostElementsShown) parts.push_back(text);
  }
  if (tensor.elements() > kMostElementsShown) parts.push_back(Cat("… #", hash));
  return absl::StrJoin(parts, " ");
}

std::string TensorText(const Tensor& tensor) {
  if (tensor.rank() == 0) return ElementsText(tensor);
  return Cat(tensor.TypeName(), " [", ElementsText(tensor), "]");
}

std::string Line(const RanRow& row) {
  return Cat("epoch ", row.epoch, " ", row.id.pad ? "pad " : "", DescribeRowId(row.id), ": ", row.text);
}

std::string ErrorText(absl::Status error, bool with_skipped) {
  if (!with_skipped) error.ErasePayload("headrace/skipped");
  return DescribeError(error);
}

void ExpectSame(const Ran& reference, size_t from, const Ran& other, std::string_view how) {
  const size_t expected = reference.rows.size() - from;
  EXPECT_EQ(other.rows.size(), expected) << how;
  for (size_t i = 0; i < std::min(expected, other.rows.size()); ++i) {
    const std::string wanted = Line(reference.rows[from + i]);
    const std::string got = Line(other.rows[i]);
    EXPECT_EQ(got, wanted) << how << ", row " << i << " after row " << from;
    if (got != wanted) break;
  }
  // A restart does not know the rows that were left out before it.
  EXPECT_EQ(ErrorText(other.error, from == 0), ErrorText(reference.error, from == 0)) << how;
  EXPECT_EQ(KindOf(other.error), KindOf(reference.error)) << how;
}

// Counts the runs compared; ./test sums up these lines of all tests.
class RunCount {
 public:
  ~RunCount() { std::printf("HEADRACE-COUNT variants=%d\n", runs_); }
  void Add() { ++runs_; }

 private:
  int runs_ = 0;
};
RunCount run_count;

void CheckRun(const ir::proto::Graph& graph, const PipelineOptions& options, const Ran& reference, size_t from,
              std::string_view how) {
  absl::StatusOr<Ran> ran = RunOnce(graph, options);
  if (!ran.ok()) {
    ADD_FAILURE() << how << ": " << DescribeError(ran.status());
    return;
  }
  ExpectSame(reference, from, *ran, how);
  run_count.Add();
}

void CheckThreads(const ir::proto::Graph& graph, const RunSpec& spec, const Ran& reference) {
  PipelineOptions options = OptionsOf(spec);
  options.pull = false;
  CheckRun(graph, options, reference, 0, "threads");
  options.workers = 1;
  CheckRun(graph, options, reference, 0, "one worker");
  options.workers = 7;
  CheckRun(graph, options, reference, 0, "seven workers");
  options.window = 1;
  CheckRun(graph, options, reference, 0, "seven workers, window of one");
  options.window = 3;
  options.memory = spec.little_memory;
  CheckRun(graph, options, reference, 0, "little memory");
}

// Runs with rows in groups, for sources that allow it.
void CheckGroups(const ir::proto::Graph& grouped, const RunSpec& spec, const Ran& reference) {
  PipelineOptions options = OptionsOf(spec);
  options.group = 2;
  CheckRun(grouped, options, reference, 0, "rows by twos");
  options.group = 5;
  options.pull = false;
  CheckRun(grouped, options, reference, 0, "rows by fives, threads");
  options.group = 0;
  CheckRun(grouped, options, reference, 0, "rows grouped by their cost, threads");
  options.group = 64;
  options.window = 1;
  CheckRun(grouped, options, reference, 0, "rows by sixty-fours, window of one");
}

PipelineOptions RestartAt(const Position& position, PipelineOptions options) {
  options.epochs.first = position.epoch;
  options.checkpoint = position.checkpoint;
  options.skip_rows = position.skip_rows;
  options.delivered = position.delivered;
  options.removed = position.removed;
  return options;
}

void CheckRestarts(const ir::proto::Graph& graph, const ir::proto::Graph& grouped, const RunSpec& spec,
                   const Ran& reference) {
  const PipelineOptions pulled = OptionsOf(spec);
  PipelineOptions together = pulled;
  together.group = 4;
  PipelineOptions threaded = pulled;
  threaded.pull = false;
  const auto most = static_cast<size_t>(Rounds(std::numeric_limits<int64_t>::max(), {.quick = 8, .sanitized = 24}));
  const size_t step = std::max(static_cast<size_t>(spec.restart_every), reference.rows.size() / most + 1);
  for (size_t i = 0; i < reference.rows.size() && !::testing::Test::HasFailure(); i += step) {
    const std::string how = Cat("restarted after row ", i, " of ", reference.rows.size());
    const PipelineOptions options = RestartAt(reference.rows[i].after, pulled);
    absl::StatusOr<Ran> ran = RunOnce(graph, options);
    if (!ran.ok()) {
      ADD_FAILURE() << how << ": " << DescribeError(ran.status());
      return;
    }
    ExpectSame(reference, i + 1, *ran, how);
    run_count.Add();
    // Resumes with rows in groups, and from there without.
    ran = RunOnce(grouped, RestartAt(reference.rows[i].after, together));
    if (!ran.ok()) {
      ADD_FAILURE() << how << ", rows by fours: " << DescribeError(ran.status());
      return;
    }
    ExpectSame(reference, i + 1, *ran, Cat(how, ", rows by fours"));
    run_count.Add();
    if (!ran->rows.empty()) {
      const size_t again = ran->rows.size() / 3;
      CheckRun(graph, RestartAt(ran->rows[again].after, pulled), reference, i + 2 + again, Cat(how, ", and again"));
    }
    if (i / step % static_cast<size_t>(spec.threaded_restart_every) == 0) {
      CheckRun(graph, RestartAt(reference.rows[i].after, threaded), reference, i + 1, Cat(how, ", threads"));
    }
  }
}

absl::StatusOr<Pipeline::Outcome> NextOf(Pipeline& pipeline, ResultRow& row) {
  HEADRACE_ASSIGN_OR_RETURN(const Pipeline::Outcome outcome, pipeline.Next(kTestPatience, row));
  if (outcome != Pipeline::Outcome::kNothingYet) return outcome;
  return InternalError("the pipeline stands still: ", absl::StrJoin(pipeline.DescribeStall(), "; "));
}

// Up to the end of the range.
void ExpectRange(Pipeline& pipeline, const Ran& whole, BatchRange range, std::string_view how) {
  const uint64_t end = std::min<uint64_t>(range.end, whole.rows.size());
  for (uint64_t number = range.first; number <= end; ++number) {
    ResultRow row;
    const absl::StatusOr<Pipeline::Outcome> outcome = NextOf(pipeline, row);
    ASSERT_TRUE(outcome.ok()) << how << ": " << DescribeError(outcome.status());
    ASSERT_EQ(*outcome == Pipeline::Outcome::kEpochEnd, number == end) << how << ", batch " << number;
    if (number == end) return;
    const Position after = pipeline.position();
    const RanRow& wanted = whole.rows[number];
    EXPECT_EQ(Line({after.epoch, row.id, RowText(pipeline.schema(), row.columns), {}, after}), Line(wanted)) << how;
    EXPECT_EQ(after.delivered, wanted.after.delivered);
  }
}

}  // namespace

std::string RowText(const ir::Schema& schema, const std::vector<Tensor>& columns) {
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name = i < schema.columns.size() ? schema.columns[i].name : "?";
    Append(text, text.empty() ? "" : ", ", name, "=", TensorText(columns[i]));
  }
  if (columns.size() != schema.columns.size()) Append(text, " (", schema.columns.size(), " columns declared)");
  return text;
}

std::vector<std::string> Ran::Texts(uint64_t epoch) const {
  std::vector<std::string> texts;
  for (const RanRow& row : rows) {
    if (row.epoch == epoch) texts.push_back(row.text);
  }
  return texts;
}

std::vector<uint64_t> Ran::Keys(uint64_t epoch) const {
  std::vector<uint64_t> keys;
  for (const RanRow& row : rows) {
    if (row.epoch == epoch) keys.push_back(row.id.key);
  }
  return keys;
}

std::vector<int64_t> Ran::Ints(int column, uint64_t epoch) const {
  std::vector<int64_t> values;
  for (const RanRow& row : rows) {
    if (row.epoch == epoch) values.push_back(std::stoll(TensorText(row.columns[static_cast<size_t>(column)])));
  }
  return values;
}

PipelineOptions OptionsOf(const RunSpec& spec) {
  PipelineOptions options;
  options.seed = spec.seed;
  options.epochs = {spec.first_epoch, spec.first_epoch + spec.epochs - 1};
  options.shard = spec.shard;
  options.pull = true;
  options.bindings = spec.bindings;
  options.choose_cache_point = FixedCachePoint(spec.kept_point);
  return options;
}

absl::StatusOr<Ran> RunOnce(const ir::proto::Graph& graph, PipelineOptions options) {
  const uint64_t last = options.epochs.last;
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Pipeline> pipeline, Pipeline::Make(graph, std::move(options)));
  pipeline->Ask(last);
  Ran ran;
  ran.fingerprints = pipeline->fingerprints();
  ran.cardinality = pipeline->plan().root().properties.cardinality;
  while (pipeline->position().epoch <= last) {
    const uint64_t epoch = pipeline->position().epoch;
    ResultRow row;
    absl::StatusOr<Pipeline::Outcome> outcome = NextOf(*pipeline, row);
    if (!outcome.ok() && KindOf(outcome.status()) == ErrorKind::kInternal) return outcome.status();
    if (!outcome.ok()) {
      ran.error = outcome.status();
      return ran;
    }
    if (*outcome == Pipeline::Outcome::kEpochEnd) continue;
    ran.rows.push_back(
        {epoch, row.id, RowText(pipeline->schema(), row.columns), std::move(row.columns), pipeline->position()});
  }
  return ran;
}

Ran RunEveryWay(const GraphBuilder& builder, const RunSpec& spec) {
  absl::StatusOr<ir::proto::Graph> graph = builder.Build();
  if (!graph.ok()) {
    ADD_FAILURE() << DescribeError(graph.status());
    return {};
  }
  absl::StatusOr<Ran> reference = RunOnce(*graph, OptionsOf(spec));
  if (!reference.ok()) {
    ADD_FAILURE() << "pulled: " << DescribeError(reference.status());
    return {};
  }
  if (spec.kept_point >= 0) {
    graph = ir::InsertCaches(*graph);
    CheckRun(*graph, OptionsOf(spec), *reference, 0, "rows kept");
  }
  const absl::StatusOr<ir::proto::Graph> grouped = ir::GroupRows(*graph);
  if (!grouped.ok()) {
    ADD_FAILURE() << DescribeError(grouped.status());
    return {};
  }
  CheckThreads(*graph, spec, *reference);
  CheckGroups(*grouped, spec, *reference);
  CheckRestarts(*graph, *grouped, spec, *reference);
  return *std::move(reference);
}

void ExpectRanges(const GraphBuilder& builder, const RunSpec& spec, const std::vector<BatchRange>& ranges) {
  const absl::StatusOr<ir::proto::Graph> graph = builder.Build();
  ASSERT_TRUE(graph.ok()) << DescribeError(graph.status());
  const absl::StatusOr<ir::proto::Graph> grouped = ir::GroupRows(*graph);
  ASSERT_TRUE(grouped.ok()) << DescribeError(grouped.status());
  PipelineOptions whole = OptionsOf(spec);
  whole.epochs.last = whole.epochs.first;
  const absl::StatusOr<Ran> reference = RunOnce(*graph, whole);
  ASSERT_TRUE(reference.ok()) << DescribeError(reference.status());
  for (const int group : {1, 2, 5, 64}) {
    PipelineOptions options = whole;
    options.pull = group == 1;
    options.group = group;
    options.epochs.last = EpochRange::kEndless;
    options.ranges = std::make_shared<BatchRanges>(spec.first_epoch);
    for (const BatchRange& range : ranges) options.ranges->Add(range);
    auto pipeline = Pipeline::Make(group == 1 ? *graph : *grouped, options);
    ASSERT_TRUE(pipeline.ok()) << DescribeError(pipeline.status());
    for (size_t i = 0; i < ranges.size(); ++i) {
      (*pipeline)->Ask(spec.first_epoch + i);
      ExpectRange(**pipeline, *reference, ranges[i], Cat("rows by ", group));
    }
  }
}

std::string Refusal(const GraphBuilder& builder, const RunSpec& spec) {
  const absl::StatusOr<ir::proto::Graph> graph = builder.Build();
  if (!graph.ok()) return DescribeError(graph.status());
  const auto pipeline = Pipeline::Make(*graph, OptionsOf(spec));
  return pipeline.ok() ? "" : DescribeError(pipeline.status());
}

std::vector<Ran> RunRanks(const GraphBuilder& builder, uint64_t world, RunSpec spec) {
  std::vector<Ran> ranks;
  for (uint64_t rank = 0; rank < world; ++rank) {
    SCOPED_TRACE(Cat("rank ", rank, " of ", world));
    spec.shard.rank = rank;
    spec.shard.world = world;
    ranks.push_back(RunEveryWay(builder, spec));
  }
  return ranks;
}

}  // namespace headrace
