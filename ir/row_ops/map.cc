#include "ir/declaration.h"

namespace headrace::ir {
namespace {

const DeclarationRegistration map_declaration({
    .name = "map",
    .role = Role::kRow,
    .summary = "Applies kernels, or Python functions, to columns of every row.",
    .doc = "Kernels run in the order given. A kernel of one input is applied to each of several columns with the "
           "same random draws, so that an image and its mask agree; a kernel or function of several inputs gets "
           "them all. Results replace the columns, or go to the output columns. Errors name the row.",
    .traits = {.one_to_one = true},
    .python_module = "dataset",
    .python = {.parameters =
                   "kernels: Kernels, columns: str | Target | Sequence[str | Target], output: str | "
                   "Sequence[str] | None = "
                   "None, *, ordered: bool | None = None, types: Columns | None = None, processes: "
                   "int = 0, worker_init: Callable[[int], Any] | None = None, seed_globals: bool | None "
                   "= None, workers: int | None = None, window: int | None = None, device: Literal[\"cuda\"] | None "
                   "= None",
               .docs = {{"kernels",
                         "A kernel or a Python function, or a list of them, applied one after the other. A "
                         "function gets the columns as arrays (byte strings as bytes, texts as str) and returns "
                         "one array, or a tuple of as many as there are output columns; if it has a parameter "
                         "`rng`, it gets a numpy.random.Generator for the row."},
                        {"columns",
                         "The column, or columns, that the first kernel reads. Masks, boxes and keypoints that "
                         "follow the image named before them are hr.mask(…), hr.boxes(…) and hr.keypoints(…)."},
                        {"output", "The columns for the results; None: they replace `columns`."},
                        {"ordered",
                         "Whether Python functions are called in row order; otherwise in any order. None: in "
                         "order, except in processes."},
                        {"types",
                         "What the Python function among the kernels gives, where known: a dict from column to "
                         "dtype, or to (dtype, shape): {\"x\": (\"float32\", (3, None))}. It becomes part of the "
                         "schema, rows are checked against it, and rows of a known shape are written straight into "
                         "their batch."},
                        {"processes",
                         "Worker processes that call the Python functions; 0: threads of this process call them. "
                         "Rows are the same. A function and what it refers to is sent to them once, when the run "
                         "begins; they never import the script."},
                        {"worker_init",
                         "Called in each process when a run begins to use it, with the process's number from 0: again "
                         "for each later run."},
                        {"seed_globals",
                         "Whether the generators of random, NumPy and torch are seeded for each row in the "
                         "processes; None: unless the function takes `rng`."},
                        {"workers",
                         "The most tasks of this map at once; None: the engine chooses, as all stages share the "
                         "cores. For functions with ordered=False, the threads that call them. Like `window` and "
                         "`processes` it is an option of the run: no row, state or saved graph depends on it. "
                         "Where the optimizer fuses maps, the smaller number holds."},
                        {"window",
                         "The results of this map that may wait for the next stage, one message each; None: the "
                         "engine chooses."},
                        {"device",
                         "\"cuda\": where batches end on a GPU, all steps of this map are done there, after the "
                         "copy, or it is an error that says which cannot. Elsewhere the host does them, with the same "
                         "bytes. None: those that can be are. An option of the run, as `workers` is."}}},
    .example = "ds.map([V.Decode(), V.Resize((8, 8))], \"image\")",
});

}  // namespace
}  // namespace headrace::ir
