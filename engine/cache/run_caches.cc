#include "engine/cache/run_caches.h"

#include <algorithm>
#include <utility>

#include "engine/plan/cache_content.h"
#include "engine/plan/plan_checks.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace {

std::shared_ptr<RowCache> CacheOf(const PlanNode& node) {
  if (node.row) return node.row->row_cache();
  return node.stream ? node.stream->row_cache() : nullptr;
}

absl::Status RunCaches::Open(const PhysicalPlan& plan, const PreparedGraph& prepared, const Use& use) {
  for (const PlannedCache& cache : plan.caches) {
    const PlanNode& node = *prepared.nodes()[static_cast<size_t>(cache.op)];
    const PlannedUse planned{plan, cache, prepared.graph(), node};
    const bool automatic = cache.kind == PlannedCache::Kind::kAutomatic;
    const absl::Status opened = automatic ? OpenAutomatic(planned, use) : OpenOwn(planned, use);
    if (!opened.ok()) return ErrorAt(node, opened);
  }
  return absl::OkStatus();
}

absl::Status RunCaches::OpenOwn(const PlannedUse& planned, const Use& use) {
  const auto& [plan, planned_cache, graph, node] = planned;
  const std::shared_ptr<RowCache> cache = CacheOf(node);
  own_.push_back(cache);
  if (std::find(use.off.begin(), use.off.end(), node.arguments.name) != use.off.end()) {
    cache->TurnOff("as its files were found damaged: this run makes every row anew, and the next one fills it again");
    return absl::OkStatus();
  }
  RowCache::Use rows{.account = use.account,
                     .budget = plan.memory - granted_,
                     .content = ContentOf(node, graph, plan.seed, plan.shard),
                     .rows = planned_cache.rows,
                     .shelf = use.shelf};
  if (planned_cache.kind == PlannedCache::Kind::kByKey) {
    rows.fits = [schema = node.arguments.output](absl::Span<const Tensor> row) { return ir::FitsSchema(schema, row); };
  }
  const absl::Status opened = cache->Open(rows);
  granted_ += cache->memory_limit();
  return opened;
}

namespace {

// The part of the memory that notes alone may take: about a hundredth of the files' bytes is enough.
constexpr int64_t kNotesAlone = 8;

// The part of the memory that the keys of notes may take that came with the rows' files.
constexpr int64_t kKeysOfGiven = 16;

}  // namespace

std::shared_ptr<GivenNotes> RunCaches::GivenNotesOf(const PlannedUse& planned, const Use& use) {
  const std::vector<std::string>& paths = planned.cache.note_files;
  if (paths.empty()) return nullptr;
  std::shared_ptr<GivenNotes>& given = given_[paths];
  if (given != nullptr) return given;
  given = std::make_shared<GivenNotes>(*planned.node.arguments.run->files);
  const auto warnings = std::make_shared<RowWarnings>(planned.node.arguments.name, "note file");
  given->Open(
      paths,
      {.account = use.account, .memory = (planned.plan.memory - granted_) / kKeysOfGiven, .warnings = warnings.get()});
  warnings_.push_back(warnings);
  granted_ += given->memory_bytes();
  return given;
}

absl::Status RunCaches::OpenAutomatic(const PlannedUse& planned, const Use& use) {
  const auto& [plan, planned_cache, graph, node] = planned;
  if (planned_cache.light && use.choose_point == nullptr) return absl::OkStatus();
  const std::shared_ptr<AutomaticCache> cache = node.row->automatic_cache();
  automatic_.push_back(cache);
  if (!planned_cache.declined.empty()) cache->Decline(planned_cache.declined);
  if (!planned_cache.declined.empty() && planned_cache.notes == PlannedCache::Notes::kNone) return absl::OkStatus();
  cache->LeaveFolder(planned_cache.no_folder);
  AutomaticCache::Use rows;
  rows.notes = GivenNotesOf(planned, use);
  rows.rows.account = use.account;
  rows.rows.budget = plan.memory - granted_;
  rows.rows.content = ContentOfCachePoints(node, graph);
  rows.rows.rows = planned_cache.rows;
  rows.limits.folder = planned_cache.folder;
  rows.readers = use.readers;
  rows.workers = use.workers;
  rows.choose_point = use.choose_point;
  absl::Status opened;
  if (planned_cache.declined.empty()) {
    opened = cache->Open(rows);
  } else {
    const bool kept = planned_cache.notes == PlannedCache::Notes::kKept;
    cache->OpenForNotes(rows, kept ? rows.rows.budget / kNotesAlone : 0);
  }
  granted_ += cache->memory_limit();
  return opened;
}

void RunCaches::Close() {
  for (const auto& cache : own_) cache->Close();
  for (const auto& cache : automatic_) cache->Close();
  for (const auto& [paths, notes] : given_) notes->Close();
}

void RunCaches::MakeRoom(int64_t held) {
  for (const auto& cache : automatic_) cache->MakeRoom(held);
}

std::vector<CacheReport> RunCaches::reports() const {
  std::vector<CacheReport> reports;
  for (const auto& cache : own_) reports.push_back(cache->report());
  for (const auto& cache : automatic_) reports.push_back(cache->report());
  return reports;
}

}  // namespace headrace
