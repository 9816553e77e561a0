#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/cache/row_cache.h"
#include "engine/operator/operator.h"
#include "io/files/file_system.h"
#include "ops/cache/stored_message.h"

namespace headrace {
namespace {

// For an indexed source and operators one to one with it: keeps each row by its key. The source looks here first. A
// transparent cache keeps the epochs of rows.
class KeyedCache : public RowOperator {
 public:
  KeyedCache(std::shared_ptr<RowCache> cache, const OpArguments& arguments, bool transparent)
      : cache_(std::move(cache)), run_(arguments.run), cycle_(arguments.epoch_cycle), transparent_(transparent) {}

  std::shared_ptr<RowCache> row_cache() const override { return cache_; }

  void Apply(Block& block) const override {
    if (!block.TakeFound()) OfferRows(block);
    if (transparent_) return;
    const uint64_t epoch = run_ == nullptr ? block.epoch : run_->DataEpoch(block.epoch);
    for (RowId& id : block.ids) id.epoch = RowEpochOf(epoch, cycle_);
  }

 private:
  void OfferRows(const Block& block) const {
    std::vector<Tensor> row;
    for (int i = 0; i < block.rows(); ++i) {
      if (block.ids[i].changed) continue;
      row.clear();
      for (const BlockColumn& column : block.columns) row.push_back(column.row(i));
      cache_->Offer(block.ids[i].key, row, block.MadeNsEach());
    }
  }

  const std::shared_ptr<RowCache> cache_;
  const RunOptions* const run_;  // null: it runs whole epochs
  const uint64_t cycle_;
  const bool transparent_;
};

// For any other input: the first whole epoch fills the cache, message by message, and later epochs are served from it.
// If the epoch does not fit, it keeps nothing and passes every epoch on.
class OrderedCache : public StreamOperator {
 public:
  OrderedCache(std::shared_ptr<RowCache> cache, const OpArguments& arguments)
      : cache_(std::move(cache)), name_(arguments.name), schema_(arguments.output), cycle_(arguments.epoch_cycle) {}

  std::shared_ptr<RowCache> row_cache() const override { return cache_; }
  void SetLastEpoch(uint64_t epoch) override { last_epoch_ = epoch; }

  void Start(uint64_t epoch, absl::Span<const uint64_t> /*counters*/, const Checkpoint& inputs) override {
    epoch_ = epoch;
    checkpoint_ = inputs;
    width_ = inputs.size();
    // An epoch resumed in its middle is not whole.
    whole_ = std::all_of(inputs.begin(), inputs.end(), [](uint64_t counter) { return counter == 0; });
    complete_ = ReadEnd();
    given_from_cache_ = complete_ && whole_;
  }

  bool needs_input() const override { return !given_from_cache_; }

  void Receive(int /*input*/, Message message, Outbox& out) override {
    if (given_from_cache_ || message->epoch < epoch_) return;
    epoch_ = message->epoch;
    whole_ &= message->end != End::kError && epoch_ >= finished_ && AsListed(*message);
    if (whole_ && !complete_ && (message->rows() > 0 || message->removed != nullptr)) Store(*message);
    const bool ends = message->end == End::kEpoch;
    checkpoint_ = message->checkpoint;
    for (RowId& id : message->ids) id.epoch = RowEpochOf(epoch_, cycle_);
    out.Give(std::move(message));
    if (ends) EndReceived(out);
  }

  bool has_pending_output() const override { return given_from_cache_ && epoch_ <= last_epoch_; }

  void Continue(Outbox& out) override {
    if (number_ == 0) ReleaseInput(out);
    if (epoch_ < finished_ || number_ == count_) {
      if (epoch_ < finished_) epoch_ = finished_ - 1;
      out.Give(MakeEndOfEpoch(epoch_, number_ == count_ ? end_checkpoint_ : checkpoint_));
      NextEpoch();
      return;
    }
    Message message = FindMessage();
    if (message == nullptr) {
      // All or nothing: if one message is missing, the others are useless.
      cache_->Discard();
      out.Give(MakeErrorMessage(epoch_, checkpoint_, DamagedCacheError(name_)));
      // Nothing follows a delivered error; if it is not delivered, the end-of-epoch marker follows.
      number_ = count_;
      return;
    }
    ++number_;
    checkpoint_ = message->checkpoint;
    out.Give(std::move(message));
  }

  void Finish(uint64_t epoch) override { finished_ = std::max(finished_, epoch + 1); }

 private:
  static bool AsListed(const Block& block) {
    return std::none_of(block.ids.begin(), block.ids.end(), [](const RowId& id) { return id.changed; });
  }

  // The key of the record with the number of messages of an epoch; written last.
  static constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();
  // Epochs that the input is told to skip at a time.
  static constexpr uint64_t kLeftOut = 1 << 16;

  // Null if the message is damaged or gone.
  Message FindMessage() const {
    std::vector<Tensor> tensors;
    if (!cache_->Find(number_, tensors)) return nullptr;
    return ReadMessage(std::move(tensors), schema_, width_, epoch_, RowEpochOf(epoch_, cycle_));
  }

  bool ReadEnd() {
    std::vector<Tensor> end;
    if (!cache_->on() || !cache_->Find(kEnd, end) || end.size() != 1) return false;
    const bool fits =
        end[0].dtype() == DType::kInt64 && end[0].rank() == 1 && end[0].dim(0) == 1 + static_cast<int64_t>(width_);
    if (!fits) return false;
    const int64_t* number = end[0].data<int64_t>();
    count_ = static_cast<uint64_t>(*number++);
    end_checkpoint_.assign(number, number + width_);
    return true;
  }

  void WriteEnd() {
    for (uint64_t i = 0; cache_->lasting() && i < count_; ++i) {
      if (!cache_->OnDisk(i)) return;
    }
    absl::StatusOr<Tensor> end = Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(1 + end_checkpoint_.size())});
    if (!end.ok() || !cache_->Flush()) return;
    int64_t* number = end->mutable_data<int64_t>();
    *number++ = static_cast<int64_t>(count_);
    std::copy(end_checkpoint_.begin(), end_checkpoint_.end(), number);
    cache_->Offer(kEnd, {*end}, 0);
  }

  void Store(const Block& block) {
    if (!cache_->on()) {
      whole_ = false;
      return;
    }
    const absl::StatusOr<std::vector<Tensor>> tensors = WriteMessage(block);
    if (tensors.ok() && cache_->Offer(number_++, *tensors, 0)) return;
    whole_ = false;
    cache_->TurnOff("as not all rows of an epoch fit into it: every epoch is made anew");
  }

  void EndReceived(Outbox& out) {
    if (whole_ && !complete_ && cache_->on()) {
      complete_ = true;
      count_ = number_;
      end_checkpoint_ = checkpoint_;
      WriteEnd();
    }
    given_from_cache_ = complete_;
    whole_ = true;
    NextEpoch();
    if (given_from_cache_) ReleaseInput(out);
  }

  void NextEpoch() {
    ++epoch_;
    number_ = 0;
    checkpoint_.assign(width_, 0);
  }

  void ReleaseInput(Outbox& out) const {
    const bool more = epoch_ < last_epoch_ && last_epoch_ - epoch_ > kLeftOut;
    out.FinishEpoch(0, more ? epoch_ + kLeftOut : last_epoch_);
  }

  const std::shared_ptr<RowCache> cache_;
  const std::string name_;
  const ir::Schema schema_;
  const uint64_t cycle_;
  size_t width_ = 0;  // counters of the checkpoint below
  uint64_t last_epoch_ = 0;
  uint64_t epoch_ = 0;
  uint64_t finished_ = 0;  // epochs below it are not needed
  uint64_t number_ = 0;    // index of the next message in the epoch
  bool whole_ = true;      // the epoch was received completely, from its start
  bool complete_ = false;  // the cache holds an epoch of `count_` messages
  bool given_from_cache_ = false;
  uint64_t count_ = 0;
  Checkpoint checkpoint_;  // after the last message given
  Checkpoint end_checkpoint_;
};

std::string FolderOf(const ir::Attributes& attributes) {
  return attributes.IsNone("directory") ? std::string() : attributes.Path("directory");
}

std::string VersionOf(const ir::Attributes& attributes) {
  return attributes.IsNone("version") ? std::string() : attributes.String("version");
}

std::shared_ptr<RowCache> MakeCache(const OpArguments& arguments, bool by_key) {
  const ir::Attributes& attributes = arguments.attributes;
  RowCache::Limits limits;
  if (!attributes.IsNone("memory")) limits.memory = attributes.Int("memory");
  limits.folder = FolderOf(attributes);
  if (!attributes.IsNone("disk")) limits.disk = attributes.Int("disk");
  return std::make_shared<RowCache>(arguments.name, by_key, std::move(limits));
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  if (attributes.IsNone("directory")) {
    if (!attributes.IsNone("disk")) return GraphError("disk is a budget for files, but there is no directory for them");
    if (!attributes.IsNone("version"))
      return GraphError("version tells files apart, but there is no directory for them");
  } else if (attributes.String("directory").empty()) {
    return GraphError("directory is empty; name a folder, or leave it out");
  } else {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("directory", attributes.Path("directory")));
  }
  if (!attributes.IsNone("version") && attributes.String("version").empty()) {
    return GraphError("version is empty; name the version of the functions below, or leave it out");
  }
  return inputs[0];
}

const OpRegistration cache_registration(
    {
        .name = "cache",
        .role = ir::Role::kStream,
        .summary = "Keeps the rows of its input, so that later epochs need not make them again.",
        .doc =
            "Its input runs as in epoch 0 in every epoch: operators below it draw once, operators above it draw anew "
            "in each epoch. A transparent cache changes no row and no order; below it, only the source's own shuffle "
            "may be random.\n"
            "Over a source with random access and maps (Range, Numpy, ImageFolder, Files; take, skip, concat, zip of "
            "them; map, project, rename) it keeps rows by their keys. If not all fit, it keeps a share of them, which "
            "the first rows settle; the others are made again each time. Over anything else it keeps the first whole "
            "epoch in its order, or nothing if that does not fit.\n"
            "Its memory counts in iterate(memory=), and its rows are kept for the next iterator of the same dataset "
            "object. Files in a directory last: later runs with the same operators, settings and data below find them.",
        .attributes =
            {{.name = "memory",
              .doc = "Memory in bytes; at most three quarters of iterate(memory=) are taken; None: half of it.",
              .default_value = "None",
              .nullable = true,
              .minimum = 0,
              .tuning = true},
             {.name = "directory",
              .type = ir::AttributeType::kString,
              .doc = "A folder for rows that later runs find again, and for rows that do not fit into memory; over "
                     "Python functions with a version alone.",
              .default_value = "None",
              .nullable = true,
              .tuning = true,
              .any_bytes = true},
             {.name = "disk",
              .doc = "The most bytes of the files; None: half of the free space there.",
              .default_value = "None",
              .nullable = true,
              .minimum = 0,
              .tuning = true},
             {.name = "transparent",
              .type = ir::AttributeType::kBool,
              .doc = "Let the input run its own epochs, so that shuffle=True of a source draws a new order in each; "
                     "only if rows are kept by key and no step below draws.",
              .default_value = "False"},
             {.name = "version",
              .type = ir::AttributeType::kString,
              .doc = "Of the Python functions and objects below, for files in the directory: change the text whenever "
                     "they would give other rows, as nothing else tells.",
              .default_value = "None",
              .nullable = true,
              .tuning = true}},
        .traits = {.one_to_one = true, .light = true, .single_row_messages = true},
        .python_module = "dataset",
        .python =
            {.parameters = "memory: int | str | None = None, directory: str | PathLike[str] | None = None, *, disk: "
                           "int | str | None = None, transparent: bool = False, version: str | None = None",
             .docs =
                 {{"memory",
                   "The most memory: bytes, or a text such as \"1GiB\"; at most three quarters of iterate(memory=) are "
                   "taken; None: half of it."},
                  {"directory"},
                  {"disk",
                   "The most bytes of the files: a number, or a text such as \"100GB\"; None: half of the free "
                   "space there."},
                  {"transparent"},
                  {"version"}}},
        .example = "ds.cache(\"1GiB\")",
        .infer = Infer,
        .reads = ir::PassesColumns(),
        .writes = [](const ir::Attributes& attributes) -> std::vector<std::string> {
          const std::string folder = FolderOf(attributes);
          if (folder.empty()) return {};
          return {Cat("rows in the folder ", folder)};
        },
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       if (arguments.attributes.Bool("transparent")) {
         return GraphError(
             "a transparent cache keeps rows by their keys, and needs a source with random access and "
             "only maps below it; put it lower, or leave out transparent");
       }
       return std::make_unique<OrderedCache>(MakeCache(arguments, false), arguments);
     },
     .keyed = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       return std::make_unique<KeyedCache>(MakeCache(arguments, true), arguments,
                                           arguments.attributes.Bool("transparent"));
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           properties.keeps = RowStorage{FolderOf(arguments.attributes), VersionOf(arguments.attributes)};
           // Below a cache that is not transparent every epoch has the rows of epoch 0.
           if (!arguments.attributes.Bool("transparent")) properties.input_cycle = 1;
         }});

}  // namespace
}  // namespace headrace
