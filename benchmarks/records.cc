// Compares RecordFile with loops written by hand on one thread, for records of 1, 10 and 110 KB that are not decoded:
// in order with one that reads blocks of 8 MiB and cuts the records out of them, shuffled with one that reads each
// record by itself. Both sides look at every cache line of every record. Prints the medians of alternating runs from a
// warm cache and their ratio, and how many bytes each of four ranks reads.
//   bazel run -c opt //benchmarks:records [-- RUNS [MEGABYTES [KILOBYTES [order|index|shuffle]]]]
#include <fcntl.h>
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
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "io/files/testing/counted_reads.h"
#include "io/formats/recordio/record_frame.h"
#include "ir/graph.pb.h"
#include "ops/testing/graph_builder.h"

namespace headrace {
namespace {

constexpr size_t kBlock = size_t{8} << 20;
// The engine keeps a parsed index for the next run only if its files changed longer ago.
constexpr std::chrono::seconds kUntilKept(3);
constexpr size_t kCacheLine = 64;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// What was seen of the records: the same however they were read.
struct Seen {
  int64_t records = 0;
  uint64_t sum = 0;

  void Look(const uint8_t* bytes, size_t size) {
    uint64_t all = 0;
    for (size_t i = 0; i < size; i += kCacheLine) all += bytes[i];
    sum += all;
    ++records;
  }
  friend bool operator==(const Seen&, const Seen&) = default;
};

struct File {
  std::string path;
  std::string index;
  std::vector<int64_t> offsets;
  size_t record_bytes;
};

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY)) {
    if (number_ < 0) Fail("cannot open " + path);
  }
  ~Descriptor() { close(number_); }
  size_t Read(int64_t offset, uint8_t* target, size_t bytes) const {
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = pread(number_, target + done, bytes - done, offset + static_cast<int64_t>(done));
      if (got < 0) Fail("cannot read");
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  const int number_;
};

uint32_t WordAt(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

Seen InOrderByHand(const File& file) {
  const Descriptor descriptor(file.path);
  std::vector<uint8_t> buffer(kBlock);
  Seen seen;
  int64_t offset = 0;
  size_t held = 0;
  while (true) {
    const size_t got = descriptor.Read(offset, buffer.data() + held, kBlock - held);
    offset += static_cast<int64_t>(got);
    const size_t there = held + got;
    size_t at = 0;
    while (at + RecordFrame::kHeadBytes <= there) {
      if (WordAt(&buffer[at]) != RecordFrame::kMagic) Fail("no record");
      const size_t length = WordAt(&buffer[at + 4]) & RecordFrame::kLongest;
      const size_t end = at + RecordFrame::kHeadBytes + (length + 3) / 4 * 4;
      if (end > there) break;
      seen.Look(&buffer[at + RecordFrame::kHeadBytes], length);
      at = end;
    }
    held = there - at;
    if (held > 0) std::memmove(buffer.data(), &buffer[at], held);
    if (got == 0) break;
  }
  return seen;
}

Seen ShuffledByHand(const File& file, const std::vector<size_t>& order) {
  const Descriptor descriptor(file.path);
  std::vector<uint8_t> buffer(file.record_bytes + RecordFrame::kHeadBytes);
  Seen seen;
  for (const size_t record : order) {
    if (descriptor.Read(file.offsets[record], buffer.data(), buffer.size()) != buffer.size()) Fail("cut off");
    if (WordAt(buffer.data()) != RecordFrame::kMagic) Fail("no record");
    seen.Look(&buffer[RecordFrame::kHeadBytes], WordAt(&buffer[4]) & RecordFrame::kLongest);
  }
  return seen;
}

GraphBuilder::Given PathsOf(const File& file) { return {{"paths", ir::StringsValue({file.path})}}; }

Seen Pipelined(const GraphBuilder::Given& attributes, IterateOptions options) {
  GraphBuilder builder;
  builder.Add("RecordFile", {}, attributes);
  auto iteration = Iteration::Start(*builder.Build(), std::move(options));
  if (!iteration.ok()) Fail(DescribeError(iteration.status()));
  Seen seen;
  ResultRow row;
  while (true) {
    const auto outcome = (*iteration)->Fetch(std::chrono::seconds(60), row);
    if (!outcome.ok()) Fail(DescribeError(outcome.status()));
    if (*outcome != Pipeline::Outcome::kRow) break;
    const std::string_view record = row.columns[0].bytes_value();
    seen.Look(reinterpret_cast<const uint8_t*>(record.data()), record.size());
    (*iteration)->Given();
  }
  return seen;
}

struct Cost {
  double wall;  // in nanoseconds a record
  double cpu;   // of all threads
};

Cost Measure(const std::function<Seen()>& run, Seen& expected) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const Seen seen = run();
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - begin;
  const double busy = static_cast<double>(std::clock() - cpu) * 1e9 / CLOCKS_PER_SEC;
  if (expected.records == 0) expected = seen;
  if (!(seen == expected)) Fail("records differ");
  const auto records = static_cast<double>(seen.records);
  return {wall.count() / records, busy / records};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::string& what, int runs, const std::function<Seen()>& by_hand,
             const std::function<Seen()>& pipelined) {
  std::vector<double> hand_wall, hand_cpu, ours_wall, ours_cpu, ratios;
  Seen expected;
  for (int run = -1; run < runs; ++run) {
    const Cost hand = Measure(by_hand, expected);
    const Cost ours = Measure(pipelined, expected);
    if (run < 0) continue;  // The first one warms the page cache.
    hand_wall.push_back(hand.wall);
    hand_cpu.push_back(hand.cpu);
    ours_wall.push_back(ours.wall);
    ours_cpu.push_back(ours.cpu);
    ratios.push_back(hand.wall / ours.wall);
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf(
      "%s: by hand %.0f ns a record (%.0f of CPU), RecordFile %.0f ns (%.0f of CPU); ratio %.2f (%.2f to %.2f)\n",
      what.c_str(), Median(hand_wall), Median(hand_cpu), Median(ours_wall), Median(ours_cpu), Median(ratios), *least,
      *most);
  std::fflush(stdout);
}

File WriteFile(const std::string& folder, size_t record_bytes, int64_t bytes) {
  File file{folder + "/a.rec", folder + "/a.idx", {}, record_bytes};
  std::ofstream records(file.path, std::ios::binary);
  std::ofstream index(file.index, std::ios::binary);
  std::mt19937_64 random(1);
  std::string payload(record_bytes, ' '), frames;
  int64_t offset = 0;
  for (int64_t i = 0; offset < bytes; ++i) {
    for (size_t c = 0; c < payload.size(); c += kCacheLine) payload[c] = static_cast<char>(random());
    frames.clear();
    if (!AppendRecord({std::string_view(payload)}, frames).ok()) Fail("a record is too long");
    records << frames;
    index << i << '\t' << offset << '\n';
    file.offsets.push_back(offset);
    offset += static_cast<int64_t>(frames.size());
  }
  return file;
}

void CountBytes(const File& file) {
  constexpr uint64_t kRanks = 4;
  const auto with = [&](const char* name, ir::proto::Value value) {
    GraphBuilder::Given attributes = PathsOf(file);
    attributes.emplace_back(name, std::move(value));
    return attributes;
  };
  const std::vector<std::pair<const char*, GraphBuilder::Given>> ways = {
      {"sharding=\"splits\"", with("sharding", ir::StringValue("splits"))},
      {"sharding=\"contiguous\"", with("sharding", ir::StringValue("contiguous"))},
      {"with an index", with("index", ir::StringsValue({file.index}))}};
  struct stat stat{};
  ::stat(file.path.c_str(), &stat);
  for (const auto& [name, attributes] : ways) {
    std::printf("  bytes read of %lld by each of %d ranks, %s:", static_cast<long long>(stat.st_size),
                static_cast<int>(kRanks), name);
    for (uint64_t rank = 0; rank < kRanks; ++rank) {
      const CountedReads files(LocalFileSystem());
      IterateOptions options;
      options.files = &files;
      options.rank = rank;
      options.world = kRanks;
      Pipelined(attributes, std::move(options));
      std::printf(" %lld", static_cast<long long>(files.bytes()));
    }
    std::printf("\n");
  }
}

// `way`: "order", "index" or "shuffle"; empty: all.
void CompareRecordsOf(size_t record_bytes, int64_t bytes, int runs, const std::string& way) {
  char folder[] = "/tmp/headrace_records_XXXXXX";
  if (mkdtemp(folder) == nullptr) Fail("cannot make a folder in /tmp");
  const File file = WriteFile(folder, record_bytes, bytes);
  std::vector<size_t> order(file.offsets.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(2));
  std::this_thread::sleep_for(kUntilKept);
  const std::string size = std::to_string(record_bytes / 1024) + " KB";
  const auto compare = [&](const char* name, const std::string& what, const std::function<Seen()>& by_hand,
                           const GraphBuilder::Given& attributes) {
    if (!way.empty() && way != name) return;
    Compare("records of " + size + what, runs, by_hand, [&] { return Pipelined(attributes, {}); });
  };
  compare("order", " in order", [&] { return InOrderByHand(file); }, PathsOf(file));
  GraphBuilder::Given indexed = PathsOf(file);
  indexed.emplace_back("index", ir::StringsValue({file.index}));
  compare("index", " in order, with an index", [&] { return InOrderByHand(file); }, indexed);
  indexed.emplace_back("shuffle", ir::BoolValue(true));
  compare("shuffle", " shuffled", [&] { return ShuffledByHand(file, order); }, indexed);
  if (way.empty()) CountBytes(file);
  unlink(file.path.c_str());
  unlink(file.index.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 7;
  const int64_t bytes = (argc > 2 ? std::atoi(argv[2]) : 256) * int64_t{1 << 20};
  const std::vector<size_t> sizes =
      argc > 3 ? std::vector<size_t>{std::strtoul(argv[3], nullptr, 10)} : std::vector<size_t>{1, 10, 110};
  for (const size_t kilobytes : sizes) {
    headrace::CompareRecordsOf(kilobytes * 1024, bytes, std::max(1, runs), argc > 4 ? argv[4] : "");
  }
  return 0;
}
