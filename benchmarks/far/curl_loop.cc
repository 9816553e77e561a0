// curl_loop URLS [--connections N] [--ca PEM] [--range BYTES --size BYTES]: the requests a second of a plain loop over
// libcurl's multi interface: one thread, each body written into a buffer that was used before. URLS has one a line.
// With a range, each URL is a file of SIZE bytes that is read in ranges. Prints requests, bytes, seconds and seconds of
// CPU as JSON.
#include <curl/curl.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Arguments {
  std::string urls;
  int64_t connections = 16;
  std::string ca;
  int64_t range = 0;
  int64_t size = 0;
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, 2) != "--") {
      arguments.urls = argument;
      continue;
    }
    if (++i == argc) return false;
    if (argument == "--connections") {
      arguments.connections = std::max(1LL, std::atoll(argv[i]));
    } else if (argument == "--ca") {
      arguments.ca = argv[i];
    } else if (argument == "--range") {
      arguments.range = std::atoll(argv[i]);
    } else if (argument == "--size") {
      arguments.size = std::atoll(argv[i]);
    } else {
      return false;
    }
  }
  return !arguments.urls.empty() && (arguments.range > 0) == (arguments.size > 0);
}

struct Wanted {
  std::string url;
  std::string range;  // "0-8388607"; empty: all
};

std::vector<Wanted> AllWanted(const Arguments& arguments) {
  std::vector<Wanted> wanted;
  std::ifstream lines(arguments.urls);
  for (std::string url; std::getline(lines, url);) {
    if (arguments.range == 0) wanted.push_back({url, ""});
    for (int64_t begin = 0; begin < arguments.size; begin += arguments.range) {
      const int64_t last = std::min(arguments.size, begin + arguments.range) - 1;
      wanted.push_back({url, std::to_string(begin) + "-" + std::to_string(last)});
    }
  }
  return wanted;
}

struct Transfer {
  CURL* easy = nullptr;
  std::vector<char> buffer;
  size_t filled = 0;
};

size_t Take(char* bytes, size_t /*one*/, size_t size, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  if (transfer.buffer.size() < transfer.filled + size) {
    curl_off_t length = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    transfer.buffer.resize(std::max(transfer.filled + size, static_cast<size_t>(std::max<curl_off_t>(0, length))));
  }
  std::memcpy(transfer.buffer.data() + transfer.filled, bytes, size);
  transfer.filled += size;
  return size;
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class MultiLoop {
 public:
  MultiLoop(const Arguments& arguments, const std::vector<Wanted>& wanted)
      : wanted_(wanted), multi_(curl_multi_init()), transfers_(std::min<size_t>(arguments.connections, wanted.size())) {
    curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(arguments.connections));
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(arguments.connections));
    for (Transfer& transfer : transfers_) {
      transfer.easy = curl_easy_init();
      curl_easy_setopt(transfer.easy, CURLOPT_PRIVATE, &transfer);
      curl_easy_setopt(transfer.easy, CURLOPT_WRITEDATA, &transfer);
      curl_easy_setopt(transfer.easy, CURLOPT_WRITEFUNCTION, &Take);
      curl_easy_setopt(transfer.easy, CURLOPT_BUFFERSIZE, 512L << 10);
      curl_easy_setopt(transfer.easy, CURLOPT_NOSIGNAL, 1L);
      curl_easy_setopt(transfer.easy, CURLOPT_FAILONERROR, 1L);
      if (!arguments.ca.empty()) curl_easy_setopt(transfer.easy, CURLOPT_CAINFO, arguments.ca.c_str());
    }
  }

  // The bytes of all bodies; ends the program at the first that fails.
  int64_t Run() {
    for (Transfer& transfer : transfers_) Begin(transfer);
    int running = 1;
    while (running > 0) {
      curl_multi_perform(multi_, &running);
      TakeFinished(running);
      if (running > 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
    return bytes_;
  }

 private:
  void Begin(Transfer& transfer) {
    const Wanted& wanted = wanted_[next_++];
    transfer.filled = 0;
    curl_easy_setopt(transfer.easy, CURLOPT_URL, wanted.url.c_str());
    if (!wanted.range.empty()) curl_easy_setopt(transfer.easy, CURLOPT_RANGE, wanted.range.c_str());
    curl_multi_add_handle(multi_, transfer.easy);
  }

  void TakeFinished(int& running) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* of = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &of);
      auto& transfer = *static_cast<Transfer*>(of);
      if (message->data.result != CURLE_OK) {
        std::cerr << wanted_[0].url << " and others: " << curl_easy_strerror(message->data.result) << "\n";
        std::exit(1);
      }
      bytes_ += static_cast<int64_t>(transfer.filled);
      curl_multi_remove_handle(multi_, transfer.easy);
      if (next_ == wanted_.size()) continue;
      Begin(transfer);
      running = 1;
    }
  }

  const std::vector<Wanted>& wanted_;
  CURLM* const multi_;
  std::vector<Transfer> transfers_;
  size_t next_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::cerr << "usage: curl_loop URLS [--connections N] [--ca PEM] [--range BYTES --size BYTES]\n";
    return 2;
  }
  curl_global_init(CURL_GLOBAL_ALL);
  const std::vector<Wanted> wanted = AllWanted(arguments);
  if (wanted.empty()) {
    std::cerr << arguments.urls << " has no line\n";
    return 1;
  }
  const auto started = std::chrono::steady_clock::now();
  const double cpu_before = CpuSeconds();
  const int64_t bytes = MultiLoop(arguments, wanted).Run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::cout << "{\"requests\": " << wanted.size() << ", \"bytes\": " << bytes << ", \"seconds\": " << seconds
            << ", \"cpu\": " << CpuSeconds() - cpu_before << "}" << std::endl;
}
