#include "engine/plan/cache_planner.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "engine/plan/cache_content.h"
#include "engine/plan/parameter_uses.h"
#include "engine/plan/plan_checks.h"

namespace headrace {
namespace {

// Whether the user's code chooses the order of the node, or of one below it.
bool AsksForOrder(const PlanNode& node) {
  return node.properties.asks_for_order ||
         std::any_of(node.inputs.begin(), node.inputs.end(), [](const auto& input) { return AsksForOrder(*input); });
}

}  // namespace

bool MayGroup(const PlanNode& node) {
  if (node.inputs.empty()) return node.arguments.node->grouped();
  return std::all_of(node.inputs.begin(), node.inputs.end(), [](const auto& input) { return MayGroup(*input); });
}

absl::StatusOr<PlannedCache> PlanOwnCache(const PlanNode& node, const PlanOptions& options) {
  const PlanNode& input = *node.inputs[0];
  // A cache in order keeps the order, too.
  const bool of_user = CallsPython(input) || (!node.row && AsksForOrder(input));
  if (!node.properties.keeps->folder.empty() && node.properties.keeps->version.empty() && of_user) {
    return ErrorAt(node, UnsupportedError("what a Python function gives cannot be kept between runs, as nothing tells "
                                          "when the function changes; give version=, a text that you change with it, "
                                          "or leave out directory=, or put the cache below the function"));
  }
  if (!node.properties.keeps->folder.empty() && ReadsFilesOfRows(input)) {
    return ErrorAt(node, UnsupportedError("the files that rows name cannot be kept between runs, as nothing tells when "
                                          "they change; leave out directory=, or read them with hr.Manifest, which "
                                          "looks up their sizes"));
  }
  const bool transparent = !node.properties.input_cycle.has_value();
  if (transparent && Draws(input, true)) {
    return ErrorAt(node, GraphError("a transparent cache would keep the random draws of one epoch for all: put it "
                                    "below the random steps, or leave out transparent"));
  }
  if (transparent && ReadsParameters(input)) {
    return ErrorAt(node,
                   GraphError("a transparent cache would keep the parameters' values of one epoch for all: put it "
                              "below the steps that read them, or leave out transparent"));
  }
  // The name of what it keeps holds them.
  const absl::Status values = ValuesInFirstEpoch(input).status();
  if (!values.ok()) return ErrorAt(node, values);
  PlannedCache cache;
  cache.kind = node.row ? PlannedCache::Kind::kByKey : PlannedCache::Kind::kInOrder;
  cache.folder = node.properties.keeps->folder;
  if (!node.row) return cache;
  const PlanNode& source = *SourceOfRows(input);
  // A rank meets only its own part of the rows, unless each epoch shuffles them anew.
  cache.rows = RowsOfRank(*source.indexed, transparent ? ShardAssignment() : options.shard);
  return cache;
}

std::optional<PlannedCache> PlanAutomaticCache(const PlanNode& node, const PlanOptions& options, EpochRange epochs) {
  const PlanNode* source = node.properties.cache_points.empty() ? nullptr : SourceOfRows(node);
  if (source == nullptr) return std::nullopt;
  PlannedCache cache;
  cache.kind = PlannedCache::Kind::kAutomatic;
  cache.light = !MayBeHeavy(node);
  const bool folder_named = !options.cache_folder.empty();
  const bool in_folder = folder_named && !ShufflesBelow(node);
  if (folder_named && !in_folder) cache.no_folder = "as a shuffle below would hold the rows read from it";
  if (!in_folder && MeetsRowsOnce(node, epochs, options.shard)) {
    cache.declined = Cat("as only one epoch is run",
                         folder_named ? Cat(", and the folder is left alone, ", cache.no_folder) : std::string());
  } else if (options.group > 1 && MayGroup(*source)) {
    cache.declined = "as iterate(group=…) sends rows together";
  }
  if (!cache.declined.empty()) return cache;
  if (in_folder) cache.folder = options.cache_folder;
  cache.rows = RowsThatCome(node, options.shard);
  return cache;
}

}  // namespace headrace
