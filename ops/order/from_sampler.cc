#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/text.h"
#include "ops/order/drawn_order.h"
#include "ops/order/epoch_table.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

// kResource if the table of an epoch, while it is made, would take more than half of the budget.
absl::Status CheckTableFits(uint64_t size, uint64_t input_rows, int64_t memory) {
  if (input_rows > std::numeric_limits<uint32_t>::max()) {
    return UnsupportedError("chooses from at most ", std::numeric_limits<uint32_t>::max(), " rows; there are ",
                            input_rows);
  }
  constexpr uint64_t kBytesEach = 2 * sizeof(uint32_t);
  const uint64_t room = static_cast<uint64_t>(memory) / 2;
  const uint64_t counters = BytesToCountOccurrences(size, input_rows);
  if (counters <= room && size <= (room - counters) / kBytesEach) return absl::OkStatus();
  return ResourceError("takes ", kBytesEach, " bytes for each of ", size, " rows of an epoch and ", counters,
                       " to count which come again, more than half of the budget; choose fewer, or raise memory= to ",
                       "twice their sum from ", memory, " bytes");
}

// The user's object, which is called once for each epoch.
class UserSampler {
 public:
  static absl::StatusOr<UserSampler> Of(const OpArguments& arguments) {
    UserSampler sampler;
    HEADRACE_ASSIGN_OR_RETURN(sampler.size_, FunctionOf(arguments, "size"));
    HEADRACE_ASSIGN_OR_RETURN(sampler.indices_, FunctionOf(arguments, "indices"));
    sampler.stream_ = RowRandom::StreamOf(arguments.seed, arguments.salt);
    return sampler;
  }

  absl::StatusOr<uint64_t> Size(uint64_t epoch) const {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor size, Call(*size_, epoch, nullptr));
    if (size.rank() != 0 || size.dtype() != DType::kInt64) {
      return GraphError("size(", epoch, ") of the sampler gave ", Given(size),
                        "; it must give a whole number of 64 bits");
    }
    const int64_t rows = size.value<int64_t>();
    if (rows > 0) return static_cast<uint64_t>(rows);
    return GraphError("size(", epoch, ") of the sampler gave ", rows, "; an epoch has at least one row");
  }

  absl::StatusOr<std::vector<uint32_t>> Indices(uint64_t epoch, uint64_t size, uint64_t input_rows) const {
    RowRandom random(RowRandom::KeyOf(stream_, epoch), 0);
    HEADRACE_ASSIGN_OR_RETURN(const Tensor given, Call(*indices_, epoch, &random));
    if (given.rank() != 1 || given.dtype() != DType::kInt64) {
      return GraphError("indices(", epoch, ", rng) of the sampler gave ", Given(given),
                        "; it must give row numbers as int64 along one axis");
    }
    if (static_cast<uint64_t>(given.dim(0)) != size) {
      return GraphError("indices(", epoch, ", rng) of the sampler gave ", given.dim(0), " rows, but size(", epoch,
                        ") says ", size);
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor numbers, given.Contiguous());
    const int64_t* const number = numbers.data<int64_t>();
    std::vector<uint32_t> rows(size);
    for (uint64_t i = 0; i < size; ++i) {
      if (number[i] < 0 || static_cast<uint64_t>(number[i]) >= input_rows) {
        return GraphError("indices(", epoch, ", rng) of the sampler gave ", number[i], " at ", i, ", but there are ",
                          input_rows, " rows, numbered from 0");
      }
      rows[i] = static_cast<uint32_t>(number[i]);
    }
    return rows;
  }

 private:
  static absl::StatusOr<std::shared_ptr<HostFunction>> FunctionOf(const OpArguments& arguments, std::string_view name) {
    const std::string& reference = arguments.attributes.ReferenceName(name);
    const auto found = arguments.run->bindings->functions.find(reference);
    if (found != arguments.run->bindings->functions.end()) return found->second;
    return GraphError("the sampler's ", reference,
                      " is not here: a graph that holds a sampler of yours runs only where it was built");
  }

  // A front end gives what is no tensor as a text that shows it.
  static std::string Given(const Tensor& given) {
    const bool shown = given.rank() == 0 && given.dtype() == DType::kString;
    return shown ? std::string(given.bytes_value()) : given.TypeName();
  }

  static absl::StatusOr<Tensor> Call(HostFunction& function, uint64_t epoch, RowRandom* random) {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor number, Tensor::Scalar(epoch));
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> results, function.Call({&number, 1}, random, output));
    if (results.size() != 1) return GraphError("the sampler gave ", results.size(), " arrays; it must give one");
    return std::move(results[0]);
  }

  std::shared_ptr<HostFunction> size_;
  std::shared_ptr<HostFunction> indices_;
  uint64_t stream_ = 0;
};

class UserOrder : public RowOrder {
 public:
  // `size`: of the run's first epoch.
  UserOrder(UserSampler sampler, uint64_t size, int64_t memory)
      : sampler_(std::move(sampler)), memory_(memory), size_(size) {}

  uint64_t size() const override { return size_; }
  bool recurs() const override { return true; }
  bool begins() const override { return true; }
  bool asks_user() const override { return true; }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch, uint64_t input_rows) override {
    HEADRACE_ASSIGN_OR_RETURN(size_, sampler_.Size(epoch));
    HEADRACE_RETURN_IF_ERROR(CheckTableFits(size_, input_rows, memory_));
    HEADRACE_ASSIGN_OR_RETURN(std::vector<uint32_t> rows, sampler_.Indices(epoch, size_, input_rows));
    const std::string_view bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(uint32_t));
    // 0 would mean that there is none.
    const uint64_t chosen = std::max<uint64_t>(1, HashBytes(bytes, size_));
    table_.reset();
    table_ = std::make_unique<EpochTable>(std::move(rows), input_rows);
    return BegunEpoch{size_, chosen};
  }

  void Find(uint64_t /*epoch*/, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    table_->Find(positions, occurrences);
  }

 private:
  const UserSampler sampler_;
  const int64_t memory_;
  uint64_t size_;
  std::unique_ptr<const EpochTable> table_;  // of the epoch begun last
};

absl::StatusOr<std::unique_ptr<RowOrder>> MakeFromSampler(const OpArguments& arguments, uint64_t rows) {
  if (rows == 0) return GraphError("its input has no rows to choose from");
  HEADRACE_ASSIGN_OR_RETURN(UserSampler sampler, UserSampler::Of(arguments));
  HEADRACE_ASSIGN_OR_RETURN(const uint64_t size, sampler.Size(arguments.first_epoch));
  const int64_t memory = arguments.run->memory;
  HEADRACE_RETURN_IF_ERROR(CheckTableFits(size, rows, memory));
  return std::make_unique<UserOrder>(std::move(sampler), size, memory);
}

const OpRegistration from_sampler_registration(
    {
        .name = "from_sampler",
        .role = ir::Role::kStream,
        .summary = "Gives rows in the order of a sampler of yours, or of one of torch's.",
        .doc =
            "A sampler of yours has two methods: `size(epoch)` gives the number of rows of an epoch, and "
            "`indices(epoch, rng)` their numbers, as int64 along one axis or a list of whole numbers, from 0 on, in "
            "any order, each any number of times. `rng` is a numpy.random.Generator that follows from the seed, the "
            "operator and the epoch; the result must follow from the two arguments alone. Both are called on a thread "
            "of the engine, once for each epoch, when it is asked for; `size` also on the caller's thread when an "
            "iterator starts and for len(). ds.sample(sampler) takes such an object as it is.\n"
            "Any other object with `__iter__` and `__len__`, such as torch's samplers, gives its numbers anew for each "
            "epoch, after `set_epoch(epoch)` where it has that; one thread at a time does so. One of torch's with an "
            "attribute `generator` is iterated as a copy with a generator that follows from `rng`, in place of its "
            "own. One that draws from torch's global generator in another way, such as a wrapper of another sampler, "
            "advances that generator and cannot be resumed.\n"
            "Numbers mean rows in the order that the source has without shuffling, or, above another sampler, a "
            "mixture, or take, skip, concat and zip of shuffled sources, the places of the rows in the epoch's order "
            "there; maps may stand between. A row that comes again in an epoch has random numbers of its own. A state "
            "holds a hash of the "
            "epoch's numbers: a restart for which the sampler gives others is refused.\n"
            "Errors: a size below 1; numbers of another type, shape or count, or outside of the rows below.",
        .attributes = {{.name = "size",
                        .type = ir::AttributeType::kReference,
                        .doc = "The function that gives the number of rows of an epoch.",
                        .referenced = ir::Referenced::kSamplerSize},
                       {.name = "indices",
                        .type = ir::AttributeType::kReference,
                        .doc = "The function that gives the numbers of the rows of an epoch.",
                        .referenced = ir::Referenced::kSamplerIndices}},
        .traits = {.random = true, .deterministic = false, .indexed = true, .light = true, .by_number = true},
        .python_module = "samplers",
        .python = {.parameters = "sampler: Any, *, seed: int | None = None, name: str | None = None",
                   .docs = {{"sampler",
                             "An object with size(epoch) and indices(epoch, rng), or one of torch's samplers."},
                            {"seed"},
                            {"name"}}},
        .example = "ds.sample(hr.from_sampler(range(9, 0, -1)))",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
    },
    OrderFactories(MakeFromSampler, {.new_each_epoch = true, .of_any_size = true}));

}  // namespace
}  // namespace headrace
