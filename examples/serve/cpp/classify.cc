// classify MODEL PICTURE...: prints the class and the scores of each picture, from the bytes of its file.
// MODEL is an ONNX model that holds the preprocessing of its training: graph.attach("model.onnx").
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <headrace.hpp>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnx_runtime.h"

namespace {

std::string BytesOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Classify(const hr::Graph& graph, const OnnxModel& model, const char* path) {
  const std::string file = BytesOf(path);
  const hr::Tensor image = graph.Run(hr::View::Bytes(file)).value();
  const float* const pixels = image.data<float>();
  if (pixels == nullptr) throw std::runtime_error("the model's input is float32, and the graph gives another type");
  // A batch of one.
  std::vector<int64_t> shape = image.shape();
  shape.insert(shape.begin(), 1);
  const std::vector<float> scores = model.Run(pixels, shape);
  std::printf("%s: class %td", path, std::max_element(scores.begin(), scores.end()) - scores.begin());
  for (const float score : scores) std::printf(" %.9g", static_cast<double>(score));
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: classify MODEL PICTURE...\n");
    return 2;
  }
  try {
    const hr::Graph graph = hr::Graph::Open(arguments[1]).value();
    const OnnxModel model(arguments[1]);
    for (int i = 2; i < count; ++i) Classify(graph, model, arguments[i]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 1;
  }
  return 0;
}
