// `CachedMap` is a map with an automatic cache: it stops at a point of its program to offer a row to the cache, and
// continues from there with a row that was found.
// Threads: Apply and ApplyRun from any thread.
#ifndef HEADRACE_OPS_MAP_CACHED_MAP_H_
#define HEADRACE_OPS_MAP_CACHED_MAP_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/cache/automatic_cache.h"
#include "engine/operator/operator.h"
#include "ops/map/map_operator.h"

namespace headrace {

class CachedMap : public RowOperator, public RunOperator {
 public:
  CachedMap(const OpArguments& arguments, MapProgram program);

  void Apply(Block& block) const override;
  bool takes_runs() const override { return map_.takes_runs(); }
  void ApplyRun(absl::Span<Block* const> blocks, absl::FunctionRef<void(size_t end)> done) const override;
  std::shared_ptr<RowCache> row_cache() const override { return cache_->rows(); }
  std::shared_ptr<AutomaticCache> automatic_cache() const override { return cache_; }
  std::shared_ptr<const RowWarnings> warnings() const override { return map_.warnings(); }
  std::shared_ptr<const WorkCounts> work_counts() const override { return map_.work_counts(); }

 private:
  // The work before a cache point, and after it.
  struct Halves {
    std::shared_ptr<const MapProgram::Part> first;
    std::shared_ptr<const MapProgram::Part> rest;
    std::vector<int> columns;  // of the row at the point
  };

  // Where the cache keeps no rows, and perhaps notes.
  void ApplyWithoutRows(Block& block) const;
  // Kernels keep notes of the row beside the cache.
  void SetNotes(const Block& block, int i, MapRow& row) const;
  // Makes a row that was not found.
  absl::Status Make(const AutomaticCache::Turn& turn, const Block& block, int i, MapRow& row) const;
  absl::Status MakeInHalves(const AutomaticCache::Turn& turn, const Block& block, int i, MapRow& row) const;
  absl::Status GoOn(const Block& block, int i, MapRow& row) const;

  const MapOperator map_;
  std::vector<Halves> halves_;  // one for each point
  const std::shared_ptr<AutomaticCache> cache_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_MAP_CACHED_MAP_H_
