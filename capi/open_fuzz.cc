// A graph comes from outside: any bytes give a graph, which then runs on a request, or a status with a text.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "capi/headrace.hpp"
#include "core/testing/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using headrace::Require;
  const auto graph = hr::Graph::FromBytes({reinterpret_cast<const char*>(data), bytes});
  if (!graph.ok()) {
    Require(!graph.error().text().empty(), "a status says what is wrong");
    return 0;
  }
  Require(graph->inputs().ok() && graph->outputs().ok(), "a graph describes its columns");
  // No picture: what decodes refuses it.
  const auto results = graph->Run(std::vector<hr::View>{hr::View::Bytes("no picture")});
  Require(results.ok() || !results.error().text().empty(), "a status says what is wrong");
  return 0;
}
