// Cache folders with files that are damaged, gone, or hostile after right checksums: rows are made again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/exec/iteration.h"
#include "engine/report/explain.h"
#include "io/files/testing/temporary_folder.h"
#include "io/records/crc32c.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/graph_builder.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::HasSubstr;

constexpr int64_t kRows = 30;

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".rows") files.push_back(entry.path().string());
  }
  return files;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Write(const std::string& path, std::string_view bytes) {
  // Not over the old one: the file may be open.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

// Shuffled, so that they are kept in their order and as a whole.
GraphBuilder OrderedDamagedCache(const std::string& folder) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(kRows)}});
  builder.Add("test_counted", {0});
  builder.Add("shuffle", {1}, {{"window", IntValue(7)}});
  builder.Add("cache", {2}, {{"directory", StringValue(folder)}, {"memory", IntValue(0)}});
  builder.Add("batch", {3}, {{"size", IntValue(4)}});
  return builder;
}

GraphBuilder Keyed(const std::string& folder) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(kRows)}});
  builder.Add("test_counted", {0});
  builder.Add("cache", {1}, {{"directory", StringValue(folder)}, {"memory", IntValue(0)}});
  builder.Add("batch", {2}, {{"size", IntValue(4)}});
  return builder;
}

IterateOptions EpochsDamagedCache(bool pull) {
  IterateOptions options;
  options.endless = true;
  options.pull = pull;
  return options;
}

// Values of three epochs; `at` is called before each batch with its number.
std::vector<int64_t> ValuesOf(const GraphBuilder& builder, bool pull,
                              const std::function<void(int, Iteration&)>& at = nullptr) {
  std::vector<int64_t> values;
  auto iteration = Iteration::Start(builder.raw(), EpochsDamagedCache(pull));
  EXPECT_TRUE(iteration.ok()) << iteration.status();
  if (!iteration.ok()) return values;
  (*iteration)->Ask(2);
  ResultRow row;
  for (int batch = 0, epochs = 0; epochs < 3; ++batch) {
    if (at) at(batch, **iteration);
    absl::StatusOr<Pipeline::Outcome> outcome = Pipeline::Outcome::kNothingYet;
    while (outcome.ok() && *outcome == Pipeline::Outcome::kNothingYet)
      outcome = (*iteration)->Fetch(kTestPatience, row);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) return values;
    epochs += *outcome == Pipeline::Outcome::kEpochEnd ? 1 : 0;
    if (*outcome != Pipeline::Outcome::kRow) continue;
    for (int64_t i = 0; i < row.columns[0].dim(0); ++i) values.push_back(row.columns[0].Index(i).value<int64_t>());
  }
  return values;
}

void FlipLast(const std::string& path, size_t before_end) {
  std::string bytes = Contents(path);
  bytes[bytes.size() - 1 - before_end % (bytes.size() - 16)] ^= 0x11;
  Write(path, bytes);
}

TEST(DamagedCache, MakesTheRowsOfAnEpochInOrderAgain) {
  const TemporaryFolder plain;
  const std::vector<int64_t> expected = ValuesOf(OrderedDamagedCache(plain / "kept"), true);
  ASSERT_EQ(expected.size(), static_cast<size_t>(3 * kRows));
  for (const bool pull : {true, false}) {
    for (size_t at = 0; at < 1500; at += pull ? 53 : 211) {
      const TemporaryFolder folder;
      const GraphBuilder builder = OrderedDamagedCache(folder / "kept");
      ValuesOf(builder, true);
      FlipLast(FilesOf(folder.path())[0], at);
      EXPECT_EQ(ValuesOf(builder, pull), expected) << at;
      EXPECT_EQ(ValuesOf(builder, pull), expected) << at;
      counted_rows = 0;
      EXPECT_EQ(ValuesOf(builder, pull), expected) << at;
      EXPECT_EQ(counted_rows, 0) << at << ": it is whole again";
    }
  }
}

TEST(DamagedCache, MakesTheRowsAgainWhereFilesGoMeanwhile) {
  const TemporaryFolder plain;
  const std::vector<int64_t> expected = ValuesOf(OrderedDamagedCache(plain / "kept"), true);
  for (const int when : {0, 3, 8, 13}) {
    const TemporaryFolder folder;
    const GraphBuilder builder = OrderedDamagedCache(folder / "kept");
    ValuesOf(builder, true);
    const auto remove = [&](int batch, Iteration&) {
      if (batch != when) return;
      // Cut, as it may be open.
      for (const std::string& path : FilesOf(folder.path())) std::filesystem::resize_file(path, 20);
    };
    EXPECT_EQ(ValuesOf(builder, true, remove), expected) << when;
    EXPECT_EQ(ValuesOf(builder, false, remove), expected) << when;
  }
}

TEST(DamagedCache, SaysSoAndRunsAnewNextTime) {
  const TemporaryFolder folder;
  const GraphBuilder builder = OrderedDamagedCache(folder / "kept");
  ValuesOf(builder, true);
  FlipLast(FilesOf(folder.path())[0], 700);
  ValuesOf(builder, true, [](int batch, Iteration& iteration) {
    if (batch == 0) {
      EXPECT_FALSE(iteration.Outdated());
    }
    if (batch < 20) return;
    EXPECT_TRUE(iteration.Outdated());
    EXPECT_THAT(ExplainRun(iteration.report()), HasSubstr("cache[3]: off, as its files were found damaged"));
  });
}

TEST(DamagedCache, GoesOnFromAStateAndOnManyRanks) {
  for (uint64_t rank = 0; rank < 2; ++rank) {
    const TemporaryFolder folder;
    const GraphBuilder builder = OrderedDamagedCache(folder / "kept");
    std::vector<std::vector<int64_t>> runs;
    for (const bool damaged : {false, true}) {
      if (damaged) FlipLast(FilesOf(folder.path())[0], 300);
      std::vector<int64_t> values;
      IterateOptions options = EpochsDamagedCache(true);
      options.rank = rank;
      options.world = 2;
      options.even = "drop";
      options.seed = 5;
      for (int part = 0; part < 2; ++part) {
        auto iteration = Iteration::Start(builder.raw(), options);
        ASSERT_TRUE(iteration.ok()) << iteration.status();
        (*iteration)->Ask(3);
        ResultRow row;
        for (int batch = 0; batch < 7;) {
          const auto outcome = (*iteration)->Fetch(kTestPatience, row);
          ASSERT_TRUE(outcome.ok()) << outcome.status();
          if (*outcome != Pipeline::Outcome::kRow) continue;
          ++batch;
          for (int64_t i = 0; i < row.columns[0].dim(0); ++i) {
            values.push_back(row.columns[0].Index(i).value<int64_t>());
          }
        }
        (*iteration)->Given();
        options.state = *(*iteration)->State();
      }
      runs.push_back(values);
    }
    EXPECT_EQ(runs[0], runs[1]);
  }
}

// Every record of the file, changed and sealed anew.
void Forge(const std::string& path, const std::function<void(uint64_t key, std::string& payload)>& change) {
  constexpr size_t kFileHead = 16;
  constexpr size_t kRecordHead = 32;
  const std::string bytes = Contents(path);
  std::string forged = bytes.substr(0, kFileHead);
  for (size_t at = kFileHead; at < bytes.size();) {
    std::string head = bytes.substr(at, kRecordHead);
    uint64_t key = 0;
    uint64_t length = 0;
    std::memcpy(&key, &head[8], 8);
    std::memcpy(&length, &head[16], 8);
    std::string payload = bytes.substr(at + kRecordHead, length);
    at += kRecordHead + length;
    change(key, payload);
    length = payload.size();
    const uint32_t checksum = Crc32c(payload.data(), payload.size());
    std::memcpy(&head[16], &length, 8);
    std::memcpy(&head[24], &checksum, 4);
    const uint32_t own = Crc32c(&head[8], kRecordHead - 8);
    std::memcpy(&head[4], &own, 4);
    forged += head + payload;
  }
  Write(path, forged);
  std::filesystem::remove(path.substr(0, path.size() - 5) + ".list");
}

TEST(DamagedCache, SurvivesHostileRecordsBehindRightChecksums) {
  const int rounds = Rounds(200, {.quick = 40, .sanitized = 40});
  std::mt19937_64 random(9);
  for (int round = 0; round < rounds; ++round) {
    const TemporaryFolder folder;
    const GraphBuilder builder = round % 2 == 0 ? OrderedDamagedCache(folder / "kept") : Keyed(folder / "kept");
    const std::vector<int64_t> expected = ValuesOf(builder, true);
    for (const std::string& path : FilesOf(folder.path())) {
      Forge(path, [&](uint64_t, std::string& payload) {
        for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
          const size_t words = payload.size() / 8;
          const size_t at = random() % words * 8;
          const uint64_t number = random() % 3 == 0 ? random() % 4 : random() >> random() % 64;
          std::memcpy(&payload[at], &number, 8);
        }
        if (random() % 4 == 0) payload.resize(random() % (payload.size() + 100));
      });
    }
    // What rows hold is believed; how many there are and of what type is not.
    EXPECT_GE(ValuesOf(builder, true).size(), round % 2 == 0 ? size_t{0} : expected.size());
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", rounds);
}

}  // namespace
}  // namespace headrace
