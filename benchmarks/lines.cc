// Compares Text followed by batch with a loop written by hand that does the same work on one thread: it splits the
// lines of the mapped file, checks that they are UTF-8, and copies them into batches. Prints the median of alternating
// runs and their ratio, for short lines and long ones.
//   bazel run -c opt //benchmarks:lines [-- RUNS [MEGABYTES [LENGTH]]]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "engine/exec/iteration.h"
#include "ops/testing/graph_builder.h"

namespace headrace {
namespace {

constexpr int kBatch = 1024;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// What the loop makes of a batch: the bytes of its lines, and where each ends.
struct Batch {
  std::vector<char> bytes;
  std::vector<int64_t> ends;
};

int64_t LoopByHand(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY);
  struct stat stat{};
  if (descriptor < 0 || fstat(descriptor, &stat) != 0) Fail("cannot open " + path);
  const auto size = static_cast<size_t>(stat.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED) Fail("cannot map " + path);
  madvise(mapped, size, MADV_SEQUENTIAL);
  const std::string_view text(static_cast<const char*>(mapped), size);
  int64_t rows = 0;
  Batch batch;
  size_t at = 0;
  while (at < size) {
    const void* const found = std::memchr(text.data() + at, '\n', size - at);
    const size_t end = found == nullptr ? size : static_cast<size_t>(static_cast<const char*>(found) - text.data());
    std::string_view line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!IsUtf8(line)) Fail("not UTF-8");
    batch.bytes.insert(batch.bytes.end(), line.begin(), line.end());
    batch.ends.push_back(static_cast<int64_t>(batch.bytes.size()));
    if (batch.ends.size() == kBatch) {
      rows += kBatch;
      const Batch full = std::move(batch);
      batch = Batch();
      batch.bytes.reserve(full.bytes.size() + 1024);
      batch.ends.reserve(kBatch);
    }
    at = end + 1;
  }
  rows += static_cast<int64_t>(batch.ends.size());
  munmap(mapped, size);
  close(descriptor);
  return rows;
}

int64_t Pipelined(const std::string& path) {
  GraphBuilder builder;
  builder.Add("Text", {}, {{"patterns", ir::StringsValue({path})}});
  builder.Add("batch", {0}, {{"size", ir::IntValue(kBatch)}});
  IterateOptions options;
  auto iteration = Iteration::Start(*builder.Build(), std::move(options));
  if (!iteration.ok()) Fail(DescribeError(iteration.status()));
  int64_t rows = 0;
  ResultRow row;
  while (true) {
    const auto outcome = (*iteration)->Fetch(std::chrono::seconds(60), row);
    if (!outcome.ok()) Fail(DescribeError(outcome.status()));
    if (*outcome != Pipeline::Outcome::kRow) break;
    rows += row.columns[0].dim(0);
    (*iteration)->Given();
  }
  return rows;
}

struct Cost {
  double wall;  // in nanoseconds a line
  double cpu;   // of all threads
};

Cost Measure(const std::function<int64_t()>& run, int64_t lines) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  if (run() != lines) Fail("lines are missing");
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - begin;
  const double busy = static_cast<double>(std::clock() - cpu) * 1e9 / CLOCKS_PER_SEC;
  return {wall.count() / static_cast<double>(lines), busy / static_cast<double>(lines)};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(int length, int64_t bytes, int runs) {
  char folder[] = "/tmp/headrace_lines_XXXXXX";
  if (mkdtemp(folder) == nullptr) Fail("cannot make a folder in /tmp");
  const std::string path = std::string(folder) + "/lines.txt";
  const int64_t lines = bytes / (length + 1);
  {
    std::ofstream file(path, std::ios::binary);
    std::string line(static_cast<size_t>(length), 'x');
    for (int64_t i = 0; i < lines; ++i) {
      for (size_t c = 0; c < line.size(); ++c) line[c] = static_cast<char>('a' + (static_cast<size_t>(i) + c * 7) % 26);
      file << line << '\n';
    }
  }
  std::vector<double> loop_wall, loop_cpu, text_wall, text_cpu, ratios;
  for (int run = -1; run < runs; ++run) {
    const Cost loop = Measure([&] { return LoopByHand(path); }, lines);
    const Cost text = Measure([&] { return Pipelined(path); }, lines);
    if (run < 0) continue;  // The first one warms the page cache.
    loop_wall.push_back(loop.wall);
    loop_cpu.push_back(loop.cpu);
    text_wall.push_back(text.wall);
    text_cpu.push_back(text.cpu);
    ratios.push_back(loop.wall / text.wall);
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf(
      "lines of %d bytes: by hand %.1f ns a line (%.1f of CPU), Text and batch(%d) %.1f ns (%.1f of CPU); ratio %.2f "
      "(%.2f to %.2f)\n",
      length, Median(loop_wall), Median(loop_cpu), kBatch, Median(text_wall), Median(text_cpu), Median(ratios), *least,
      *most);
  unlink(path.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 7;
  const int64_t bytes = (argc > 2 ? std::atoi(argv[2]) : 256) * int64_t{1 << 20};
  const std::vector<int> lengths = argc > 3 ? std::vector<int>{std::atoi(argv[3])} : std::vector<int>{20, 500};
  for (const int length : lengths) headrace::Compare(length, bytes, std::max(1, runs));
  return 0;
}
