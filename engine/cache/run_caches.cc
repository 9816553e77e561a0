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

absl::Status RunCaches::OpenAutomatic(const PlannedUse& planned, const Use& use) {
  const auto& [plan, planned_cache, graph, node] = planned;
  if (planned_cache.light && use.choose_point == nullptr) return absl::OkStatus();
  const std::shared_ptr<AutomaticCache> cache = node.row->automatic_cache();
  automatic_.push_back(cache);
  if (!planned_cache.declined.empty()) {
    cache->Decline(planned_cache.declined);
    return absl::OkStatus();
  }
  cache->LeaveFolder(planned_cache.no_folder);
  AutomaticCache::Use rows;
  rows.rows.account = use.account;
  rows.rows.budget = plan.memory - granted_;
  rows.rows.content = ContentOfCachePoints(node, graph);
  rows.rows.rows = planned_cache.rows;
  rows.limits.folder = planned_cache.folder;
  rows.readers = use.readers;
  rows.workers = use.workers;
  rows.choose_point = use.choose_point;
  const absl::Status opened = cache->Open(rows);
  granted_ += cache->rows()->memory_limit();
  return opened;
}

void RunCaches::Close() {
  for (const auto& cache : own_) cache->Close();
  for (const auto& cache : automatic_) cache->Close();
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
