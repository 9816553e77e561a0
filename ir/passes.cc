#include "ir/passes.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "ir/passes/commute_shuffle.h"
#include "ir/passes/drop_unread_columns.h"
#include "ir/passes/fold_constants.h"
#include "ir/passes/fuse_image.h"
#include "ir/passes/group_rows.h"
#include "ir/passes/insert_caches.h"
#include "ir/passes/merge_maps.h"
#include "ir/passes/push_down.h"
#include "ir/passes/remove_identities.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

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

// The pass's graph where it still gives the columns it should.
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
      {"fold_constants", "Computes what filters say of constants alone once, and not for every row.", FoldConstants,
       "Constants in expressions are computed by the evaluator that would compute them for every row, so that the "
       "result is the same; what would be an error of a row stays. `and` and `or` with a constant side become the "
       "other side, or the constant where the other side would not be looked at or cannot fail."},
      {"remove_identities",
       "Leaves out what changes nothing: skip(0), a project of all columns, a cast to the same type.", RemoveIdentities,
       "Operators and kernels say themselves when they give what they get. Takes and skips go only where they act on "
       "indices: elsewhere their counters stand in states. What keeps two operators on indices apart leaves a project "
       "behind, so that rows are dealt to ranks where they were. repeat(1) stays, as it changes the keys of rows."},
      {"push_down", "Moves what drops rows and columns towards the source, so that less is computed.", PushDown,
       "take, skip and filter go below maps, filter below project, project and rename below maps and shuffles. A map "
       "gives one row for each, in the same place and with the same identity, so rows and draws are the same. Where a "
       "take would come to act on indices, a project keeps it from them, and ranks take what they took. A filter "
       "passes no map that writes what it reads, and none that calls Python. Errors of rows that a filter or skip "
       "drops go with the work: nobody reads them."},
      {"commute_shuffle", "Shuffles what maps are made from, such as encoded pictures, and not what they make.",
       CommuteShuffle,
       "shuffle(window) orders rows by their positions, and a map changes none, so one may come before the other. It "
       "stays above a Python function that is called in order, above unbatch, and where the rows are not known to be "
       "larger after the map."},
      {"drop_unread_columns", "Drops columns that nothing reads, and the steps that make them, as early as possible.",
       DropUnreadColumns,
       "Sources that can choose their columns choose fewer, steps whose outputs nobody reads go, and what is still "
       "unread is dropped where it comes up. Calls of Python stay, for what they do besides. Errors of what is not "
       "made "
       "any more go with it: nobody reads them."},
      {"merge_maps", "Makes neighbouring maps one, so that a row passes through them in one go.", MergeMaps,
       "The kernels are the same, in the same order, with the same draws. Maps that call Python in order stay apart, "
       "each being a stage with a thread of its own, and so do maps with other caps on workers and maps that two "
       "operators use. Maps whose Python functions may be called in any order become one with each other."},
      {"fuse_image",
       "Does what follows on one image in one pass over its pixels: decodes only what the crops leave, and writes "
       "values "
       "straight into their place.",
       FuseImage,
       "A decoder, kernels that move pixels and kernels that compute each value are marked where they follow each "
       "other "
       "on one column. Each still draws from its own stream, and the result has the bits of the kernels run one by "
       "one. "
       "Where the one pass fails, those say what is wrong. Damage in a part of a picture that no crop looks at goes "
       "unnoticed: nobody reads it."},
      {"insert_caches",
       "Marks where rows of several epochs may be kept: before and after the steps that give the same in each.",
       InsertCaches,
       "Whether a cache stands at one of the places, and at which, follows from what the first rows cost and take, "
       "from "
       "the memory and from the number of epochs; explain() says it. Places are in maps over sources with random "
       "access, "
       "up to the first step that draws or calls Python. There are none over arrays of the user's, which may be "
       "written "
       "to, nor where a cache was put by hand above or below."},
      {"group_rows",
       "Lets light rows travel together, so that what is paid for a message is paid for many rows at once.", GroupRows,
       "Sources are marked; the engine measures what a row costs each stage and lets as many travel in a message as "
       "the "
       "slowest stage does in 20 microseconds, up to 256 and 32 KiB: one alone where rows are heavy, as pictures are. "
       "Every operator gives the same for rows that come together as for rows that come alone. Below Python functions, "
       "caches and unbatch rows travel alone."},
  };
  return *passes;
}

absl::StatusOr<Optimized> Optimize(const proto::Graph& graph, absl::Span<const std::string> off) {
  HEADRACE_RETURN_IF_ERROR(CheckNames(off));
  Optimized result{graph, {}};
  for (const Pass& pass : AllPasses()) {
    result.trace.push_back(RunTraced(pass, Contains(off, pass.name), result.graph));
  }
  return result;
}

}  // namespace headrace::ir
