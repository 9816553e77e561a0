// The caches of one run, as its plan lists them: opened, given room and closed together.
// Thread contract: Open and Close from one thread, the others from any.
#ifndef HEADRACE_ENGINE_CACHE_RUN_CACHES_H_
#define HEADRACE_ENGINE_CACHE_RUN_CACHES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "engine/cache/automatic_cache.h"
#include "engine/cache/row_cache.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_node.h"

namespace headrace {

// That of the node's operator; null: it has none, or it is not opened yet.
std::shared_ptr<RowCache> CacheOf(const PlanNode& node);

class RunCaches {
 public:
  struct Use {
    MemoryAccount* account = nullptr;
    CacheShelf* shelf = nullptr;        // where rows wait before and after; null: nowhere
    absl::Span<const std::string> off;  // names of caches that keep nothing, as their files were found damaged
    // Rows that are read, and made, at once.
    double readers = 1;
    double workers = 1;
    CachePointChoice choose_point;
  };

  // `nodes` hold the operators of the plan.
  absl::Status Open(const PhysicalPlan& plan, absl::Span<PlanNode* const> nodes, const Use& use);
  void Close();
  // Operators hold so many bytes of the budget: leaves them room.
  void MakeRoom(int64_t held);
  // Those that the user put in first.
  std::vector<CacheReport> reports() const;

 private:
  absl::Status OpenOwn(const PhysicalPlan& plan, const PlannedCache& planned, const PlanNode& node, const Use& use);
  absl::Status OpenAutomatic(const PhysicalPlan& plan, const PlannedCache& planned, const PlanNode& node,
                             const Use& use);

  std::vector<std::shared_ptr<RowCache>> own_;
  std::vector<std::shared_ptr<AutomaticCache>> automatic_;
  int64_t granted_ = 0;  // of the budget
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_RUN_CACHES_H_
