#include <memory>
#include <utility>

#include "core/error.h"
#include "core/philox.h"
#include "core/stop_signal.h"
#include "ops/order/drawn_by_values.h"
#include "ops/order/drawn_order.h"
#include "ops/order/ordered_source.h"
#include "ops/order/values_by_number.h"

namespace headrace {
namespace {

DrawRows DrawFrom(Classes classes, uint64_t stream) {
  return [classes = std::move(classes), stream](uint64_t epoch, absl::Span<uint32_t> rows) {
    const uint64_t key = RowRandom::KeyOf(stream, epoch);
    for (uint64_t i = 0; i < rows.size(); ++i) {
      if (i % kDrawsAtOnce == 0 && StopSignal::Raised()) return;
      RowRandom random(key, i);
      const absl::Span<const uint32_t> members = classes.rows(random.Below(classes.count()));
      rows[i] = members[random.Below(members.size())];
    }
  };
}

absl::StatusOr<std::unique_ptr<RowOrder>> MakeClassBalanced(const OpArguments& arguments, const IndexedSource& input,
                                                            const IndexedSource& values) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<uint32_t> class_of, ReadClasses(arguments, input, values));
  const auto draws = [stream = RowRandom::StreamOf(arguments.seed, arguments.salt)](
                         absl::Span<const uint32_t> of_rows, const DrawnSize& /*size*/) -> absl::StatusOr<DrawRows> {
    Classes classes(of_rows);
    if (classes.count() == 0) return DataError("has no row to draw: the labels of all failed to be read");
    return DrawFrom(std::move(classes), stream);
  };
  return MakeOrderByValues<uint32_t>(arguments, input, std::move(class_of), {DrawnSizes(arguments), draws});
}

const OpRegistration class_balanced_registration(
    {
        .name = "ClassBalanced",
        .version = 2,
        .role = ir::Role::kStream,
        .summary = "Draws rows so that all classes come equally often.",
        .doc = "Each of the n draws takes one of the classes that occur, all equally likely, and one of its rows, all "
               "equally likely, whatever came before. Each epoch has new draws; a row that comes again in an epoch has "
               "random numbers of its own. Labels are by the rows' numbers in the order that the source has without "
               "shuffling; maps may stand between it and the source, and a column is one that the source gives, "
               "below them. Above another order, such as a sampler's, a list of labels is by the places in that order, "
               "and a column's labels follow their rows. A column is read anew for each iterator and for len(): of a "
               "listing no images are read, but "
               "of records every record, so give the labels there, as also over a source that calls Python.\n"
               "Errors: another number of labels than of rows; labels that are not single numbers or texts.",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = {DeclareDrawnRows(), DeclareValuesColumn(), DeclareFollowsRows()},
        .traits = {.random = true, .indexed = true, .light = true, .by_number = true},
        .python_module = "samplers",
        .python = {.parameters = "labels: Any = \"label\", n: int | None = None, *, seed: int | None = None, "
                                 "name: str | None = None",
                   .docs = {{"labels",
                             "The name of the column of the listing that has them, or a number or text for each row, "
                             "as a list or an array."},
                            {"n"},
                            {"seed"},
                            {"name"}}},
        .example = "ds.sample(hr.ClassBalanced(\"label\"))",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs)
            -> absl::StatusOr<ir::Schema> { return InferWithValues(attributes, inputs, "labels", true); },
        .reads = ReadsValues,
        .most_rows = MostDrawnRows,
    },
    OrderFactories(MakeClassBalanced, {.new_each_epoch = true, .of_any_size = true}));

}  // namespace
}  // namespace headrace
