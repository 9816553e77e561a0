// Fuzzes the bytes of an inference graph: what opens runs on small inputs, twice with the same result.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "engine/serve/inference_graph.h"
#include "ir/branches.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

// Of the declared type, with 6 for what is not known; invalid: it would be large.
Tensor SmallInput(const ir::ColumnType& type) {
  const DType dtype = type.dtype == DType::kUnknown ? DType::kUInt8 : type.dtype;
  Shape shape = type.shape.value_or(Shape{6, 6, 3});
  int64_t elements = 1;
  for (int64_t& size : shape) {
    if (size == ir::kUnknownDim) size = 6;
    if (size > 1024) return Tensor();
    elements *= std::max<int64_t>(size, 1);
    if (elements > 4096) return Tensor();
  }
  if (IsVariableLength(dtype)) {
    const std::vector<std::string_view> texts(static_cast<size_t>(ElementCount(shape)), "P6 2 2 255 abcdefghijkl");
    absl::StatusOr<Tensor> made =
        shape.empty() ? Tensor::CopyBytes(dtype, texts[0]) : Tensor::CopyBytesArray(dtype, shape, texts);
    return made.ok() ? *made : Tensor();
  }
  absl::StatusOr<Tensor> made = Tensor::Allocate(dtype, shape);
  if (!made.ok()) return Tensor();
  std::fill_n(made->mutable_raw(), made->bytes(), uint8_t{1});
  return *made;
}

constexpr int64_t kMost = 512;

// A kernel may be asked for an image of any size.
bool AsksForMuch(const ir::proto::Step& step) {
  const auto much = [](double number) { return !(std::abs(number) <= kMost); };
  return std::any_of(step.attributes().begin(), step.attributes().end(), [&](const ir::proto::Attribute& attribute) {
    const ir::proto::Value& value = attribute.value();
    return much(static_cast<double>(value.integer())) || much(value.real()) ||
           std::any_of(value.integers().values().begin(), value.integers().values().end(), much) ||
           std::any_of(value.reals().values().begin(), value.reals().values().end(), much);
  });
}

bool AsksForMuch(std::string_view bytes) {
  const absl::StatusOr<ir::proto::Graph> graph = ir::ParseGraph(bytes);
  bool much = false;
  for (const ir::proto::Node& node : graph->nodes()) {
    ir::VisitSteps(node.steps(), [&much](const ir::proto::Step& step) { much |= AsksForMuch(step); });
  }
  return much;
}

void Open(std::string_view bytes) {
  const auto graph = InferenceGraph::Parse(bytes);
  if (!graph.ok()) {
    Require(KindOf(graph.status()) != ErrorKind::kInternal, "bytes of a graph are never a bug");
    return;
  }
  std::vector<Tensor> inputs;
  for (const ir::Column& input : (*graph)->inputs()) inputs.push_back(SmallInput(input.type));
  const auto valid = [](const Tensor& input) { return input.valid(); };
  if (!std::all_of(inputs.begin(), inputs.end(), valid)) return;
  if (AsksForMuch(bytes)) return;
  const auto outputs = (*graph)->Run(inputs);
  if (!outputs.ok()) return;
  Require(outputs->size() == (*graph)->outputs().size(), "a value for each output");
  const auto again = (*graph)->Run(inputs);
  Require(again.ok(), "a request has the same result each time");
  for (size_t i = 0; i < outputs->size(); ++i) {
    Require(TensorsEqual((*outputs)[i], (*again)[i]), "a request has the same result each time");
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::Open({reinterpret_cast<const char*>(data), size});
  return 0;
}
