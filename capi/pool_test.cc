// Many threads run one graph at once, with and without a pool, and each request has its own result and status.
#include "capi/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "core/testing/rounds.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const uint64_t kCalls = Rounds(50, {.quick = 10, .sanitized = 10, .long_run = 200});
constexpr int kThreads = 4;

std::vector<std::string> Pictures() {
  std::vector<std::string> pictures;
  for (const char* name : {"baseline_420.jpg", "progressive.jpg", "damaged.jpg", "rgb.png", "lossy.webp"}) {
    pictures.push_back(fixture::ReadTestFile(name));
  }
  // Ends within its header; of damage further on there is a warning, and a picture.
  pictures[2].resize(100);
  return pictures;
}

// What a request gives; of an error, its text.
std::string Said(const hr::Result<hr::Tensor>& result) {
  if (!result.ok()) return std::string(result.error().text());
  return std::string(static_cast<const char*>(result->data()), result->bytes());
}

std::string Said(const hr::Result<std::vector<hr::Tensor>>& result) {
  if (!result.ok()) return std::string(result.error().text());
  const hr::Tensor& only = (*result)[0];
  return std::string(static_cast<const char*>(only.data()), only.bytes());
}

std::vector<std::string> Expected(const hr::Graph& graph, const std::vector<std::string>& pictures) {
  std::vector<std::string> expected;
  for (const std::string& picture : pictures) expected.push_back(Said(graph.Run(hr::View::Bytes(picture))));
  return expected;
}

void RunOnThreads(const std::function<void()>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

TEST(CapiPool, CallsEachNumberOnce) {
  const auto pool = *capi::Pool::Make(3);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{100}}) {
    std::vector<std::atomic<int>> calls(count);
    pool->Run(count, [&](size_t i) { ++calls[i]; });
    for (const std::atomic<int>& each : calls) EXPECT_EQ(each, 1);
  }
}

TEST(CapiPool, ServesSeveralAtOnce) {
  const auto pool = *capi::Pool::Make(2);
  RunOnThreads([&] {
    for (uint64_t call = 0; call < 20 * kCalls; ++call) {
      std::atomic<size_t> sum = 0;
      pool->Run(5, [&](size_t i) { sum += i; });
      ASSERT_EQ(sum, 10U);
    }
  });
}

TEST(CapiPool, AllThreadsShareAGraph) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const std::vector<std::string> pictures = Pictures();
  const std::vector<std::string> expected = Expected(graph, pictures);
  RunOnThreads([&] {
    for (uint64_t call = 0; call < kCalls; ++call) {
      const size_t at = call % pictures.size();
      ASSERT_EQ(Said(graph.Run(hr::View::Bytes(pictures[at]))), expected[at]);
    }
  });
}

TEST(CapiPool, EachRequestHasItsOwnStatus) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const hr::Pool pool = hr::Pool::Make(2).value();
  const std::vector<std::string> pictures = Pictures();
  const std::vector<std::string> expected = Expected(graph, pictures);
  std::vector<hr::View> inputs;
  for (const std::string& picture : pictures) inputs.push_back(hr::View::Bytes(picture));
  RunOnThreads([&] {
    for (const hr::Pool* const used : {static_cast<const hr::Pool*>(nullptr), &pool}) {
      const auto results = graph.RunMany(inputs, used);
      ASSERT_TRUE(results.ok());
      ASSERT_EQ(results->size(), pictures.size());
      for (size_t i = 0; i < pictures.size(); ++i) EXPECT_EQ(Said((*results)[i]), expected[i]);
      EXPECT_FALSE((*results)[2].ok()) << "the damaged picture";
      EXPECT_TRUE((*results)[3].ok());
    }
  });
}

TEST(CapiPool, WritesRowsIntoABatch) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const hr::Pool pool = hr::Pool::Make(2).value();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  constexpr size_t kRow = 3 * 32 * 32;
  constexpr size_t kRows = 8;
  std::vector<float> batch(kRows * kRow);
  const std::vector<hr_tensor> inputs(kRows, hr::View::Bytes(file).raw());
  std::vector<hr_tensor> outputs;
  for (size_t row = 0; row < kRows; ++row) {
    outputs.push_back(hr::View::Numbers(batch.data() + row * kRow, {3, 32, 32}).raw());
  }
  std::vector<hr_status*> statuses(kRows);
  EXPECT_EQ(fixture::TextOf(
                hr_run_many(graph.raw(), kRows, inputs.data(), 1, outputs.data(), 1, statuses.data(), pool.raw())),
            "");
  EXPECT_EQ(statuses, std::vector<hr_status*>(kRows, nullptr));
  for (size_t row = 1; row < kRows; ++row) {
    EXPECT_TRUE(std::equal(batch.begin(), batch.begin() + kRow, batch.begin() + static_cast<int64_t>(row * kRow)));
  }
}

TEST(CapiPool, SaysWhatTheCallLacks) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const hr_tensor input = hr::View::Bytes("x").raw();
  hr_tensor output = fixture::EmptyRaw();
  hr_status* status = nullptr;
  const auto refusal = [&](size_t requests, size_t in, hr_status** statuses) {
    return fixture::TextOf(hr_run_many(graph.raw(), requests, &input, in, &output, 1, statuses, nullptr));
  };
  EXPECT_EQ(refusal(0, 1, &status), "");
  EXPECT_EQ(refusal(1, 1, nullptr), "statuses is NULL");
  EXPECT_THAT(refusal(1, 2, &status), HasSubstr("the graph has 1 input ("));
  EXPECT_THAT(refusal(SIZE_MAX, 1, &status), HasSubstr("requests must be at most"));
  hr_pool* pool = nullptr;
  EXPECT_THAT(fixture::TextOf(hr_pool_make(0, &pool)), HasSubstr("threads must be 1 to 1024"));
  EXPECT_THAT(fixture::TextOf(hr_pool_make(1025, &pool)), HasSubstr("threads must be 1 to 1024"));
  EXPECT_THAT(fixture::TextOf(hr_pool_make(1, nullptr)), HasSubstr("pool is NULL"));
}

TEST(CapiPool, RefusesARequestThatLacksInputs) {
  const ir::ColumnType text = ir::ColumnType::Of(DType::kString, {});
  const hr::Graph graph =
      hr::Graph::FromBytes(fixture::InferenceBytes().Input("a", text).Input("b", text).Bytes()).value();
  const hr::View word = hr::View::String("word");
  EXPECT_EQ(graph.RunMany({word, word, word, word})->size(), 2U);
  const auto results = graph.RunMany({word, word, word});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().kind(), HR_ARGUMENT_ERROR);
  EXPECT_THAT(std::string(results.error().text()), HasSubstr("the graph has 2 inputs (a, b); got 1"));
}

#if !defined(__SANITIZE_THREAD__)
// ThreadSanitizer does not follow a child of a process with threads.
TEST(CapiPool, AChildOfForkIsTold) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const hr::Pool pool = hr::Pool::Make(1).value();
  const pid_t child = fork();
  if (child == 0) {
    const auto results = graph.RunMany({hr::View::Bytes("x")}, &pool);
    const bool is_told = !results.ok() && results.error().text().find("fork") != std::string_view::npos;
    hr_pool_close(pool.raw());
    _exit(is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace headrace
