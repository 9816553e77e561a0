// serve_graph GRAPH REQUESTS THREADS PICTURES...: requests to an inference graph through the C library.
#include <cstdio>
#include <headrace.hpp>

#include "benchmarks/serve/request_times.h"

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const hr::Result<hr::Graph> graph = hr::Graph::Open(arguments[1]);
  if (!graph) {
    std::fprintf(stderr, "%s\n", std::string(graph.error().text()).c_str());
    return 1;
  }
  const auto make = [&graph]() -> headrace_serve::Work {
    return [&graph](const std::string& picture, float* result) {
      const auto slot = hr::View::Numbers(result, {3, headrace_serve::kSide, headrace_serve::kSide});
      return !graph->RunInto({hr::View::Bytes(picture)}, {slot}).has_value();
    };
  };
  return headrace_serve::MeasureRequests(count, arguments, 2, make);
}
