// classify_openvino MODEL PICTURE...: prints the class and the scores of each picture, from the bytes of its file.
// MODEL is an ONNX model that holds the preprocessing of its training: graph.attach("model.onnx"). The graph writes
// into the memory of OpenVINO's tensor.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <headrace.hpp>
#include <iterator>
#include <memory>
#include <openvino/openvino.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string BytesOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// That of the graph's one output.
std::vector<int64_t> ShapeOf(const hr::Graph& graph) {
  const std::vector<hr::Column> outputs = graph.outputs().value();
  if (outputs.size() != 1 || outputs[0].dtype != HR_FLOAT32 || !outputs[0].shape) {
    throw std::runtime_error("the graph must give one output of float32 and a known shape");
  }
  return *outputs[0].shape;
}

void Classify(const hr::Graph& graph, ov::InferRequest& request, const char* path) {
  const std::string file = BytesOf(path);
  const std::vector<int64_t> shape = ShapeOf(graph);
  ov::Tensor input = request.get_input_tensor();
  const auto error = graph.RunInto({hr::View::Bytes(file)}, {hr::View::Numbers(input.data<float>(), shape)});
  if (error) throw hr::Exception(*error);
  request.infer();
  const ov::Tensor output = request.get_output_tensor();
  const float* const scores = output.data<float>();
  const size_t count = output.get_size();
  std::printf("%s: class %td", path, std::max_element(scores, scores + count) - scores);
  for (size_t i = 0; i < count; ++i) std::printf(" %.9g", static_cast<double>(scores[i]));
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: classify_openvino MODEL PICTURE...\n");
    return 2;
  }
  try {
    const hr::Graph graph = hr::Graph::Open(arguments[1]).value();
    ov::Core core;
    const std::shared_ptr<ov::Model> model = core.read_model(arguments[1]);
    // A batch of one.
    ov::Shape shape = {1};
    for (const int64_t length : ShapeOf(graph)) shape.push_back(static_cast<size_t>(length));
    model->reshape(shape);
    ov::InferRequest request = core.compile_model(model, "CPU").create_infer_request();
    for (int i = 2; i < count; ++i) Classify(graph, request, arguments[i]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "classify_openvino: %s\n", error.what());
    return 1;
  }
  return 0;
}
