#include "ops/children/children_in_turn.h"

namespace headrace {
namespace {

constexpr int64_t kMostOpen = 1024;

Turns TurnsOf(const ir::Attributes& attributes) {
  return {static_cast<size_t>(attributes.Int("cycle")), attributes.Int("block")};
}

const OpRegistration interleave_registration(
    {
        .name = "interleave",
        .version = 2,
        .role = ir::Role::kStream,
        .summary = "Gives the rows that a Python function makes of each row, of several rows in turn.",
        .doc =
            "The function gives rows as that of flat_map does, and they get the same keys. `cycle` rows are open at a "
            "time: each in turn gives `block` of its rows, and a turn ends early if none is left. Then the next row "
            "takes its place when its turn comes again. The order is that of tf.data's interleave, whatever the number "
            "of workers.\n"
            "A state holds the open rows. Over random access and one-to-one maps a restart makes these alone again; "
            "over anything else it makes the rows from the oldest of them on again. It calls the function for the open "
            "ones alone, and drops what they had given.",
        .attributes = ChildrenAttributes({{.name = "cycle",
                                           .doc = "Rows that are open at a time.",
                                           .minimum = 1,
                                           .maximum = static_cast<double>(kMostOpen)},
                                          {.name = "block",
                                           .doc = "Rows that one gives in its turn.",
                                           .default_value = "1",
                                           .minimum = 1,
                                           .maximum = 1 << 30}}),
        .traits = {.python = true, .ordered = true, .one_to_many = true},
        .python_module = "dataset",
        .python = {.parameters =
                       "function: Callable[..., Any], cycle: int, block: int = 1, columns: str | Sequence[str] | "
                       "None = None, output: str | Sequence[str] | None = None, *, types: Columns | None = None",
                   .docs = {{"function", "Gives the rows of one, as that of flat_map does."},
                            {"cycle"},
                            {"block"},
                            {"columns", "The columns that it gets, in this order; None: all."},
                            {"output", "The columns that it gives; None: those that it gets."},
                            {"types", "As of flat_map."}}},
        .example = "ds.interleave(lambda image: [image, image[::-1]], 4, columns=\"image\")",
        .infer = InferMade,
        .reads = FunctionReads,
    },
    ChildrenFactories(TurnsOf));

}  // namespace
}  // namespace headrace
