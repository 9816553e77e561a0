#include "ir/testing/take_in.h"

#include <string>
#include <utility>

#include "core/testing/require.h"
#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ir/passes.h"
#include "ir/validate.h"

namespace headrace::ir {
namespace {

// Compares texts, in which all NaNs are equal.
bool IsSame(const absl::StatusOr<proto::Graph>& read, const std::string& text) {
  return read.ok() && GraphToText(*read) == text;
}

}  // namespace

TakenIn TakeIn(absl::StatusOr<proto::Graph> graph) {
  if (!graph.ok()) return TakenIn::kRefused;
  if (!Canonicalize(*graph).ok()) return TakenIn::kRead;
  GraphDump(*graph);
  ToDot(*graph);
  UserGraphHash(*graph);
  if (!Validate(*graph).ok()) return TakenIn::kRead;
  Require(Optimize(*graph).ok(), "a valid graph can be optimized");
  const std::string text = GraphToText(*graph);
  Require(IsSame(ParseGraph(SerializeGraph(*graph)), text), "a graph is what its bytes say");
  Require(IsSame(ParseGraphText(text), text), "a graph is what its text says");
  Require(IsSame(ParseGraphJson(GraphToJson(*graph)), text), "a graph is what its JSON says");
  return TakenIn::kValid;
}

}  // namespace headrace::ir
