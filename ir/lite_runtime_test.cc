// No descriptors of our messages, and no library that registers some, are in the process: two libraries that hold the
// messages can be loaded side by side.
#include <gtest/gtest.h>
#include <link.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/graph.h"
#include "ir/graph.pb.h"

namespace headrace::ir {
namespace {

static_assert(std::is_base_of_v<google::protobuf::MessageLite, proto::Graph>);

std::vector<std::string> LoadedLibraries() {
  std::vector<std::string> names;
  const auto add = [](dl_phdr_info* library, size_t, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &names);
  return names;
}

TEST(LiteRuntime, IsTheOnlyOneThatIsLoaded) {
  proto::Graph graph;
  EXPECT_EQ(graph.GetTypeName(), "headrace.ir.proto.Graph");
  EXPECT_NE(SerializeGraph(graph), GraphToJson(graph));
  const std::vector<std::string> loaded = LoadedLibraries();
  EXPECT_GT(loaded.size(), 1u);
  for (const std::string& name : loaded) EXPECT_EQ(name.find("/libprotobuf.so"), std::string::npos) << name;
}

}  // namespace
}  // namespace headrace::ir
