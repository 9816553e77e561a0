// `ColumnHistory` tells what the operators below a kernel have done to a column, beyond its type: the order of an
// image's axes, how often its rows were joined in batches, whether its values are still 0 … 255, or were made
// 0 … 1. It is followed through the steps of maps, and by the columns' names through every other operator.
// Threads: plain values and pure functions.
#ifndef HEADRACE_IR_COLUMN_HISTORY_H_
#define HEADRACE_IR_COLUMN_HISTORY_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ir/declaration.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace::ir {

enum class ImageAxes {
  kUnknown,
  kChannelsLast,   // (H, W, C)
  kChannelsFirst,  // (C, H, W)
};

struct ColumnHistory {
  ImageAxes axes = ImageAxes::kUnknown;
  std::string axes_by = {};   // the kernel that shows or made the order
  int batches = 0;            // operators that joined its rows, less those that took them apart
  bool bytes_range = false;   // numbers of 0 … 255, of whatever type
  std::string units_by = {};  // the kernel that made numbers of 0 … 1 of it

  friend bool operator==(const ColumnHistory&, const ColumnHistory&) = default;
};

using ColumnHistories = std::map<std::string, ColumnHistory, std::less<>>;

// Returns the histories of the columns of a node other than a map, given its inputs' histories and its schema.
ColumnHistories HistoriesAfter(const proto::Node& node, absl::Span<const ColumnHistories* const> inputs,
                               const Schema& schema);
// Those of all nodes of a valid graph.
std::vector<ColumnHistories> HistoriesOf(const proto::Graph& graph, absl::Span<const Schema> schemas);
// Whether the column is known to hold batches.
bool HoldsBatches(const ColumnHistories& histories, std::string_view column);
// Applies a step to both: to the schema as ApplyStep does (ir/infer.h), whose error it gives with nothing changed.
absl::Status FollowStep(const proto::Step& step, Schema& schema, ColumnHistories& histories);
// Schema and histories with which each branch of a chooser begins, in place of those before it.
absl::Status EnterBranches(const Declaration& chooser, const proto::Step& step, Schema& schema,
                           ColumnHistories& histories);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_COLUMN_HISTORY_H_
