// `InferenceBytes` builds the bytes of inference graphs in tests: InferenceBytes().Input("image", type).Step("Decode",
// {"image"}, {"image"}).Bytes().
// Threads: used by one thread.
#ifndef HEADRACE_CAPI_TESTING_INFERENCE_BYTES_H_
#define HEADRACE_CAPI_TESTING_INFERENCE_BYTES_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.pb.h"
#include "ir/type.h"
#include "kernels/testing/run_kernel.h"

namespace headrace::fixture {

class InferenceBytes {
 public:
  InferenceBytes();

  InferenceBytes& Input(const std::string& name, const ir::ColumnType& type);
  InferenceBytes& Step(std::string_view kernel, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs, const Given& attributes = {});
  // To change what the others cannot.
  ir::proto::Graph& graph() { return graph_; }
  std::string Bytes();

 private:
  // With its version, as saved graphs have it.
  ir::proto::Node& AddNode(std::string_view op);

  ir::proto::Graph graph_;
  ir::Schema inputs_;
};

// Of one picture: Decode, Resize(40), CenterCrop(32), Normalize, HWC2CHW on the column "image".
std::string PictureGraph();

}  // namespace headrace::fixture

#endif  // HEADRACE_CAPI_TESTING_INFERENCE_BYTES_H_
