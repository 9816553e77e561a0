// `RunCaches` holds the caches of one run, as its plan lists them, and opens, closes and gives memory to them together.
// Threads: Open and Close from one thread, the others from any.
#ifndef HEADRACE_ENGINE_CACHE_RUN_CACHES_H_
#define HEADRACE_ENGINE_CACHE_RUN_CACHES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "engine/cache/automatic_cache.h"
#include "engine/cache/given_notes.h"
#include "engine/cache/row_cache.h"
#include "engine/operator/row_warnings.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/prepared_graph.h"

namespace headrace {

// The cache of the node's operator. Null: the operator has none, or it is not open yet.
std::shared_ptr<RowCache> CacheOf(const PlanNode& node);

class RunCaches {
 public:
  struct Use {
    MemoryAccount* account = nullptr;
    CacheShelf* shelf = nullptr;        // keeps rows from one run to the next; null: none
    absl::Span<const std::string> off;  // names of caches that keep nothing, because their files are damaged
    // The number of rows that are read, and made, at the same time.
    double readers = 1;
    double workers = 1;
    CachePointChoice choose_point;
  };

  // `prepared` is what the plan was made of.
  absl::Status Open(const PhysicalPlan& plan, const PreparedGraph& prepared, const Use& use);
  void Close();
  // Operators hold so many bytes of the budget: shrinks automatic caches to leave room for them.
  void MakeRoom(int64_t held);
  // The user's caches first.
  std::vector<CacheReport> reports() const;
  // Of files of notes that cannot be used.
  const std::vector<std::shared_ptr<const RowWarnings>>& warnings() const { return warnings_; }

 private:
  // A cache of the plan, with what its rows are made of.
  struct PlannedUse {
    const PhysicalPlan& plan;
    const PlannedCache& cache;
    const ir::proto::Graph& graph;
    const PlanNode& node;
  };
  absl::Status OpenOwn(const PlannedUse& planned, const Use& use);
  absl::Status OpenAutomatic(const PlannedUse& planned, const Use& use);
  // Null: none came with the rows.
  std::shared_ptr<GivenNotes> GivenNotesOf(const PlannedUse& planned, const Use& use);

  std::vector<std::shared_ptr<RowCache>> own_;
  std::vector<std::shared_ptr<AutomaticCache>> automatic_;
  std::map<std::vector<std::string>, std::shared_ptr<GivenNotes>> given_;  // by the paths of their files
  std::vector<std::shared_ptr<const RowWarnings>> warnings_;
  int64_t granted_ = 0;  // bytes of the budget
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_RUN_CACHES_H_
