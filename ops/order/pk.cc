#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/philox.h"
#include "core/seeded_hash.h"
#include "core/stop_signal.h"
#include "ops/order/drawn_by_values.h"
#include "ops/order/drawn_order.h"
#include "ops/order/ordered_source.h"
#include "ops/order/values_by_number.h"

namespace headrace {
namespace {

struct GroupSize {
  uint64_t classes;
  uint64_t samples;
  uint64_t rows() const { return classes * samples; }
};

GroupSize GroupSizeOf(const ir::Attributes& attributes) {
  return {static_cast<uint64_t>(attributes.Int("classes")), static_cast<uint64_t>(attributes.Int("samples"))};
}

// Draws different numbers below `count`, at most so many: the first steps of a Fisher-Yates shuffle, of which it stores
// the numbers that moved alone.
class DifferentNumbers {
 public:
  DifferentNumbers(uint64_t count, RowRandom* random) : count_(count), random_(random) {}

  uint64_t Next() {
    const uint64_t chosen = drawn_ + random_->Below(count_ - drawn_);
    const uint64_t number = At(chosen);
    moved_[chosen] = At(drawn_++);
    return number;
  }

 private:
  uint64_t At(uint64_t place) const {
    const auto found = moved_.find(place);
    return found == moved_.end() ? place : found->second;
  }

  const uint64_t count_;
  RowRandom* const random_;
  uint64_t drawn_ = 0;
  std::unordered_map<uint64_t, uint64_t, SeededHash> moved_;
};

// The rows of one class in one group.
void DrawSamples(absl::Span<const uint32_t> members, RowRandom& random, absl::Span<uint32_t> samples) {
  const bool again = members.size() < samples.size();
  DifferentNumbers different(members.size(), &random);
  for (uint32_t& sample : samples) sample = members[again ? random.Below(members.size()) : different.Next()];
}

DrawRows DrawGroups(Classes classes, const GroupSize& size, uint64_t stream) {
  return [classes = std::move(classes), size, stream](uint64_t epoch, absl::Span<uint32_t> rows) {
    const uint64_t key = RowRandom::KeyOf(stream, epoch);
    for (uint64_t group = 0; group * size.rows() < rows.size(); ++group) {
      if (group % kDrawsAtOnce == 0 && StopSignal::Raised()) return;
      RowRandom random(key, group);
      DifferentNumbers numbers(classes.count(), &random);
      for (uint64_t i = 0; i < size.classes; ++i) {
        DrawSamples(classes.rows(numbers.Next()), random,
                    rows.subspan(group * size.rows() + i * size.samples, size.samples));
      }
    }
  };
}

std::function<absl::StatusOr<DrawnSize>(uint64_t rows)> SizesOf(const OpArguments& arguments) {
  std::optional<uint64_t> groups;
  if (!arguments.attributes.IsNone("groups")) groups = static_cast<uint64_t>(arguments.attributes.Int("groups"));
  return [groups, group = GroupSizeOf(arguments.attributes).rows(),
          memory = arguments.run->memory](uint64_t rows) -> absl::StatusOr<DrawnSize> {
    const uint64_t count = groups.value_or(rows / group);
    if (count > 0) {
      return DrawnSize{.positions = count * group, .input_rows = rows, .memory = memory, .run_length = group};
    }
    return GraphError("has ", rows, " rows, fewer than a group of ", group,
                      "; give the number of groups of an epoch with groups=");
  };
}

absl::StatusOr<std::unique_ptr<RowOrder>> MakePk(const OpArguments& arguments, const IndexedSource& input,
                                                 const IndexedSource& values) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<uint32_t> class_of, ReadClasses(arguments, input, values));
  const auto draws = [group = GroupSizeOf(arguments.attributes),
                      stream = RowRandom::StreamOf(arguments.seed, arguments.salt)](
                         absl::Span<const uint32_t> of_rows, const DrawnSize& /*size*/) -> absl::StatusOr<DrawRows> {
    Classes classes(of_rows);
    if (classes.count() >= group.classes) return DrawGroups(std::move(classes), group, stream);
    return GraphError("draws groups of ", group.classes, " different classes, but there are ", classes.count());
  };
  return MakeOrderByValues<uint32_t>(arguments, input, std::move(class_of), {SizesOf(arguments), draws});
}

std::optional<uint64_t> MostRowsPk(const ir::Attributes& attributes, absl::Span<const std::optional<uint64_t>> inputs) {
  if (attributes.IsNone("groups")) return inputs[0];
  return static_cast<uint64_t>(attributes.Int("groups")) * GroupSizeOf(attributes).rows();
}

constexpr int64_t kMost = 1 << 20;

const OpRegistration pk_registration(
    {
        .name = "PK",
        .role = ir::Role::kStream,
        .summary = "Draws groups of P different classes and K rows of each, as losses over pairs need them.",
        .doc =
            "Each group takes P of the classes that occur, every choice equally likely, and K rows of each: different "
            "ones, every choice equally likely, or, where a class has fewer than K, K independent draws of its rows. "
            "The rows of a class follow each other. A group depends on the seed, the operator, the epoch and the "
            "number of the group alone. A row that comes again in an epoch has random numbers of its own.\n"
            "Groups stay together: with shards, rank r gets the groups r, r + world, …. Between this and batch may "
            "stand maps, take and skip of whole groups, and concat of groups of the same size, in any order; the size "
            "of the batch is a multiple of P * K. Under on_error(\"skip\") a batch in which a row fails is given "
            "shorter, and takes no row of the next group.\n"
            "Labels are by the rows' numbers in the order that the source has without shuffling; maps may stand "
            "between it and the source, and a column is one that the source gives, below them. Above another order, "
            "such as a "
            "sampler's, a list of labels is by the places in that order, and a column's labels follow their rows. A "
            "column is read anew "
            "for each iterator and for len(): of a listing no images are read, but of records every record, so give "
            "the labels there, as also over a source that calls Python.\n"
            "Errors: fewer classes than P; fewer rows than a group, where `groups` is None; another number of labels "
            "than of rows; labels that are not single numbers or texts.",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = {{.name = "classes", .doc = "P, the classes of a group.", .minimum = 1, .maximum = kMost},
                       {.name = "samples", .doc = "K, the rows of a class in a group.", .minimum = 1, .maximum = kMost},
                       {.name = "groups",
                        .doc = "How many groups an epoch has; None: as many as there are rows for, rounded down.",
                        .default_value = "None",
                        .nullable = true,
                        .minimum = 1,
                        .maximum = kMost},
                       DeclareValuesColumn(),
                       DeclareFollowsRows()},
        .traits = {.random = true, .indexed = true, .light = true, .by_number = true},
        .python_module = "samplers",
        .python = {.parameters = "classes: int, samples: int, labels: Any = \"label\", groups: int | None = None, *, "
                                 "seed: int | None = None, name: str | None = None",
                   .docs = {{"classes"},
                            {"samples"},
                            {"labels",
                             "The name of the column of the listing that has them, or a number or text for each row, "
                             "as a list or an array."},
                            {"groups"},
                            {"seed"},
                            {"name"}}},
        .example = "ds.sample(hr.PK(classes=2, samples=2)).batch(4)",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs)
            -> absl::StatusOr<ir::Schema> { return InferWithValues(attributes, inputs, "labels", true); },
        .reads = ReadsValues,
        .most_rows = MostRowsPk,
    },
    OrderFactories(MakePk, {.new_each_epoch = true, .of_any_size = true}));

}  // namespace
}  // namespace headrace
