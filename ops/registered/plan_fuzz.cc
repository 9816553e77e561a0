// Fuzzes graphs of the registered operators and kernels: any bytes are checked, optimized and planned. No file exists.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "engine/report/explain.h"
#include "io/files/file_system.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

class NoFiles : public FileSystem {
 public:
  absl::StatusOr<Tensor> Read(const std::string& /*path*/) const override { return NotFoundError(""); }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& /*path*/) const override {
    return NotFoundError("");
  }
  absl::StatusOr<FileStat> Stat(const std::string& /*path*/) const override { return NotFoundError(""); }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& /*folder*/, bool /*sizes*/) const override {
    return NotFoundError("");
  }
};

void Plan(std::string_view bytes) {
  static const NoFiles no_files;
  const absl::StatusOr<ir::proto::Graph> graph = ir::ParseGraph(bytes);
  if (!graph.ok()) return;
  IterateOptions options;
  options.pull = true;
  options.files = &no_files;
  options.world = 2;
  const absl::StatusOr<std::string> plan = ExplainGraph(*graph, options, /*passes=*/false);
  Require(plan.ok() || KindOf(plan.status()) != ErrorKind::kInternal, "what is wrong is the graph's fault");
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::Plan({reinterpret_cast<const char*>(data), size});
  return 0;
}
