#include "engine/plan/cache_planner.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "engine/plan/cache_content.h"
#include "engine/plan/parameter_uses.h"
#include "engine/plan/plan_checks.h"
#include "io/files/file_system.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

// Whether the user's code chooses the order of the node, or of one below it.
bool AsksForOrder(const PlanNode& node) {
  return node.properties.asks_for_order ||
         std::any_of(node.inputs.begin(), node.inputs.end(), [](const auto& input) { return AsksForOrder(*input); });
}

// The user's cache nearest below the node; null: there is none between it and the source of its rows.
const PlanNode* OwnCacheBelow(const PlanNode& node) {
  for (const PlanNode* at = &node; !at->indexed; at = at->inputs[0].get()) {
    if (at->properties.keeps.has_value()) return at;
  }
  return nullptr;
}

// Those that are there.
std::vector<std::string> NoteFilesOf(const PlanNode& source) {
  std::vector<std::string> paths;
  source.indexed->AddNoteFiles(paths);
  const FileSystem& files = *source.arguments.run->files;
  const auto missing = [&](const std::string& path) {
    const absl::StatusOr<FileSystem::Located> located = files.Locate(path);
    return !located.ok() || located->files->far() != nullptr || !files.Stat(path).ok();
  };
  paths.erase(std::remove_if(paths.begin(), paths.end(), missing), paths.end());
  return paths;
}

// Whether neither the node nor any below it runs a second epoch, also not on the other side of the user's cache.
bool RunsOneEpoch(const PlanNode& node, EpochRange epochs) {
  for (const PlanNode* at = &node; epochs.first >= epochs.last; at = at->inputs[0].get()) {
    if (at->indexed) return true;
    epochs = {at->properties.epochs.FirstInput(epochs.first), at->properties.epochs.LastInput(epochs.last)};
  }
  return false;
}

PlannedCache::Notes GivenNotesOf(const PlannedCache& cache) {
  return cache.note_files.empty() ? PlannedCache::Notes::kNone : PlannedCache::Notes::kGiven;
}

// Where the user's own cache keeps the rows, notes of them may be kept: rows that it has no room for are made anew, and
// those above it in each epoch. `once`: no later epoch of this run would find them.
std::optional<PlannedCache> PlanNotesBeside(const PlanNode& own, const PlanOptions& options, bool once,
                                            PlannedCache cache) {
  if (cache.light || options.group > 1) return std::nullopt;
  cache.declined = Cat("as ", own.arguments.name, " keeps its rows");
  const std::string& folder = own.properties.keeps->folder;
  cache.folder = folder.empty() ? options.cache_folder : folder;
  cache.notes = once && cache.folder.empty() ? GivenNotesOf(cache) : PlannedCache::Notes::kKept;
  return cache;
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

std::optional<PlannedCache> PlanAutomaticCache(const PlanNode& node, const PlanOptions& options, EpochRange epochs,
                                               const PlanNode* above, NoteFilesOfSources& note_files) {
  const PlanNode* source = node.properties.cache_points.empty() ? nullptr : SourceOfRows(node);
  if (source == nullptr) return std::nullopt;
  PlannedCache cache;
  cache.kind = PlannedCache::Kind::kAutomatic;
  cache.light = !MayBeHeavy(node);
  if (!cache.light) {
    const auto [found, added] = note_files.try_emplace(source);
    if (added) found->second = NoteFilesOf(*source);
    cache.note_files = found->second;
  }
  if (const PlanNode* const own = above != nullptr ? above : OwnCacheBelow(node); own != nullptr) {
    return PlanNotesBeside(*own, options, RunsOneEpoch(node, epochs), std::move(cache));
  }
  const bool folder_named = !options.cache_folder.empty();
  const bool in_folder = folder_named && !ShufflesBelow(node);
  if (folder_named && !in_folder) cache.no_folder = "as a shuffle below would hold the rows read from it";
  if (!in_folder && MeetsRowsOnce(node, epochs, options.shard)) {
    cache.declined = Cat("as only one epoch is run",
                         folder_named ? Cat(", and the folder is left alone, ", cache.no_folder) : std::string());
    cache.notes = GivenNotesOf(cache);
  } else if (options.group > 1 && MayGroup(*source)) {
    cache.declined = "as iterate(group=…) sends rows together";
  }
  if (!cache.declined.empty()) return cache;
  if (in_folder) cache.folder = options.cache_folder;
  cache.rows = RowsThatCome(node, options.shard);
  return cache;
}

}  // namespace headrace
