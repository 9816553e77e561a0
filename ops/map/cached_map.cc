#include "ops/map/cached_map.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "engine/cache/row_record.h"
#include "ir/graph.pb.h"
#include "ops/map/map_cache_points.h"

namespace headrace {
namespace {

// Copies columns that share the cache's memory, which must not be written to.
absl::Status CopyShared(absl::Span<const Tensor> found, const Block& block, MapRow& row) {
  for (size_t c = 0; c < row.columns.size(); ++c) {
    Tensor& column = row.columns[c];
    if (IsVariableLength(column.dtype())) continue;
    const bool shared = std::any_of(found.begin(), found.end(), [&](const Tensor& tensor) {
      return tensor.buffer().get() == column.buffer().get();
    });
    if (!shared) continue;
    OutputAllocator output(MapProgram::SlotOf(block, c));
    HEADRACE_ASSIGN_OR_RETURN(Tensor own, output.Allocate(column.dtype(), column.shape()));
    column.CopyTo(own.mutable_raw());
    column = std::move(own);
  }
  return absl::OkStatus();
}

}  // namespace

CachedMap::CachedMap(const OpArguments& arguments, MapProgram program)
    : map_(arguments.name, std::move(program)),
      cache_(std::make_shared<AutomaticCache>(arguments.name, CachePointsOf(arguments))) {
  for (size_t point = 0; point < cache_->points().size(); ++point) {
    halves_.push_back({map_.program().PartOf(0, point), map_.program().PartOf(point, map_.program().steps()),
                       ColumnsAtPoint(arguments, point)});
  }
}

void CachedMap::Apply(Block& block) const {
  if (cache_->rows() == nullptr) return ApplyWithoutRows(block);
  if (block.TakeFound()) {
    map_.ApplyToRows(block, [&](int i, MapRow& row) {
      SetNotes(block, i, row);
      return GoOn(block, i, row);
    });
    return;
  }
  map_.ApplyToRows(block, [&](int i, MapRow& row) {
    return map_.MakeCounted(block, i, row, [&](int at, MapRow& made) {
      SetNotes(block, at, made);
      return Make(cache_->TurnOf(block.KeyAtSource(at)), block, at, made);
    });
  });
}

void CachedMap::ApplyWithoutRows(Block& block) const {
  if (cache_->notes() == nullptr) return map_.Apply(block);
  if (block.rows() > 1 && map_.program().RunStacked(block)) return;
  map_.ApplyToRows(block, [&](int i, MapRow& row) {
    return map_.MakeCounted(block, i, row, [&](int at, MapRow& made) {
      SetNotes(block, at, made);
      return Make({}, block, at, made);
    });
  });
}

// A row that stops at a cache point ends the run before it. Kernels that leave notes may warn, and are in no runs.
void CachedMap::ApplyRun(absl::Span<Block* const> blocks, absl::FunctionRef<void(size_t end)> done) const {
  size_t begin = 0;
  const auto run_to = [&](size_t end) {
    if (begin == end) return;
    map_.ApplyRun(blocks.subspan(begin, end - begin), [&](size_t made) { done(begin + made); });
  };
  for (size_t i = 0; i < blocks.size() && cache_->rows() != nullptr; ++i) {
    Block& block = *blocks[i];
    const AutomaticCache::Turn turn = cache_->TurnOf(block.KeyAtSource(0));
    if (turn.point == AutomaticCache::kNoPoint) continue;
    run_to(i);
    map_.ApplyToRows(block, [&](int at, MapRow& row) { return Make(turn, block, at, row); });
    done(i + 1);
    begin = i + 1;
  }
  run_to(blocks.size());
}

void CachedMap::SetNotes(const Block& block, int i, MapRow& row) const {
  // What comes of a file that has changed is kept nowhere.
  row.notes = block.ids[i].changed ? nullptr : cache_->notes();
  row.notes_key = block.KeyAtSource(i);
}

absl::Status CachedMap::Make(const AutomaticCache::Turn& turn, const Block& block, int i, MapRow& row) const {
  row.columns.resize(map_.program().columns());
  if (turn.point != AutomaticCache::kNoPoint) return MakeInHalves(turn, block, i, row);
  return map_.program().Run(map_.program().all(), block, i, true, row);
}

// Stops at the cache point to keep the row, or to measure.
absl::Status CachedMap::MakeInHalves(const AutomaticCache::Turn& turn, const Block& block, int i, MapRow& row) const {
  const MapProgram& program = map_.program();
  const Halves& halves = halves_[static_cast<size_t>(turn.point)];
  const auto start = row.columns;
  const uint64_t below_ns = block.MadeNsEach();
  const uint64_t started = NowNs();
  if (!program.Run(*halves.first, block, i, false, row).ok()) {
    // A row that fails here may succeed if only part of an image is looked at.
    row.columns = start;
    if (turn.measured) cache_->Add(turn.point, std::nullopt);
    return program.Run(program.all(), block, i, true, row);
  }
  const uint64_t halfway = NowNs();
  std::vector<Tensor> held;
  for (const int column : halves.columns) held.push_back(row.columns[static_cast<size_t>(column)]);
  const size_t bytes = turn.measured ? RecordBytes(held) : 0;
  if (turn.kept && !block.ids[i].changed) {
    cache_->Offer(block.KeyAtSource(i), turn.point, std::move(held), below_ns + halfway - started);
  }
  const uint64_t restarted = NowNs();
  absl::Status status = program.Run(*halves.rest, block, i, true, row);
  if (!turn.measured) return status;
  const AutomaticCache::Sample sample{below_ns, NowNs() - restarted, bytes};
  cache_->Add(turn.point, status.ok() ? std::make_optional(sample) : std::nullopt);
  return status;
}

// Continues from the point at which the row was kept.
absl::Status CachedMap::GoOn(const Block& block, int i, MapRow& row) const {
  std::vector<Tensor> found(std::make_move_iterator(row.columns.begin()), std::make_move_iterator(row.columns.end()));
  const int point = cache_->PointOfFound(found);
  if (point == AutomaticCache::kNoPoint || found.size() != halves_[static_cast<size_t>(point)].columns.size()) {
    return InternalError("a row was kept for another map");
  }
  const Halves& halves = halves_[static_cast<size_t>(point)];
  row.columns.assign(map_.program().columns(), Tensor());
  for (size_t c = 0; c < found.size(); ++c) row.columns[static_cast<size_t>(halves.columns[c])] = found[c];
  HEADRACE_RETURN_IF_ERROR(map_.program().Run(*halves.rest, block, i, true, row));
  return CopyShared(found, block, row);
}

}  // namespace headrace
