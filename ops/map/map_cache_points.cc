#include "ops/map/map_cache_points.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"

namespace headrace {

std::vector<int> ColumnsAtPoint(const OpArguments& arguments, size_t point) {
  const size_t columns = arguments.output.columns.size();
  const auto& steps = arguments.node->steps();
  const auto index = [&](const std::string& name) { return static_cast<size_t>(arguments.output.IndexOf(name)); };
  std::vector<bool> made(columns, false);
  std::fill_n(made.begin(), std::min(arguments.inputs[0].columns.size(), columns), true);
  for (size_t at = 0; at < point; ++at) {
    for (const std::string& column : steps[static_cast<int>(at)].outputs()) made[index(column)] = true;
  }
  std::vector<bool> read(columns, true);
  for (size_t at = static_cast<size_t>(steps.size()); at-- > point;) {
    for (const std::string& column : steps[static_cast<int>(at)].outputs()) read[index(column)] = false;
    for (const std::string& column : steps[static_cast<int>(at)].inputs()) read[index(column)] = true;
  }
  std::vector<int> held;
  for (size_t c = 0; c < columns; ++c) {
    if (made[c] && read[c]) held.push_back(static_cast<int>(c));
  }
  return held;
}

std::vector<CachePoint> CachePointsOf(const OpArguments& arguments) {
  std::vector<CachePoint> points;
  // The schema of the row after the steps before the point; columns of the result have the same index in both.
  ir::Schema schema = arguments.inputs[0];
  for (size_t point = 0; point < arguments.node->cache_points(); ++point) {
    const ir::proto::Step* before = point == 0 ? nullptr : &arguments.node->steps(static_cast<int>(point) - 1);
    if (before != nullptr && !ir::ApplyStep(*before, schema).ok()) return {};
    CachePoint described;
    described.after = before == nullptr ? "the source" : before->kernel();
    for (const int column : ColumnsAtPoint(arguments, point)) {
      described.types.columns.push_back(schema.columns[static_cast<size_t>(column)]);
      Append(described.columns, column, " ", arguments.output.columns[static_cast<size_t>(column)].name, ", ");
    }
    points.push_back(std::move(described));
  }
  return points;
}

}  // namespace headrace
