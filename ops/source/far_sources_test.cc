// Of sources over a far store: what they ask of it, what their states say, and how it is reached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "io/files/far_listings.h"
#include "io/files/file_system_registration.h"
#include "io/files/file_system_registry.h"
#include "io/files/storage_settings.h"
#include "io/files/testing/memory_store.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using Kind = MemoryStore::Kind;
using ir::StringsValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FarSourcesTest : public ::testing::Test {
 protected:
  FarSourcesTest() {
    registry_.Add("mem", &store_);
    registry_.Add("https", &store_);
    store_.Put("mem://b/cat/1.jpg", "one");
    store_.Put("mem://b/cat/2.jpg", "two");
    store_.Put("mem://b/dog/3.jpg", "three");
  }

  static ir::proto::Graph Files(const std::vector<std::string>& patterns) {
    GraphBuilder builder;
    builder.Add("Files", {}, {{"patterns", StringsValue(patterns)}});
    return builder.raw();
  }
  static ir::proto::Graph Folder(const std::string& root) {
    GraphBuilder builder;
    builder.Add("ImageFolder", {}, {{"root", StringValue(root)}});
    return builder.raw();
  }

  IterateOptions Options() {
    IterateOptions options;
    options.files = &registry_;
    options.pull = true;
    options.listings = listings_;
    return options;
  }

  // The rows' texts to the end, or the error.
  static std::vector<std::string> Run(const ir::proto::Graph& graph, const IterateOptions& options,
                                      absl::Status* error = nullptr) {
    std::vector<std::string> rows;
    absl::StatusOr<std::unique_ptr<Iteration>> iteration = Iteration::Start(graph, options);
    absl::Status status = iteration.status();
    ResultRow row;
    while (status.ok()) {
      const auto outcome = (*iteration)->Fetch(std::chrono::seconds(30), row);
      status = outcome.status();
      if (!status.ok() || *outcome != Pipeline::Outcome::kRow) break;
      rows.push_back(RowText((*iteration)->schema(), row.columns));
      (*iteration)->Given();
    }
    if (error != nullptr) {
      *error = status;
    } else {
      EXPECT_TRUE(status.ok()) << status;
    }
    return rows;
  }

  MemoryStore store_;
  FileSystemRegistry registry_{LocalFileSystem()};
  std::shared_ptr<FarListings> listings_ = std::make_shared<FarListings>();
};

TEST_F(FarSourcesTest, ListAPrefixOnceForADataSet) {
  const ir::proto::Graph graphs[] = {Files({"mem://b/**"}), Files({"mem://b/*/*.jpg"}), Folder("mem://b")};
  for (const ir::proto::Graph& graph : graphs) {
    listings_ = std::make_shared<FarListings>();
    store_.ForgetRequests();
    EXPECT_EQ(CountRows(graph, Options())->rows, 3u);
    EXPECT_TRUE(PlanRun(graph, Options()).ok());
    for (int epoch = 0; epoch < 2; ++epoch) EXPECT_EQ(Run(graph, Options()).size(), 3u);
    EXPECT_EQ(store_.count(Kind::kTreePage), 1);
    EXPECT_EQ(store_.count(Kind::kStat), 0);
    EXPECT_EQ(store_.count(Kind::kListPage), 0);
    EXPECT_EQ(store_.count(Kind::kRead) + store_.count(Kind::kReadRange), 6);
  }
}

TEST_F(FarSourcesTest, AskNothingOfHttpBeforeTheyRead) {
  store_.Put("https://h/0?a=[1];b", "zero");
  store_.Put("https://h/1?a=[1];b", "one");
  const auto rows = Run(Files({"https://h/{0..1}?a=[1];b"}), Options());
  EXPECT_THAT(rows, ElementsAre(HasSubstr("https://h/0?a=[1];b"), HasSubstr("https://h/1?a=[1];b")));
  EXPECT_EQ(store_.count(Kind::kStat), 0);
  EXPECT_EQ(store_.count(), 2);
}

// Each request to a store that is away takes as long as the engine's patience with it.
TEST_F(FarSourcesTest, AskAStoreThatIsAwayAboutOneFile) {
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) paths.push_back(Cat("mem://b/", i / 20, "/", i, ".jpg"));
  store_.set_before([](const MemoryStore::Request&) { return BeyondRow(ResourceError("the store is away")); });
  absl::Status error;
  EXPECT_TRUE(Run(Files(paths), Options(), &error).empty());
  EXPECT_EQ(KindOf(error), ErrorKind::kResource);
  EXPECT_EQ(store_.count(Kind::kListPage), 1);
  EXPECT_EQ(store_.count(Kind::kStat), 1);
}

TEST_F(FarSourcesTest, SplitListsOfPathsAtSemicolons) {
  EXPECT_EQ(Run(Files({"mem://b/cat/1.jpg;mem://b/dog/*"}), Options()).size(), 2u);
}

TEST_F(FarSourcesTest, GoOnFromAStateWhileVersionsAreEqual) {
  const ir::proto::Graph graph = Files({"mem://b/**"});
  std::string state;
  {
    auto iteration = *Iteration::Start(graph, Options());
    ResultRow row;
    ASSERT_EQ(*iteration->Fetch(std::chrono::seconds(30), row), Pipeline::Outcome::kRow);
    iteration->Given();
    state = *iteration->State();
  }
  IterateOptions options = Options();
  options.state = state;
  options.listings = nullptr;
  EXPECT_EQ(Run(graph, options).size(), 2u);
  store_.Put("mem://b/dog/3.jpg", "eerht");
  absl::Status error;
  Run(graph, options, &error);
  EXPECT_EQ(KindOf(error), ErrorKind::kState) << error;
}

TEST_F(FarSourcesTest, ReachAStoreByTheSettingsOfTheRun) {
  RegisterFileSystem("farrun", [](const StorageSettings& settings) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    auto store = std::make_unique<MemoryStore>();
    store->Put("farrun://b/a", Cat("of ", settings.endpoint, settings.region));
    return store;
  });
  const ir::proto::Graph graph = Files({"farrun://b/*"});
  StorageTable outer, inner;
  StorageSettings settings;
  settings.endpoint = "outer";
  outer.Set("farrun", settings);
  settings.endpoint = "inner";
  inner.Set("farrun://b", settings);
  IterateOptions options;
  options.pull = true;
  EXPECT_THAT(Run(graph, options), ElementsAre(HasSubstr("of ")));
  const StorageScope scope(outer);
  IterateOptions scoped;
  scoped.pull = true;
  EXPECT_THAT(Run(graph, scoped), ElementsAre(HasSubstr("of outer")));
  scoped.storage = std::make_shared<const StorageTable>(inner);
  EXPECT_THAT(Run(graph, scoped), ElementsAre(HasSubstr("of inner")));
  EXPECT_EQ(CountRows(graph, scoped)->rows, 1u);
}

TEST_F(FarSourcesTest, FailARowOfAFileThatChanged) {
  const ir::proto::Graph graph = Files({"mem://b/**"});
  auto iteration = *Iteration::Start(graph, Options());
  store_.Put("mem://b/cat/1.jpg", "another");
  ResultRow row;
  const auto outcome = iteration->Fetch(std::chrono::seconds(30), row);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(std::string(outcome.status().message()), HasSubstr("mem://b/cat/1.jpg: changed since it was listed"));
  iteration = nullptr;
  EXPECT_EQ(Run(graph, Options()).size(), 3u) << "the next run lists it again";
}

}  // namespace
}  // namespace headrace
