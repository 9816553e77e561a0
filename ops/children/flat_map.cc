#include "ops/children/children_in_turn.h"

namespace headrace {
namespace {

// One row at a time, whose turn ends with its children: a turn that ended for another reason would be the same row's
// again.
constexpr int64_t kTurn = int64_t{1} << 30;

const OpRegistration flat_map_registration(
    {
        .name = "flat_map",
        .role = ir::Role::kStream,
        .summary = "Gives the rows that a Python function makes of each row: any number of them, or none.",
        .doc = "The function gets the columns of one row as map's functions do, and gives an iterable of rows, which "
               "may differ in shape, never a dataset. They have the output columns alone. A row's key is that of the "
               "row it is made of, mixed with its number among those.\n"
               "Rows are asked for as they are needed, a few at a time, so that a generator may be long, or endless "
               "below take; one that is left early is closed. A row for which the function fails gives the rows before "
               "the error. A restart calls the function again for the one row in which it stopped, and drops what that "
               "row had given.",
        .attributes = ChildrenAttributes({}),
        .traits = {.python = true, .ordered = true, .one_to_many = true},
        .python_module = "dataset",
        .python =
            {.parameters = "function: Callable[..., Any], columns: str | Sequence[str] | None = None, output: str | "
                           "Sequence[str] | None = None, *, types: Columns | None = None",
             .docs = {{"function",
                       "Gives the rows of one: an iterable, such as a list or a generator, of values for one output "
                       "column, otherwise of tuples in the order of `output`, or of dicts. If it has a parameter "
                       "`rng`, it gets a numpy.random.Generator for the row."},
                      {"columns", "The columns that it gets, in this order; None: all."},
                      {"output", "The columns that it gives; None: those that it gets."},
                      {"types",
                       "What it gives, where known: a dict from column to dtype, or to (dtype, shape), where None "
                       "stands for an axis in which rows differ. Rows are checked against it."}}},
        .example = "ds.flat_map(lambda image: [image, image[::-1]], \"image\")",
        .infer = InferMade,
        .reads = FunctionReads,
    },
    ChildrenFactories([](const ir::Attributes& /*attributes*/) { return Turns{1, kTurn}; }));

}  // namespace
}  // namespace headrace
