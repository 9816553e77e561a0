#include "ir/passes.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "ir/passes/drop_unread_columns.h"
#include "ir/passes/fuse_image.h"
#include "ir/passes/merge_maps.h"
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
      {"drop_unread_columns", "Drops columns that nothing reads, and the steps that make them, as early as possible.",
       DropUnreadColumns},
      {"merge_maps", "Makes neighbouring maps one, so that a row passes through them in one go.", MergeMaps},
      {"fuse_image",
       "Does what follows on one image in one pass over its pixels: decodes only what the crops leave, and writes "
       "values "
       "straight into their place.",
       FuseImage},
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
