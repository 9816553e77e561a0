#include "ir/passes.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/orders.h"
#include "ir/passes/commute_shuffle.h"
#include "ir/passes/drop_unread_columns.h"
#include "ir/passes/fold_constants.h"
#include "ir/passes/fuse_image.h"
#include "ir/passes/group_rows.h"
#include "ir/passes/inline_branches.h"
#include "ir/passes/insert_caches.h"
#include "ir/passes/merge_maps.h"
#include "ir/passes/push_down.h"
#include "ir/passes/remove_identities.h"
#include "ir/passes/split_maps.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

constexpr std::string_view kDropUnreadColumns = "drop_unread_columns";

bool Contains(absl::Span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckNames(absl::Span<const std::string> off) {
  std::vector<std::string> names;
  for (const Pass& pass : AllPasses()) names.push_back(pass.name);
  for (const std::string& name : off) {
    if (Contains(names, name)) continue;
    return GraphError("no pass \"", name, "\"", DidYouMean(name, names), " (passes: ", absl::StrJoin(names, ", "), ")");
  }
  return absl::OkStatus();
}

// The pass's graph, if its result still has the expected columns.
absl::StatusOr<proto::Graph> RunChecked(const Pass& pass, const proto::Graph& before) {
  HEADRACE_ASSIGN_OR_RETURN(Schema expected, ResultSchema(before));
  HEADRACE_ASSIGN_OR_RETURN(proto::Graph after, pass.run(before));
  HEADRACE_ASSIGN_OR_RETURN(Schema schema, ResultSchema(after));
  if (schema != expected) return InternalError("it changed the columns of the result");
  return after;
}

PassTrace RunTraced(const Pass& pass, bool off, proto::Graph& graph) {
  PassTrace trace;
  trace.name = pass.name;
  trace.before_text = trace.after_text = GraphDump(graph);
  trace.off = off;
  if (off) return trace;
  absl::StatusOr<proto::Graph> after = RunChecked(pass, graph);
  if (!after.ok()) {
    trace.problem = std::string(after.status().message());
    return trace;
  }
  trace.changed = SerializeGraph(*after) != SerializeGraph(graph);
  graph = *std::move(after);
  trace.after_text = GraphDump(graph);
  return trace;
}

}  // namespace

const std::vector<Pass>& AllPasses() {
  static const auto* passes = new std::vector<Pass>{
      {"fold_constants", "Computes constant subexpressions of filters once instead of for every row.", FoldConstants,
       "The evaluator that would run for every row computes the constants, so the result is the same; a subexpression "
       "that fails stays, as an error of a row. `and` and `or` with a constant side become the other side, or the "
       "constant if the other side would not be evaluated or cannot fail."},
      {"inline_branches", "Replaces choosers that leave no choice by the kernels that every row goes through.",
       InlineBranches,
       "RandomApply(…, p=1) is its kernels, RandomApply(…, p=0) nothing, and a RandomChoice of which one branch alone "
       "has a weight is that branch. The kernels keep their salts, so they draw as they would in the chooser."},
      {"remove_identities", "Removes what changes nothing: skip(0), a project of all columns, a cast to the same type.",
       RemoveIdentities,
       "Operators and kernels declare when they return their input unchanged. Takes and skips are removed only if they "
       "act on indices: elsewhere their counters are part of states. An operator that keeps two operators on indices "
       "apart is replaced by a project, so that rows are sharded among ranks at the same point. repeat(1) stays, as it "
       "changes the keys of rows."},
      {"split_maps",
       "Splits maps where Python, or the reading of files, begins and ends, so that kernels run on all workers.",
       SplitMaps,
       "A map that calls Python runs on threads of its own, one if the calls are in order. Its kernels before, between "
       "and after the functions become maps of their own, with the same steps in the same order and the same draws. "
       "The parts keep the name and the line of the map in messages and plans."},
      {"push_down", "Moves operators that drop rows and columns towards the source, so that less is computed.",
       PushDown,
       "take, skip and filter go below maps, filter below project, project and rename below maps and shuffles. A map "
       "gives one row for each row, at the same position and with the same identity, so rows and draws are the same. "
       "If a take would come to act on indices, a project prevents it, and ranks take the same rows as before. A "
       "filter does not pass a map that writes a column it reads, or that calls Python. Errors of rows that a filter "
       "or skip drops disappear with the work, because those rows are unused. With on_error(\"skip\") a filter passes "
       "no "
       "map, so that the same rows fail."},
      {"commute_shuffle", "Shuffles the inputs of maps, such as encoded images, instead of their results.",
       CommuteShuffle,
       "shuffle(window) orders rows by their positions, and a map changes none, so the order of the two may change. "
       "The shuffle stays above a Python function that is called in order, above unbatch, and above a map unless rows "
       "are known to be larger after it."},
      {std::string(kDropUnreadColumns),
       "Drops columns that nothing reads, and the steps that make them, as early as possible.", DropUnreadColumns,
       "Sources that can choose their columns choose fewer, steps whose outputs are unused are removed, and other "
       "unread columns are dropped where they first appear. Calls of Python stay, because of their side effects. "
       "Errors of columns that are no longer made disappear with them. With on_error(\"skip\") this pass runs first "
       "and "
       "always, whatever is switched off, so that the same rows fail."},
      {"merge_maps", "Merges neighbouring maps, so that a row passes through them at once.", MergeMaps,
       "The kernels are the same, in the same order, with the same draws. Maps that call Python in order stay "
       "separate, because each is a stage with a thread of its own, and so do maps with different caps on workers and "
       "maps that two operators use. Maps whose Python functions may be called in any order are merged with each "
       "other."},
      {"fuse_image",
       "Runs consecutive kernels on one image as one pass over its pixels: decodes only what the crops keep, and "
       "writes values straight into the result.",
       FuseImage,
       "A decode kernel, geometric kernels and pixel kernels are marked if they follow each other on one column, in "
       "branches of choosers as well: what is drawn for a row is fused with what is around it. Each still draws from "
       "its own stream, and the result has the bits of the kernels run one by one. If the fused pass "
       "fails, they run and report the error. Damage in a part of an image that no crop keeps goes unnoticed."},
      {"insert_caches",
       "Marks where rows may be kept for later epochs: before and after the steps that give the same in each epoch.",
       InsertCaches,
       "The engine chooses one of these cache points, or none, by the time and size of the first rows, the memory and "
       "the number of epochs; explain() says which. Cache points are in maps over sources with random access, up to "
       "the first step that draws or calls Python. There are none over the user's arrays, which may be written to, nor "
       "if there is a cache() above or below."},
      {"group_rows", "Lets light rows travel in groups, so that the cost of a message is paid once for many rows.",
       GroupRows,
       "Sources are marked; the engine measures the cost of a row in each stage and lets as many rows travel in a "
       "message as the slowest stage processes in 20 microseconds, up to 256 rows and 32 KiB; heavy rows, such as "
       "images, travel alone. Every operator gives the same result for rows in groups as for single rows. Below "
       "Python functions, caches and unbatch rows travel alone."},
  };
  return *passes;
}

absl::StatusOr<Optimized> Optimize(const proto::Graph& graph, absl::Span<const std::string> off) {
  HEADRACE_RETURN_IF_ERROR(CheckNames(off));
  Optimized result{graph, {}};
  // Where rows that fail are skipped, what is left out decides which rows fail: nothing may depend on settings. Columns
  // beside the values that an operator takes by number would all be read before the first row.
  const bool first = graph.has_skip_failed() || std::any_of(graph.nodes().begin(), graph.nodes().end(), TakesValues);
  const auto drops_columns = [](const Pass& pass) { return pass.name == kDropUnreadColumns; };
  for (const Pass& pass : AllPasses()) {
    if (first && drops_columns(pass)) result.trace.push_back(RunTraced(pass, false, result.graph));
  }
  for (const Pass& pass : AllPasses()) {
    if (first && drops_columns(pass)) continue;
    result.trace.push_back(RunTraced(pass, Contains(off, pass.name), result.graph));
  }
  return result;
}

}  // namespace headrace::ir
