// The check that is stored in a model comes from outside: any bytes give a check or an error, and any value that they
// store for the column "x" is run or refused.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "capi/self_check.h"
#include "capi/stored_check.h"
#include "core/testing/require.h"
#include "engine/serve/inference_graph.h"

namespace headrace::capi {
namespace {

// Gives back its column "x", of any type: format 2, and a node Input.
std::shared_ptr<const InferenceGraph> AnyColumn() {
  constexpr std::string_view kBytes(
      "\x08\x02\x12\x28\x0a\x05Input\x22\x1f\x0a\x07"
      "columns\x12\x14"
      "b\x12\x0a\x10\x0a\x01x\x12\x0b\x0a\x07unknown\x18\x01",
      44);
  auto graph = InferenceGraph::Parse(kBytes);
  Require(graph.ok(), "the graph is one");
  return *std::move(graph);
}

}  // namespace
}  // namespace headrace::capi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace headrace;
  static const auto graph = capi::AnyColumn();
  const std::string json(reinterpret_cast<const char*>(data), bytes);
  const bool is_read = capi::ReadStoredCheck(json).ok();
  const bool passes = capi::RunSelfCheck(*graph, json).ok();
  Require(is_read || !passes, "what cannot be read does not pass");
  return 0;
}
