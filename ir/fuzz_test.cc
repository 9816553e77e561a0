// Damaged graph files: whatever the bytes, reading and checking them gives a graph or an error.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "core/testing/rounds.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"
#include "ir/testing/take_in.h"

namespace headrace::ir {
namespace {

const int kMutations = Rounds(20'000, {.quick = 5'000, .sanitized = 5'000});
const int kRounds = Rounds(1'000, {.quick = 200, .sanitized = 200});

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

TEST(Fuzz, DamagedGraphsGiveAGraphOrAnError) {
  Mutator mutator;
  int read = 0;
  int valid = 0;
  std::vector<std::string> whole;
  for (int seed = 0; seed < 50; ++seed) whole.push_back(SerializeGraph(RandomGraph(seed)));
  for (int i = 0; i < kMutations; ++i) {
    const TakenIn taken = TakeIn(ParseGraph(mutator.Mutate(whole[i % whole.size()])));
    read += static_cast<int>(taken != TakenIn::kRefused);
    valid += static_cast<int>(taken == TakenIn::kValid);
  }
  // Damage that only the decoder sees would test little.
  EXPECT_GT(read, kMutations / 20);
  EXPECT_GT(valid, kMutations / 200);
  std::printf("HEADRACE-COUNT fuzz=%d\n", kMutations);
}

TEST(Fuzz, DamagedTextAndJsonGiveAGraphOrAnError) {
  Mutator mutator;
  for (int i = 0; i < kRounds; ++i) {
    const proto::Graph graph = RandomGraph(i % 20);
    TakeIn(ParseGraphText(mutator.Mutate(GraphToText(graph))));
    TakeIn(ParseGraphJson(mutator.Mutate(GraphToJson(graph))));
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
