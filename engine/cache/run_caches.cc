#include "engine/cache/run_caches.h"

#include <algorithm>
#include <utility>

#include "engine/plan/plan_checks.h"
#include "ir/type.h"

namespace headrace {

std::shared_ptr<RowCache> CacheOf(const PlanNode& node) {
  if (node.row) return node.row->row_cache();
  return node.stream ? node.stream->row_cache() : nullptr;
}

absl::Status RunCaches::Open(const PhysicalPlan& plan, absl::Span<PlanNode* const> nodes, const Use& use) {
  for (const PlannedCache& planned : plan.caches) {
    const PlanNode& node = *nodes[static_cast<size_t>(planned.op)];
    const absl::Status opened = planned.kind == PlannedCache::Kind::kAutomatic ? OpenAutomatic(plan, planned, node, use)
                                                                               : OpenOwn(plan, planned, node, use);
    if (!opened.ok()) return ErrorAt(node, opened);
  }
  return absl::OkStatus();
}

absl::Status RunCaches::OpenOwn(const PhysicalPlan& plan, const PlannedCache& planned, const PlanNode& node,
                                const Use& use) {
  const std::shared_ptr<RowCache> cache = CacheOf(node);
  own_.push_back(cache);
  if (std::find(use.off.begin(), use.off.end(), node.arguments.name) != use.off.end()) {
    cache->TurnOff("as its files were found damaged: this run makes every row anew, and the next one fills it again");
    return absl::OkStatus();
  }
  RowCache::Use rows{.account = use.account,
                     .budget = plan.memory - granted_,
                     .content = planned.content,
                     .rows = planned.rows,
                     .shelf = use.shelf};
  if (planned.kind == PlannedCache::Kind::kByKey) {
    rows.fits = [schema = node.arguments.output](absl::Span<const Tensor> row) { return ir::FitsSchema(schema, row); };
  }
  const absl::Status opened = cache->Open(rows);
  granted_ += cache->memory_limit();
  return opened;
}

absl::Status RunCaches::OpenAutomatic(const PhysicalPlan& plan, const PlannedCache& planned, const PlanNode& node,
                                      const Use& use) {
  if (planned.light && use.choose_point == nullptr) return absl::OkStatus();
  const std::shared_ptr<AutomaticCache> cache = node.row->automatic_cache();
  automatic_.push_back(cache);
  if (!planned.declined.empty()) {
    cache->Decline(planned.declined);
    return absl::OkStatus();
  }
  cache->LeaveFolder(planned.no_folder);
  AutomaticCache::Use rows;
  rows.rows.account = use.account;
  rows.rows.budget = plan.memory - granted_;
  rows.rows.content = planned.content;
  rows.rows.rows = planned.rows;
  rows.limits.folder = planned.folder;
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
