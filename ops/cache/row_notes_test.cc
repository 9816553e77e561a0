// Notes that a kernel leaves of a row come back to the same step with the same row in later epochs, where a map has an
// automatic cache.
#include "core/row_notes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/planner.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/graph.pb.h"
#include "ir/passes/insert_caches.h"
#include "kernels/kernel.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;

std::mutex noting_mutex;
int calls_with_notes = 0;
std::vector<std::string> notes_found;
bool all_fit = true;

// Gives its input, and notes its own number and the row's.
class Noting : public UnaryKernel {
 public:
  explicit Noting(const ir::Attributes& attributes) : number_(attributes.Int("number")) {}
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    const std::lock_guard<std::mutex> lock(noting_mutex);
    RowNotes* const notes = context.notes();
    if (notes == nullptr) return input;
    ++calls_with_notes;
    const std::string own = Cat(number_, " ", input.value<int64_t>());
    std::string found;
    if (notes->Find("other key", found)) all_fit = false;
    if (notes->Find("row", found)) {
      notes->CountUse();
      notes_found.push_back(found);
      all_fit &= found == own;
    }
    notes->Leave("row", own);
    return input;
  }

 private:
  const int64_t number_;
};

const KernelRegistration row_notes_registration{
    {.name = "FakeNoting",
     .summary = "Notes what row it was given.",
     .doc = "Errors: none.",
     .attributes = {{.name = "number", .doc = "Its own."}},
     .python_module = "internal",
     .infer_kernel = [](const ir::Attributes&, absl::Span<const ir::ColumnType> inputs)
         -> absl::StatusOr<std::vector<ir::ColumnType>> { return std::vector{inputs[0]}; }},
    Makes<Noting>()};

void RunEpochs(bool with_caches, int point) {
  calls_with_notes = 0;
  notes_found.clear();
  all_fit = true;
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}, {"shuffle", ir::BoolValue(true)}});
  builder.Add("map", {0});
  builder.Step("FakeNoting", {"value"}, {"value"}, {{"number", IntValue(1)}});
  builder.Step("FakeNoting", {"value"}, {"value"}, {{"number", IntValue(2)}});
  RunSpec spec;
  spec.epochs = 3;
  spec.kept_point = point;
  const ir::proto::Graph graph = *builder.Build();
  const absl::StatusOr<Ran> ran = RunOnce(with_caches ? *ir::InsertCaches(graph) : graph, OptionsOf(spec));
  EXPECT_TRUE(ran.ok() && ran->error.ok()) << ran.status();
}

TEST(RowNotes, ComeBackWithTheRowToItsStep) {
  // Rows are kept before the first step: each epoch goes through both.
  RunEpochs(true, 0);
  EXPECT_EQ(calls_with_notes, 3 * 20 * 2);
  EXPECT_EQ(notes_found.size(), 2u * 20 * 2);
  EXPECT_TRUE(all_fit);
}

TEST(RowNotes, AreThereForRowsThatGoThroughSomeSteps) {
  // Rows are kept after the first step: later epochs go through the second.
  RunEpochs(true, 1);
  EXPECT_EQ(calls_with_notes, 20 * 2 + 2 * 20);
  EXPECT_EQ(notes_found.size(), 2u * 20);
  EXPECT_TRUE(all_fit);
}

TEST(RowNotes, AreNotThereWithoutAnAutomaticCache) {
  RunEpochs(false, -1);
  EXPECT_EQ(calls_with_notes, 0);
}

// The cache keeps the rows: at the one point before the first step nothing but notes is kept.
TEST(RowNotes, HaveAPlaceInMapsBesideTheUsersCache) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("map", {0});
  builder.Step("FakeNoting", {"value"}, {"value"}, {{"number", IntValue(1)}});
  builder.Add("cache", {1});
  builder.Add("map", {2});
  builder.Step("FakeNoting", {"value"}, {"value"}, {{"number", IntValue(2)}});
  const ir::proto::Graph marked = *ir::InsertCaches(*builder.Build());
  EXPECT_EQ(marked.nodes(1).cache_points(), 1u);
  EXPECT_EQ(marked.nodes(3).cache_points(), 1u);
}

// Rows that are cheap to make have no notes.
const KernelRegistration heavy_noting_registration{
    {.name = "FakeHeavyNoting",
     .summary = "As FakeNoting, for rows that the engine takes for images.",
     .doc = "Errors: none.",
     .attributes = {{.name = "number", .doc = "Its own."}},
     .traits = {.decodes = true},
     .python_module = "internal",
     .infer_kernel = [](const ir::Attributes&, absl::Span<const ir::ColumnType> inputs)
         -> absl::StatusOr<std::vector<ir::ColumnType>> { return std::vector{inputs[0]}; }},
    Makes<Noting>()};

// What the plan says of notes of a map beside the user's cache.
std::vector<PlannedCache::Notes> PlannedNotes(int64_t repeats, uint64_t epochs, const std::string& folder) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("cache", {0});
  builder.Add("repeat", {1}, {{"count", IntValue(repeats)}});
  builder.Add("map", {2});
  builder.Step("FakeHeavyNoting", {"value"}, {"value"}, {{"number", IntValue(1)}});
  RunSpec spec;
  spec.epochs = epochs;
  PipelineOptions options = OptionsOf(spec);
  options.cache_folder = folder;
  const auto prepared = PreparedGraph::Make(*ir::InsertCaches(*builder.Build()), options);
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  const absl::StatusOr<PhysicalPlan> plan = MakePlan(**prepared, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  std::vector<PlannedCache::Notes> notes;
  for (const PlannedCache& cache : plan->caches) {
    if (cache.kind == PlannedCache::Kind::kAutomatic) notes.push_back(cache.notes);
  }
  return notes;
}

TEST(RowNotes, AreKeptBesideTheUsersCacheWhereALaterEpochOrRunReadsThem) {
  using Notes = PlannedCache::Notes;
  EXPECT_EQ(PlannedNotes(1, 3, ""), std::vector{Notes::kKept});
  EXPECT_EQ(PlannedNotes(3, 1, ""), std::vector{Notes::kKept});
  EXPECT_EQ(PlannedNotes(1, 1, "/kept"), std::vector{Notes::kKept});
  EXPECT_EQ(PlannedNotes(1, 1, ""), std::vector{Notes::kNone});
}

int noted_source_asked = 0;
std::string noted_source_file;

// Notes came with its rows.
class NotedSource : public IndexedSource {
 public:
  uint64_t size() const override { return 20; }
  absl::Status Read(const RowPosition& /*wanted*/, Block& /*block*/) const override {
    return InternalError("no run reads it");
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& /*provenance*/) const override {
    id = {epoch, position, false};
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({"test_noted", 20, 20});
  }
  void AddNoteFiles(std::vector<std::string>& paths) const override {
    ++noted_source_asked;
    paths = {noted_source_file, noted_source_file + ".none"};
  }
};

const OpRegistration noted_source_registration(
    {.name = "test_noted",
     .role = ir::Role::kSource,
     .summary = "Has files of notes, for tests.",
     .min_inputs = 0,
     .max_inputs = 0,
     .python_module = "test",
     .infer = [](const ir::Attributes&, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
       ir::Schema schema;
       schema.columns.push_back({"value", ir::ColumnType::Of(DType::kInt64, {})});
       return schema;
     }},
    {.indexed_source = [](const OpArguments&) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       return std::make_unique<NotedSource>();
     },
     .properties = [](const OpArguments&, OperatorProperties& properties) { properties.traits = {.indexed = true}; }});

TEST(RowNotes, ThatCameWithTheFilesAreLookedForOnceForAllMaps) {
  const TemporaryFolder folder;
  noted_source_file = folder.path() + "/a.points";
  std::ofstream(noted_source_file) << "x";
  noted_source_asked = 0;
  GraphBuilder builder;
  builder.Add("test_noted", {});
  for (uint32_t at = 0; at < 6; at += 2) {
    builder.Add("map", {at});
    builder.Step("FakeHeavyNoting", {"value"}, {"value"}, {{"number", IntValue(at)}});
    builder.Add("test_counted", {at + 1});
  }
  RunSpec spec;
  spec.epochs = 1;
  const PipelineOptions options = OptionsOf(spec);
  ir::proto::Graph graph = *builder.Build();
  for (int map = 1; map < 6; map += 2) graph.mutable_nodes(map)->set_cache_points(1);
  const auto prepared = PreparedGraph::Make(std::move(graph), options);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const absl::StatusOr<PhysicalPlan> plan = MakePlan(**prepared, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->caches.size(), 3u);
  for (const PlannedCache& cache : plan->caches) {
    EXPECT_EQ(cache.note_files, std::vector{noted_source_file});
    EXPECT_EQ(cache.notes, PlannedCache::Notes::kGiven);
  }
  EXPECT_EQ(noted_source_asked, 1);
}

}  // namespace
}  // namespace headrace
