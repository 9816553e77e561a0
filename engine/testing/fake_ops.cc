#include "engine/testing/fake_ops.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <thread>

#include "core/clock.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "engine/testing/group_rows.h"
#include "ir/canonical.h"
#include "ir/graph.pb.h"
#include "ir/validate.h"

namespace headrace {
namespace {

using ir::Attribute;
using ir::AttributeType;

template <typename T>
void RaiseTo(std::atomic<T>& value, T to) {
  T seen = value.load();
  while (seen < to && !value.compare_exchange_weak(seen, to)) {
  }
}

int64_t ValueOf(const Block& block, int row) { return block.columns[0].row(row).value<int64_t>(); }

absl::StatusOr<Tensor> MakeData(int64_t value, int64_t bytes) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor data, Tensor::Allocate(DType::kUInt8, {bytes}));
  std::memset(data.mutable_raw(), static_cast<int>(value & 0xff), static_cast<size_t>(bytes));
  return data;
}

std::atomic<int64_t> lent{0};
std::atomic<int64_t> most_lent{0};

// In memory that is not the engine's, like arrays from a Python function.
Tensor LendData(int64_t value, int64_t bytes) {
  auto* const memory = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(bytes)));
  std::memset(memory, static_cast<int>(value & 0xff), static_cast<size_t>(bytes));
  RaiseTo(most_lent, lent.fetch_add(bytes) + bytes);
  const auto release = [memory, bytes] {
    lent.fetch_sub(bytes);
    std::free(memory);
  };
  return Tensor::View(DType::kUInt8, {bytes}, BufferRef::Foreign(memory, static_cast<size_t>(bytes), release), memory);
}

absl::Status AppendCount(uint64_t epoch, uint64_t position, int64_t bytes, Block& block) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor value, Tensor::Scalar<int64_t>(static_cast<int64_t>(position)));
  Tensor data;
  if (bytes > 0) {
    HEADRACE_ASSIGN_OR_RETURN(data, MakeData(static_cast<int64_t>(position), bytes));
  }
  std::vector<Tensor> columns = {std::move(value)};
  if (bytes > 0) columns.push_back(std::move(data));
  AppendRow(block, {epoch, position, false}, {nullptr, static_cast<int64_t>(position), -1}, columns);
  return absl::OkStatus();
}

class CountSource : public IndexedSource {
 public:
  struct Shape {
    uint64_t rows;
    uint64_t grows;
    uint64_t run;
  };
  // `first_epoch`: of the run.
  CountSource(const Shape& shape, int64_t bytes, uint64_t first_epoch)
      : shape_(shape), bytes_(bytes), rows_(RowsOf(first_epoch)) {}
  uint64_t size() const override { return rows_; }
  IndexedProperties properties() const override { return {.begins = shape_.grows > 0, .run_length = shape_.run}; }
  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override { return BegunEpoch{rows_ = RowsOf(epoch), 0}; }
  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    if (wanted.position >= rows_) return InternalError("position ", wanted.position, " of ", rows_, " rows");
    return AppendCount(wanted.epoch, wanted.position, bytes_, block);
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    id = {epoch, position, false};
    provenance = {nullptr, static_cast<int64_t>(position), -1};
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({"fake_count", shape_.rows, shape_.rows});
  }

 private:
  uint64_t RowsOf(uint64_t epoch) const { return shape_.rows + shape_.grows * epoch; }

  const Shape shape_;
  const int64_t bytes_;
  uint64_t rows_;  // of the epoch begun last
};

class StreamedSource : public StreamSource {
 public:
  StreamedSource(uint64_t rows, Probe* probe, bool fail_start, int64_t fail, bool goes_on)
      : rows_(rows), probe_(probe), fail_start_(fail_start), fail_(fail), goes_on_(goes_on) {}
  absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) override {
    failed_ = fail_start_;
    if (failed_) return DataError("the start fails");
    epoch_ = epoch;
    position_ = counters[0];
    probe_->Enter(epoch);
    probe_->Leave();
    return absl::OkStatus();
  }
  absl::Status ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                        bool& end) override {
    // A real source would crash here, with nothing to read from.
    if (failed_) std::abort();
    for (; position_ < rows_ && block.rows() < rows; ++position_) {
      const bool fails = static_cast<int64_t>(position_) == fail_;
      failed_ = fails && !goes_on_;
      if (!failed_ && !share.Has(position_)) continue;
      if (fails && goes_on_) {
        const FailedRow row{{epoch_, position_, false}, {nullptr, fail_, -1}, {}};
        block.failed = std::make_unique<FailedRow>(row);
        counters[0] = ++position_;
      }
      if (fails) return DataError("the value ", fail_, " fails");
      HEADRACE_RETURN_IF_ERROR(AppendCount(epoch_, position_, 0, block));
      counters[0] = position_ + 1;
    }
    end = block.rows() == 0;
    return absl::OkStatus();
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({"fake_stream", rows_, rows_});
  }

 private:
  const uint64_t rows_;
  Probe* const probe_;
  const bool fail_start_;
  const int64_t fail_;
  const bool goes_on_;
  bool failed_ = false;
  uint64_t epoch_ = 0;
  uint64_t position_ = 0;
};

class Work : public RowOperator {
 public:
  explicit Work(const ir::Attributes& attributes)
      : cost_(static_cast<uint64_t>(attributes.Int("cost"))),
        fail_(attributes.Ints("fail")),
        copy_(attributes.Bool("copy")),
        lent_(attributes.Bool("lent")),
        steady_(attributes.Bool("steady")),
        probe_(&Probe::At(attributes.Int("probe"))),
        hold_(attributes.Int("hold")) {}

  void Apply(Block& block) const override {
    for (int row = 0; row < block.rows(); ++row) {
      probe_->Enter(block.epoch);
      absl::Status status = ApplyRow(block, row);
      probe_->Leave();
      if (status.ok()) continue;
      block.Fail(row, std::move(status));
      return;
    }
  }

 private:
  absl::Status ApplyRow(Block& block, int row) const {
    const int64_t value = ValueOf(block, row);
    Spend(block.ids[row]);
    if (value == hold_) probe_->WaitForRelease();
    if (std::find(fail_.begin(), fail_.end(), value) != fail_.end()) return DataError("the value ", value, " fails");
    if (!copy_ || block.columns.size() < 2) return absl::OkStatus();
    const int64_t bytes = block.columns[1].row(row).dim(0);
    if (lent_) {
      block.columns[1].SetRow(row, LendData(value, bytes));
      return absl::OkStatus();
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor copy, MakeData(value, bytes));
    block.columns[1].SetRow(row, std::move(copy));
    return absl::OkStatus();
  }

  // Takes very unequal times: most rows almost none, some up to all of it, either spinning or asleep.
  void Spend(const RowId& id) const {
    if (cost_ == 0) return;
    const uint64_t draw = MixKey(MixKey(id.key, id.epoch), cost_);
    if (draw % 4 != 0 && !steady_) return;
    const uint64_t until = NowNs() + (steady_ ? cost_ * 1000 : (draw >> 8) % (cost_ * 1000));
    if (draw & 16) std::this_thread::sleep_for(std::chrono::nanoseconds(until - NowNs()));
    while (NowNs() < until) {
    }
  }

  const uint64_t cost_;
  const std::vector<int64_t> fail_;
  const bool copy_;
  const bool lent_;
  const bool steady_;
  Probe* const probe_;
  const int64_t hold_;
};

class Drop : public RowOperator {
 public:
  explicit Drop(int64_t modulus) : modulus_(modulus) {}
  void Apply(Block& block) const override {
    Block kept;
    kept.columns.resize(block.columns.size());
    for (int row = 0; row < block.rows(); ++row) {
      if (ValueOf(block, row) % modulus_ == 0) continue;
      kept.ids.push_back(block.ids[row]);
      kept.provenances.push_back(block.provenances[row]);
      for (size_t i = 0; i < block.columns.size(); ++i) kept.columns[i].Append(block.columns[i].row(row));
    }
    block.ids = std::move(kept.ids);
    block.provenances = std::move(kept.provenances);
    block.columns = std::move(kept.columns);
  }

 private:
  const int64_t modulus_;
};

class SplitRows : public RowOperator {
 public:
  void Apply(Block& /*block*/) const override {}

  void Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const override {
    for (int row = 0; row < message->rows(); ++row) {
      const int64_t value = ValueOf(*message, row);
      for (int64_t child = 0; child < value % 4; ++child) {
        parts.push_back(MakePart(*message, row, value * 8 + child));
        parts.back()->checkpoint = before;
        parts.back()->checkpoint.back() += parts.size();
      }
    }
    message->checkpoint.push_back(0);
    if (!parts.empty() && message->end == End::kNone) {
      parts.back()->checkpoint = message->checkpoint;
      return;
    }
    message->DropRows();
    message->columns.clear();
    parts.push_back(std::move(message));
  }

 private:
  static Message MakePart(const Block& block, int row, int64_t value) {
    auto part = std::make_unique<Block>();
    part->epoch = block.epoch;
    const RowId& id = block.ids[row];
    part->ids.push_back({id.epoch, MixKey(id.key, static_cast<uint64_t>(value % 8)), id.pad});
    part->provenances.push_back(block.provenances[row]);
    part->columns.emplace_back(*Tensor::Scalar<int64_t>(value));
    for (size_t i = 1; i < block.columns.size(); ++i) part->columns.emplace_back(block.columns[i].row(row));
    return part;
  }
};

class Window : public StreamOperator {
 public:
  Window(uint64_t rows, uint64_t growth) : rows_(rows), growth_(growth) {}
  void Start(uint64_t epoch, absl::Span<const uint64_t> /*counters*/, const Checkpoint& /*inputs*/) override {
    epoch_ = epoch;
  }
  void Receive(int /*input*/, Message message, Outbox& out) override {
    epoch_ = message->epoch;
    for (int row = 0; row < message->rows(); ++row) held_.push_back(TakeRow(*message, row));
    const bool ends = message->end != End::kNone;
    if (ends) {
      message->DropRows();
      held_.push_back(std::move(message));
      ++endings_;
    }
    if (has_pending_output()) Continue(out);
  }
  bool has_pending_output() const override { return endings_ > 0 || held_.size() > rows_ + growth_ * epoch_; }
  void Continue(Outbox& out) override {
    if (held_.front()->end != End::kNone) --endings_;
    out.Give(std::move(held_.front()));
    held_.pop_front();
  }
  void Finish(uint64_t epoch) override {
    std::erase_if(held_, [epoch](const Message& row) { return row->end == End::kNone && row->epoch <= epoch; });
  }
  size_t held_bytes() const override {
    size_t bytes = 0;
    for (const Message& row : held_) bytes += row->footprint();
    return bytes;
  }

 private:
  const uint64_t rows_;
  const uint64_t growth_;
  uint64_t epoch_ = 0;
  std::deque<Message> held_;
  int endings_ = 0;  // end-of-epoch markers and errors among them
};

class Take : public StreamOperator {
 public:
  explicit Take(uint64_t count) : count_(count) {}
  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& /*inputs*/) override {
    epoch_ = epoch;
    given_ = counters[0];
  }
  void Receive(int input, Message message, Outbox& out) override {
    if (message->epoch < epoch_) return;
    epoch_ = message->epoch;
    const uint64_t room = count_ - given_;
    if (static_cast<uint64_t>(message->rows()) >= room) {
      message->Truncate(static_cast<int>(room));
      message->end = End::kEpoch;
      message->error = absl::OkStatus();
    }
    given_ += static_cast<uint64_t>(message->rows());
    message->checkpoint.push_back(given_);
    const bool ends = message->end == End::kEpoch;
    out.Give(std::move(message));
    if (!ends) return;
    out.FinishEpoch(input, epoch_);
    ++epoch_;
    given_ = 0;
  }

 private:
  const uint64_t count_;
  uint64_t epoch_ = 0;
  uint64_t given_ = 0;
};

class Repeat : public StreamOperator {
 public:
  explicit Repeat(uint64_t passes) : passes_(passes) {}
  void Start(uint64_t epoch, absl::Span<const uint64_t> /*counters*/, const Checkpoint& /*inputs*/) override {
    next_epoch_ = epoch;
  }
  void Receive(int /*input*/, Message message, Outbox& out) override {
    const uint64_t epoch = message->epoch / passes_;
    if (epoch < next_epoch_) return;
    const uint64_t pass = message->epoch % passes_;
    for (RowId& id : message->ids) id = {epoch, MixKey(id.key, pass), id.pad};
    message->epoch = epoch;
    message->checkpoint.push_back(pass);
    if (message->end == End::kEpoch && pass + 1 < passes_) {
      message->end = End::kNone;
      message->checkpoint.assign(message->checkpoint.size(), 0);
      message->checkpoint.back() = pass + 1;
    }
    if (message->end == End::kEpoch) next_epoch_ = epoch + 1;
    if (message->rows() > 0 || message->end != End::kNone) out.Give(std::move(message));
  }

 private:
  const uint64_t passes_;
  uint64_t next_epoch_ = 0;
};

class Pair : public StreamOperator {
 public:
  void Start(uint64_t epoch, absl::Span<const uint64_t> /*counters*/, const Checkpoint& /*inputs*/) override {
    epoch_ = epoch;
  }
  int wants() const override { return queues_[0].empty() ? 0 : 1; }
  void Receive(int input, Message message, Outbox& out) override {
    if (message->epoch < epoch_) return;
    for (int row = 0; row < message->rows(); ++row) queues_[input].push_back(TakeRow(*message, row));
    if (message->end != End::kNone) {
      message->DropRows();
      queues_[input].push_back(std::move(message));
    }
    while (PairFronts(out)) {
    }
  }
  void Finish(uint64_t epoch) override {
    for (auto& queue : queues_) {
      std::erase_if(queue, [epoch](const Message& row) { return row->end == End::kNone && row->epoch <= epoch; });
    }
  }

 private:
  bool PairFronts(Outbox& out) {
    for (auto& queue : queues_) {
      if (queue.empty()) return false;
      if (queue.front()->end == End::kNone) continue;
      Message ending = std::move(queue.front());
      queue.pop_front();
      GiveEnding(std::move(ending), out);
      return true;
    }
    Message left = std::move(queues_[0].front());
    const Message right = std::move(queues_[1].front());
    for (auto& queue : queues_) queue.pop_front();
    left->columns[0] = BlockColumn(*Tensor::Scalar<int64_t>(ValueOf(*left, 0) * 1000 + ValueOf(*right, 0)));
    left->checkpoint.insert(left->checkpoint.end(), right->checkpoint.begin(), right->checkpoint.end());
    out.Give(std::move(left));
    return true;
  }
  void GiveEnding(Message ending, Outbox& out) {
    const uint64_t epoch = ending->epoch;
    const bool error = ending->end == End::kError;
    out.Give(std::move(ending));
    if (error) return;
    for (auto& queue : queues_) std::erase_if(queue, [epoch](const Message& row) { return row->epoch <= epoch; });
    for (int input : {0, 1}) out.FinishEpoch(input, epoch);
    epoch_ = epoch + 1;
  }

  uint64_t epoch_ = 0;
  std::deque<Message> queues_[2];
};

class Tap : public StreamOperator {
 public:
  explicit Tap(Probe* probe) : probe_(probe) {}
  void Start(uint64_t, absl::Span<const uint64_t>, const Checkpoint&) override {}
  void Receive(int /*input*/, Message message, Outbox& out) override {
    if (message->end == End::kEpoch) probe_->CountMark(message->epoch);
    out.Give(std::move(message));
  }

 private:
  Probe* const probe_;
};

ir::Declaration Declare(std::string name, ir::Role role, std::vector<Attribute> attributes, int inputs = 1) {
  ir::Declaration declaration;
  declaration.name = std::move(name);
  declaration.role = role;
  declaration.summary = "For tests.";
  declaration.min_inputs = declaration.max_inputs = inputs;
  declaration.attributes = std::move(attributes);
  declaration.python_module = "test";
  declaration.infer = ir::PassesSchema();
  return declaration;
}

Attribute Number(std::string name, int64_t value) {
  return {.name = std::move(name), .doc = "A number.", .default_value = std::to_string(value)};
}
Attribute Flag(std::string name) {
  return {.name = std::move(name), .type = AttributeType::kBool, .doc = "A flag.", .default_value = "False"};
}

absl::StatusOr<ir::Schema> SourceSchema(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  ir::Schema schema;
  schema.columns.push_back({"value", ir::ColumnType::Of(DType::kInt64, {})});
  if (attributes.Find("bytes") != nullptr && attributes.Int("bytes") > 0) {
    schema.columns.push_back({"data", ir::ColumnType::Of(DType::kUInt8, {attributes.Int("bytes")})});
  }
  return schema;
}

void OneCounter(const OpArguments& /*arguments*/, OperatorProperties& properties) {
  properties.checkpoint_counters = 1;
}

Cardinality UnknownRows(const OpArguments&, absl::Span<const Cardinality>) { return Cardinality::Unknown(); }

template <typename Made>
auto MakesRow(Made made) {
  return [made](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
    return made(arguments.attributes);
  };
}
template <typename Made>
auto MakesStream(Made made) {
  return [made](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
    return made(arguments.attributes);
  };
}

ir::Declaration SourceDeclaration(std::string name, std::vector<Attribute> attributes) {
  ir::Declaration declaration = Declare(std::move(name), ir::Role::kSource, std::move(attributes), 0);
  declaration.infer = SourceSchema;
  return declaration;
}

const OpRegistration kCount(
    SourceDeclaration("fake_count",
                      {Number("rows", 10), Number("bytes", 0), Flag("io"), Number("grows", 0), Number("run", 1)}),
    {.indexed_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       const auto number = [&](std::string_view name) { return static_cast<uint64_t>(arguments.attributes.Int(name)); };
       return std::make_unique<CountSource>(CountSource::Shape{number("rows"), number("grows"), number("run")},
                                            arguments.attributes.Int("bytes"), arguments.first_epoch);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           properties.traits = {.indexed = true, .file_io = arguments.attributes.Bool("io")};
         }});

const OpRegistration kStream(
    SourceDeclaration("fake_stream", {Number("rows", 10), Flag("python"), Flag("fail_start"), Number("fail", -1),
                                      Flag("goes_on"), Number("probe", 0)}),
    {.stream_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamSource>> {
       return std::make_unique<StreamedSource>(static_cast<uint64_t>(arguments.attributes.Int("rows")),
                                               &Probe::At(arguments.attributes.Int("probe")),
                                               arguments.attributes.Bool("fail_start"),
                                               arguments.attributes.Int("fail"), arguments.attributes.Bool("goes_on"));
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           properties.traits.python = arguments.attributes.Bool("python");
         }});

const OpRegistration kWork(
    Declare("fake_work", ir::Role::kRow,
            {Number("cost", 0),
             {.name = "fail", .type = AttributeType::kInts, .doc = "Those that fail.", .default_value = "()"},
             Flag("python"),
             Flag("copy"),
             Flag("lent"),
             Flag("light"),
             Flag("steady"),
             Number("probe", 0),
             Number("hold", -1)}),
    {.row = MakesRow([](const ir::Attributes& attributes) { return std::make_unique<Work>(attributes); }),
     .properties = [](const OpArguments& arguments, OperatorProperties& properties) {
       const ir::Attributes& attributes = arguments.attributes;
       properties.traits = {.one_to_one = true, .python = attributes.Bool("python"), .light = attributes.Bool("light")};
     }});

const OpRegistration kDrop(Declare("fake_drop", ir::Role::kRow, {Number("modulus", 2), Flag("light")}),
                           {.row = MakesRow([](const ir::Attributes& attributes) {
                              return std::make_unique<Drop>(attributes.Int("modulus"));
                            }),
                            .properties =
                                [](const OpArguments& arguments, OperatorProperties& properties) {
                                  properties.traits.light = arguments.attributes.Bool("light");
                                },
                            .cardinality = UnknownRows});

const OpRegistration kSplit(Declare("fake_split", ir::Role::kRow, {}),
                            {.row = MakesRow([](const ir::Attributes&) { return std::make_unique<SplitRows>(); }),
                             .properties =
                                 [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
                                   properties.checkpoint_counters = 1;
                                   properties.splits_messages = true;
                                 },
                             .cardinality = UnknownRows});

const OpRegistration kWindow(Declare("fake_window", ir::Role::kStream, {Number("rows", 3), Number("growth", 0)}),
                             {.stream = MakesStream([](const ir::Attributes& attributes) {
                                return std::make_unique<Window>(static_cast<uint64_t>(attributes.Int("rows")),
                                                                static_cast<uint64_t>(attributes.Int("growth")));
                              })});

const OpRegistration kTake(Declare("fake_take", ir::Role::kStream, {Number("count", 5)}),
                           {.stream = MakesStream([](const ir::Attributes& attributes) {
                              return std::make_unique<Take>(static_cast<uint64_t>(attributes.Int("count")));
                            }),
                            .properties = OneCounter});

const OpRegistration kRepeat(Declare("fake_repeat", ir::Role::kStream, {Number("count", 2)}),
                             {.stream = MakesStream([](const ir::Attributes& attributes) {
                                return std::make_unique<Repeat>(static_cast<uint64_t>(attributes.Int("count")));
                              }),
                              .properties = [](const OpArguments& arguments, OperatorProperties& properties) {
                                const auto passes = static_cast<uint64_t>(arguments.attributes.Int("count"));
                                properties.checkpoint_counters = 1;
                                properties.epochs = {.stride = passes, .runs = passes, .counter = 0};
                              }});

const OpRegistration kPair(Declare("fake_pair", ir::Role::kStream, {}, 2),
                           {.stream = MakesStream([](const ir::Attributes&) { return std::make_unique<Pair>(); })});

const OpRegistration kGroup(Declare("fake_group", ir::Role::kStream, {Number("rows", 3)}),
                            {.stream = MakesStream([](const ir::Attributes& attributes) {
                               return std::make_unique<GroupRows>(static_cast<int>(attributes.Int("rows")));
                             })});

ir::Declaration DeclareMixed() {
  ir::Declaration declaration = Declare("fake_mixed", ir::Role::kStream, {});
  declaration.traits.one_to_one = true;
  declaration.traits.by_position = true;
  return declaration;
}

const OpRegistration kMixed(DeclareMixed(), {.stream = MakesStream([](const ir::Attributes&) {
                                               return std::make_unique<Window>(3, 0);
                                             })});

ir::Declaration DeclareJoined() {
  ir::Declaration declaration = Declare("fake_joined", ir::Role::kStream, {Number("rows", 3)});
  declaration.traits.joins_rows = true;
  return declaration;
}

const OpRegistration kJoined(DeclareJoined(),
                             {.stream = MakesStream([](const ir::Attributes& attributes) {
                                return std::make_unique<GroupRows>(static_cast<int>(attributes.Int("rows")));
                              }),
                              .properties = [](const OpArguments& arguments, OperatorProperties& properties) {
                                properties.batch_rows = arguments.attributes.Int("rows");
                              }});

const OpRegistration kTap(Declare("fake_tap", ir::Role::kStream, {Number("probe", 0)}),
                          {.stream = MakesStream([](const ir::Attributes& attributes) {
                             return std::make_unique<Tap>(&Probe::At(attributes.Int("probe")));
                           })});

}  // namespace

Probe& Probe::At(int64_t number) {
  static std::mutex mutex;
  static auto* const probes = new std::map<int64_t, std::unique_ptr<Probe>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Probe>& probe = (*probes)[number];
  if (!probe) probe = std::make_unique<Probe>();
  return *probe;
}

void Probe::Reset() {
  running_.store(0);
  widest_.store(0);
  rows_.store(0);
  latest_epoch_.store(-1);
  held_.store(false);
  on_enter_ = nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = false;
  marks_.clear();
}

void Probe::Enter(uint64_t epoch) {
  RaiseTo(widest_, running_.fetch_add(1) + 1);
  rows_.fetch_add(1);
  RaiseTo(latest_epoch_, static_cast<int64_t>(epoch));
  if (on_enter_) on_enter_();
}

void Probe::WaitForRelease() {
  std::unique_lock<std::mutex> lock(mutex_);
  held_.store(true);
  released_.wait(lock, [this] { return open_; });
}

void Probe::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = true;
  released_.notify_all();
}

void Probe::CountMark(uint64_t epoch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  marks_.push_back(epoch);
}

std::vector<uint64_t> Probe::marks() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return marks_;
}

int64_t TakeMostLent() { return most_lent.exchange(lent.load()); }

uint32_t FakeGraph::Add(std::string_view op, const Given& attributes, std::vector<uint32_t> inputs) {
  const bool source = op == "fake_count" || op == "fake_stream";
  if (inputs.empty() && !source) inputs.push_back(static_cast<uint32_t>(graph_.nodes_size() - 1));
  ir::proto::Node* node = graph_.add_nodes();
  node->set_op(std::string(op));
  node->mutable_inputs()->Add(inputs.begin(), inputs.end());
  for (const auto& [name, value] : attributes) {
    ir::proto::Attribute* attribute = node->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
  node->mutable_location()->set_file("test.py");
  node->mutable_location()->set_line(graph_.nodes_size());
  return static_cast<uint32_t>(graph_.nodes_size() - 1);
}

ir::proto::Graph FakeGraph::Build() const {
  ir::proto::Graph graph = graph_;
  absl::Status status = ir::Canonicalize(graph);
  if (status.ok()) status = ir::Validate(graph);
  if (!status.ok()) {
    std::fprintf(stderr, "the test's graph is not valid: %s\n", DescribeError(status).c_str());
    std::abort();
  }
  return graph;
}

}  // namespace headrace
