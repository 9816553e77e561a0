// `MeasureRequests` runs requests over pictures and says how long each took, for programs that are compared: the same
// measuring on both sides, and nothing of Headrace in it.
// Threads: it starts its own and joins them; each has work of its own.
#ifndef HEADRACE_BENCHMARKS_SERVE_REQUEST_TIMES_H_
#define HEADRACE_BENCHMARKS_SERVE_REQUEST_TIMES_H_

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace headrace_serve {

constexpr int kSide = 224;
constexpr size_t kElements = size_t{3} * kSide * kSide;

// Prepares one picture.
using Work = std::function<bool(const std::string& picture, float* result)>;

inline double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline std::vector<std::string> ReadPictures(int count, char** paths) {
  std::vector<std::string> pictures;
  for (int i = 0; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    pictures.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return pictures;
}

// Of one thread, in seconds.
struct Times {
  std::vector<double> cpu;
  std::vector<double> wall;
};

inline Times RunRequests(const Work& work, const std::vector<std::string>& pictures, int requests) {
  Times times;
  std::vector<float> result(kElements);
  for (int i = 0; i < requests; ++i) {
    const double wall = Seconds(CLOCK_MONOTONIC);
    const double cpu = Seconds(CLOCK_THREAD_CPUTIME_ID);
    if (!work(pictures[static_cast<size_t>(i) % pictures.size()], result.data())) {
      std::fprintf(stderr, "a picture cannot be prepared\n");
      std::exit(1);
    }
    times.cpu.push_back(Seconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    times.wall.push_back(Seconds(CLOCK_MONOTONIC) - wall);
  }
  return times;
}

inline double Percentile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
}

// Resident now, in KiB.
inline long ResidentKib() {
  std::ifstream file("/proc/self/statm");
  long pages = 0;
  file >> pages >> pages;
  return pages * 4;
}

// PROGRAM [GRAPH] REQUESTS THREADS PICTURES...: `first` is the place of REQUESTS; `make` makes the work of a thread.
inline int MeasureRequests(int count, char** arguments, int first, const std::function<Work()>& make) {
  const int requests = std::atoi(arguments[first]);
  const int threads = std::atoi(arguments[first + 1]);
  const std::vector<std::string> pictures = ReadPictures(count - first - 2, arguments + first + 2);
  if (requests < 1 || threads < 1 || pictures.empty()) return 2;
  std::vector<Times> times(static_cast<size_t>(threads));
  const long before = ResidentKib();
  const double begin = Seconds(CLOCK_MONOTONIC);
  std::vector<std::thread> started;
  for (size_t i = 1; i < times.size(); ++i) {
    started.emplace_back([&, i] { times[i] = RunRequests(make(), pictures, requests); });
  }
  times[0] = RunRequests(make(), pictures, requests);
  for (std::thread& thread : started) thread.join();
  const double wall = Seconds(CLOCK_MONOTONIC) - begin;
  // Percentiles of the same picture: others take other times.
  std::vector<double> first_picture;
  for (size_t i = 0; i < times[0].cpu.size(); i += pictures.size()) first_picture.push_back(times[0].wall[i]);
  double sum = 0;
  for (const double each : times[0].cpu) sum += each;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"cpu_mean\": %.9f, \"cpu_p50\": %.9f, \"p50\": %.9f, \"p99\": %.9f, \"rate\": %.3f, \"resident_before\": %ld, "
      "\"resident\": %ld, \"peak\": %ld}\n",
      sum / static_cast<double>(times[0].cpu.size()), Percentile(times[0].cpu, 0.5), Percentile(first_picture, 0.5),
      Percentile(first_picture, 0.99), requests * threads / wall, before, ResidentKib(), usage.ru_maxrss);
  return 0;
}

}  // namespace headrace_serve

#endif  // HEADRACE_BENCHMARKS_SERVE_REQUEST_TIMES_H_
