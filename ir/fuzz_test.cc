// Damaged graph files: whatever the bytes, reading and checking them gives a graph or an error.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/graph_hash.h"
#include "ir/passes.h"
#include "ir/testing/fake_ops.h"
#include "ir/validate.h"

namespace headrace::ir {
namespace {

#ifdef HEADRACE_SANITIZER
constexpr int kMutations = 20'000;
constexpr int kRounds = 500;
#else
constexpr int kMutations = 50'000;
constexpr int kRounds = 3'000;
#endif

class Mutator {
 public:
  std::string Mutate(std::string bytes) {
    const uint64_t changes = 1 + random_() % 4;
    for (uint64_t i = 0; i < changes; ++i) MutateOnce(bytes);
    return bytes;
  }

 private:
  void MutateOnce(std::string& bytes) {
    if (bytes.empty()) return;
    const size_t at = random_() % bytes.size();
    switch (random_() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random_());
        return;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random_() % 8)));
        return;
      case 2:
        bytes.erase(at, 1 + random_() % 8);
        return;
      case 3:
        bytes.insert(at, 1 + random_() % 4, static_cast<char>(random_()));
        return;
      case 4:
        bytes.insert(at, bytes.substr(random_() % bytes.size(), random_() % 64));
        return;
      default:
        // Small steps keep lengths and counts plausible, so that more of the damage passes the decoder.
        bytes[at] = static_cast<char>(bytes[at] + (random_() % 2 == 0 ? 1 : -1));
    }
  }

  std::mt19937_64 random_{20240607};
};

struct Reached {
  int parsed = 0;
  int valid = 0;
};

void Check(const std::string& bytes, Reached& reached) {
  absl::StatusOr<proto::Graph> graph = ParseGraph(bytes);
  if (!graph.ok()) return;
  ++reached.parsed;
  if (!Canonicalize(*graph).ok()) return;
  GraphDump(*graph);
  UserGraphHash(*graph);
  if (!Validate(*graph).ok()) return;
  ++reached.valid;
  ASSERT_TRUE(Optimize(*graph).ok());
  ASSERT_TRUE(ParseGraph(SerializeGraph(*graph)).ok());
}

TEST(Fuzz, DamagedGraphsGiveAGraphOrAnError) {
  Mutator mutator;
  Reached reached;
  std::vector<std::string> whole;
  for (int seed = 0; seed < 50; ++seed) whole.push_back(SerializeGraph(RandomGraph(seed)));
  for (int i = 0; i < kMutations; ++i) {
    ASSERT_NO_FATAL_FAILURE(Check(mutator.Mutate(whole[i % whole.size()]), reached));
  }
  // Damage that only the decoder sees would test little.
  EXPECT_GT(reached.parsed, kMutations / 20);
  EXPECT_GT(reached.valid, kMutations / 200);
  std::printf("HEADRACE-COUNT fuzz=%d\n", kMutations);
}

TEST(Fuzz, DamagedTextAndJsonGiveAGraphOrAnError) {
  Mutator mutator;
  for (int i = 0; i < kRounds; ++i) {
    const proto::Graph graph = RandomGraph(i % 20);
    std::array<absl::StatusOr<proto::Graph>, 2> both = {ParseGraphText(mutator.Mutate(GraphToText(graph))),
                                                        ParseGraphJson(mutator.Mutate(GraphToJson(graph)))};
    for (absl::StatusOr<proto::Graph>& damaged : both) {
      if (damaged.ok() && Canonicalize(*damaged).ok()) Validate(*damaged).IgnoreError();
    }
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", 2 * kRounds);
}

TEST(Fuzz, RandomBytesAndTextGiveAnError) {
  std::mt19937_64 random(3);
  for (int i = 0; i < kRounds; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_FALSE(ParseGraph(bytes).ok());
    EXPECT_FALSE(ParseGraphText(bytes).ok());
    EXPECT_FALSE(ParseGraphJson(bytes).ok());
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", 3 * kRounds);
}

}  // namespace
}  // namespace headrace::ir
