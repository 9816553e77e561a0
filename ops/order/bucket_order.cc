// Forms batches of rows of similar length before they are read, so that ranks get whole batches.
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "engine/operator/positions.h"
#include "ops/order/epoch_slots.h"
#include "ops/order/values_by_number.h"
#include "ops/rows/length_buckets.h"

namespace headrace {
namespace {

// The bucket of each row, by number.
using BucketOfRow = std::vector<uint16_t>;

// The batches of an epoch, one after the other.
struct FormedBatches {
  std::vector<uint32_t> rows;  // positions in the input
  std::vector<uint32_t> ends;  // of each batch in them

  uint64_t count() const { return ends.size(); }
  uint32_t begin(uint64_t batch) const { return batch == 0 ? 0 : ends[batch - 1]; }
  size_t bytes() const { return (rows.capacity() + ends.capacity()) * sizeof(uint32_t); }
};

// As bucket_by_length forms them: a batch comes when it is full, the rest in the order of the buckets.
class BatchFormer {
 public:
  BatchFormer(const LengthBuckets& buckets, uint64_t rows) : buckets_(buckets), open_(buckets.count()) {
    formed_.rows.reserve(rows);
  }

  void Add(uint32_t row, size_t bucket) {
    open_[bucket].push_back(row);
    if (open_[bucket].size() == static_cast<size_t>(buckets_.SizeOf(bucket))) Close(open_[bucket]);
  }
  FormedBatches Finish() && {
    for (std::vector<uint32_t>& rows : open_) {
      if (!rows.empty()) Close(rows);
    }
    formed_.ends.shrink_to_fit();
    return std::move(formed_);
  }

 private:
  void Close(std::vector<uint32_t>& rows) {
    formed_.rows.insert(formed_.rows.end(), rows.begin(), rows.end());
    formed_.ends.push_back(static_cast<uint32_t>(formed_.rows.size()));
    rows.clear();
  }

  const LengthBuckets& buckets_;
  std::vector<std::vector<uint32_t>> open_;  // of each bucket
  FormedBatches formed_;
};

// Batch b has the positions from b * largest on, as many as its rows.
class BucketedSource : public IndexedSource {
 public:
  BucketedSource(std::unique_ptr<IndexedSource> input, LengthBuckets buckets, BucketOfRow bucket_of,
                 std::vector<Fingerprint> of_values)
      : input_(std::move(input)),
        buckets_(std::move(buckets)),
        largest_(static_cast<uint64_t>(buckets_.LargestSize())),
        bucket_of_(std::move(bucket_of)),
        of_values_(std::move(of_values)) {}

  // Before anything else: forms the batches of the run's first epoch.
  absl::Status Measure(uint64_t first_epoch) {
    HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch begun, Begin(first_epoch));
    first_size_ = begun.rows;
    return absl::OkStatus();
  }

  uint64_t size() const override { return first_size_; }

  IndexedProperties properties() const override {
    IndexedProperties properties = input_->properties();
    properties.begins = true;
    properties.run_length = largest_;
    properties.uneven_runs = true;
    return properties;
  }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    HEADRACE_ASSIGN_OR_RETURN(BegunEpoch begun, input_->Begin(epoch));
    HEADRACE_RETURN_IF_ERROR(CheckRows(begun.rows));
    rows_ = begun.rows;
    With(epoch, [&](const FormedBatches& formed) { begun.rows = formed.count() * largest_; });
    // Not all were formed.
    if (StopSignal::Raised()) return StopSignal::Error();
    epoch_ = epoch;
    return begun;
  }

  uint64_t RunRows(uint64_t first) const override {
    uint64_t rows = 0;
    With(epoch_, [&](const FormedBatches& formed) {
      const uint64_t batch = first / largest_;
      rows = formed.ends[batch] - formed.begin(batch);
    });
    return rows;
  }

  uint64_t numbers() const override { return input_->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    Find(epoch, positions);
    input_->FindNumbers(epoch, positions);
  }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    RowPosition of_input = wanted;
    Find(wanted.epoch, absl::MakeSpan(&of_input.position, 1));
    return input_->Read(of_input, block);
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    Positions of_input(wanted.positions.begin(), wanted.positions.end());
    Find(wanted.epoch, absl::MakeSpan(of_input));
    return input_->ReadRows({wanted.epoch, of_input, wanted.occurrence_keys}, block);
  }

  absl::Status CheckUnchanged() const override { return input_->CheckUnchanged(); }

  void StartRows(const RowPositions& wanted) const override {
    Positions of_input(wanted.positions.begin(), wanted.positions.end());
    Find(wanted.epoch, absl::MakeSpan(of_input));
    input_->StartRows({wanted.epoch, of_input});
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    Find(epoch, absl::MakeSpan(&position, 1));
    input_->Identify(epoch, position, id, provenance);
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    input_->AddFingerprints(fingerprints);
    fingerprints.insert(fingerprints.end(), of_values_.begin(), of_values_.end());
  }
  void AddNoteFiles(std::vector<std::string>& paths) const override { input_->AddNoteFiles(paths); }

  // Positions are counted in batches of the largest size.
  static absl::Status CheckRows(uint64_t rows) {
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    if (rows <= kMost) return absl::OkStatus();
    return UnsupportedError("forms batches of at most ", kMost, " rows; there are ", rows);
  }

 private:
  FormedBatches Form(uint64_t epoch, uint64_t rows) const {
    BatchFormer former(buckets_, rows);
    std::vector<uint64_t> numbers;
    for (uint64_t first = 0; first < rows && !StopSignal::Raised(); first += numbers.size()) {
      numbers.resize(std::min<uint64_t>(rows - first, kAtOnce));
      std::iota(numbers.begin(), numbers.end(), first);
      input_->FindNumbers(epoch, absl::MakeSpan(numbers));
      for (size_t i = 0; i < numbers.size(); ++i) {
        former.Add(static_cast<uint32_t>(first + i), bucket_of_[numbers[i]]);
      }
    }
    return std::move(former).Finish();
  }

  // Begin, which comes first, says how many rows the epoch has.
  template <typename Use>
  void With(uint64_t epoch, Use use) const {
    batches_.With(epoch, [&] { return std::make_shared<const FormedBatches>(Form(epoch, rows_)); }, use);
  }

  void Find(uint64_t epoch, absl::Span<uint64_t> positions) const {
    With(epoch, [&](const FormedBatches& formed) {
      for (uint64_t& position : positions) {
        position = formed.rows[formed.begin(position / largest_) + position % largest_];
      }
    });
  }

  static constexpr uint64_t kAtOnce = 4096;

  const std::unique_ptr<IndexedSource> input_;
  const LengthBuckets buckets_;
  const uint64_t largest_;
  const BucketOfRow bucket_of_;
  const std::vector<Fingerprint> of_values_;
  uint64_t first_size_ = 0;
  // Of the epoch begun last:
  uint64_t epoch_ = 0;
  uint64_t rows_ = 0;
  mutable EpochSlots<FormedBatches> batches_;
};

// What forming takes: a bucket for each row by number; in each of two epochs a position for each row and an end for
// each batch, and once more while batches are open.
absl::Status CheckFits(uint64_t numbers, uint64_t rows, int64_t memory) {
  constexpr uint64_t kBytesOfRow = 2 * 2 * sizeof(uint32_t) + sizeof(uint32_t);
  const uint64_t room = static_cast<uint64_t>(memory) / 2;
  const uint64_t bytes = numbers * sizeof(BucketOfRow::value_type) + rows * kBytesOfRow;
  if (bytes <= room) return absl::OkStatus();
  return ResourceError("takes ", bytes, " bytes to form batches of ", rows, " rows, more than half of the budget of ",
                       memory, "; raise memory=, or leave length= out");
}

absl::StatusOr<BucketOfRow> ReadBuckets(const OpArguments& arguments, const LengthBuckets& buckets,
                                        const IndexedSource& values, uint64_t numbers) {
  if (values.size() != numbers) {
    return GraphError("needs a length for each of the ", numbers, " rows that the source has before take, select and ",
                      "samplers; got ", values.size());
  }
  BucketOfRow bucket_of;
  bucket_of.reserve(numbers);
  HEADRACE_RETURN_IF_ERROR(ReadEachNumber(arguments, values, [&](double length) -> absl::Status {
    constexpr double kMostLength = 1e15;
    if (!(length >= 0 && length <= kMostLength)) {
      return GraphError("has the length ", length, " for row ", bucket_of.size(), "; a length is a number from 0 to ",
                        "1e15");
    }
    bucket_of.push_back(static_cast<uint16_t>(buckets.Of(static_cast<int64_t>(length))));
    return absl::OkStatus();
  }));
  return bucket_of;
}

absl::Status CheckInput(const IndexedProperties& input) {
  if (input.run_length > 1) {
    return GraphError("takes rows apart that the sampler below it gives in groups of ", input.run_length,
                      "; use batch there");
  }
  if (!input.asks_user) return absl::OkStatus();
  return UnsupportedError(
      "forms batches before an epoch is asked for, and the sampler below it is your own code; leave length= out");
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeBucketOrder(const OpArguments& arguments, IndexedSources inputs) {
  std::unique_ptr<IndexedSource> rows = std::move(inputs[0]);
  HEADRACE_RETURN_IF_ERROR(CheckInput(rows->properties()));
  HEADRACE_RETURN_IF_ERROR(BucketedSource::CheckRows(std::max(rows->size(), rows->numbers())));
  HEADRACE_RETURN_IF_ERROR(CheckFits(rows->numbers(), rows->size(), arguments.run->memory));
  LengthBuckets buckets(arguments.attributes);
  HEADRACE_ASSIGN_OR_RETURN(BucketOfRow bucket_of, ReadBuckets(arguments, buckets, *inputs[1], rows->numbers()));
  std::vector<Fingerprint> of_values;
  inputs[1]->AddFingerprints(of_values);
  auto source =
      std::make_unique<BucketedSource>(std::move(rows), std::move(buckets), std::move(bucket_of), std::move(of_values));
  HEADRACE_RETURN_IF_ERROR(source->Measure(arguments.first_epoch));
  return source;
}

absl::StatusOr<ir::Schema> InferBucketOrder(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_RETURN_IF_ERROR(LengthBuckets::Check(attributes));
  return InferWithValues(attributes, inputs, "lengths", false);
}

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = BucketAttributes();
  attributes.push_back(DeclareValuesColumn());
  return attributes;
}

const OpRegistration bucket_order_registration(
    {
        .name = "bucket_order",
        .role = ir::Role::kStream,
        .summary = "Gives rows in batches of similar length, formed before they are read.",
        .doc = "It stands for ds.bucket_by_length with length=, next to the source, and bucket_batch stands above. "
               "Its second input has the length of each row, by the row's number in the source. The batches are those "
               "that bucket_by_length would form of the rows in their order. They stay together: with shards, rank r "
               "gets the batches r, r + world, ….",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = Attributes(),
        .traits = {.indexed = true, .light = true},
        .python_module = "internal",
        .example = "ds.bucket_by_length(\"tokens\", [10, 50], [64, 16, 4], length=lengths)",
        .infer = InferBucketOrder,
        .reads = ReadsValues,
    },
    {.indexed = MakeBucketOrder});

}  // namespace
}  // namespace headrace
