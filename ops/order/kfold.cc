#include <memory>

#include "core/error.h"
#include "ops/order/drawn_part.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

// floor(rows · part / parts).
uint64_t Share(uint64_t rows, int64_t part, int64_t parts) {
  const auto product = static_cast<unsigned __int128>(rows) * static_cast<uint64_t>(part);
  return static_cast<uint64_t>(product / static_cast<uint64_t>(parts));
}

absl::StatusOr<std::unique_ptr<RowOrder>> MakeKfold(const OpArguments& arguments, uint64_t rows) {
  const int64_t k = arguments.attributes.Int("k");
  const int64_t fold = arguments.attributes.Int("fold");
  if (rows < static_cast<uint64_t>(k)) {
    return GraphError("k is ", k, ", but there are ", rows, " rows: some folds would hold out none");
  }
  return DrawPart(
      rows, arguments.seed,
      {.begin = Share(rows, fold, k), .end = Share(rows, fold + 1, k), .rest = !arguments.attributes.Bool("held_out")});
}

absl::StatusOr<ir::Schema> InferKfold(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  if (attributes.Int("fold") >= attributes.Int("k")) {
    return GraphError("fold is ", attributes.Int("fold"), " of ", attributes.Int("k"));
  }
  return inputs[0];
}

const OpRegistration kfold_registration(
    DrawnPartDeclaration({
        .name = "kfold",
        .summary = "Splits the rows into k folds for cross-validation.",
        .doc = "Returns k pairs of datasets: the rows for training, and those held out for validation. Each row is "
               "held out once: fold i holds out positions ⌊i·N/k⌋ to ⌊(i+1)·N/k⌋ − 1 of a permutation of the N rows "
               "that depends on the seed and N alone. Both keep the order of the source, and where the source is "
               "shuffled, each of them is. Over maps the rows are split below them.\n"
               "Errors: fewer rows than folds; an operator other than map, project and rename between it and a source "
               "with random access (with take, skip, concat and zip of unshuffled ones).",
        .attributes = {{.name = "k", .doc = "The number of folds.", .minimum = 2, .maximum = 10000},
                       SeedOfMembers(),
                       {.name = "fold", .doc = "Which of the folds.", .minimum = 0, .hidden = true},
                       {.name = "held_out",
                        .type = ir::AttributeType::kBool,
                        .doc = "The rows held out, rather than the others.",
                        .hidden = true}},
        .python = {.parameters = "k: int, seed: int = 0",
                   .docs = {{"k"}, {"seed"}},
                   .returns = "list[tuple[Dataset, Dataset]]"},
        .example = "ds.kfold(5)",
        .infer = InferKfold,
    }),
    OrderFactories(MakeKfold));

}  // namespace
}  // namespace headrace
