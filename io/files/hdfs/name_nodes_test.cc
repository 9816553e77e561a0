#include "io/files/hdfs/name_nodes.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "core/error.h"

namespace headrace::hdfs {
namespace {

using Addresses = std::vector<std::string>;

HadoopConfiguration Configured(std::initializer_list<std::pair<const char*, const char*>> values) {
  std::string xml = "<configuration>";
  for (const auto& [name, value] : values) {
    Append(xml, "<property><name>", name, "</name><value>", value, "</value></property>");
  }
  HadoopConfiguration configuration;
  EXPECT_TRUE(configuration.Add("test.xml", xml + "</configuration>").ok());
  return configuration;
}

Addresses Found(std::string_view url, const HadoopConfiguration& configuration = {}, std::string_view endpoint = "") {
  const auto found = FindNameNodes(*ParseHdfsUrl(url), configuration, endpoint);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *found : Addresses();
}

TEST(NameNodes, GuessesPortsWithoutAConfiguration) {
  EXPECT_EQ(Found("hdfs://nn:8020/a"), (Addresses{"http://nn:9870", "http://nn:50070"}));
  EXPECT_EQ(Found("webhdfs://nn/a"), (Addresses{"http://nn:9870", "http://nn:50070"}));
  EXPECT_EQ(Found("webhdfs://nn:14000/a"), Addresses{"http://nn:14000"});
  EXPECT_EQ(Found("swebhdfs://nn/a"), (Addresses{"https://nn:9871", "https://nn:50470"}));
}

TEST(NameNodes, TakesTheEndpoint) {
  EXPECT_EQ(Found("hdfs://nn/a", {}, "http://a:1/, https://b/webhdfs/v1"), (Addresses{"http://a:1", "https://b:9871"}));
  for (const char* const wrong : {"nn:9870", "http://nn:9870/path", "http://", "http://user@nn"}) {
    EXPECT_EQ(KindOf(FindNameNodes(*ParseHdfsUrl("hdfs://nn/a"), {}, wrong).status()), ErrorKind::kGraph) << wrong;
  }
}

TEST(NameNodes, FindsTheAddressOfANameNodeByItsOwn) {
  const auto configuration =
      Configured({{"fs.defaultFS", "hdfs://nn:9000"}, {"dfs.namenode.http-address", "0.0.0.0:9999"}});
  EXPECT_EQ(Found("hdfs://nn:9000/a", configuration), Addresses{"http://nn:9999"});
  EXPECT_EQ(Found("hdfs:///a", configuration), Addresses{"http://nn:9999"});
  EXPECT_EQ(Found("hdfs://other:9000/a", configuration), (Addresses{"http://other:9870", "http://other:50070"}));
}

TEST(NameNodes, FindsAllOfANameservice) {
  const auto configuration = Configured({{"dfs.nameservices", "x, cluster"},
                                         {"dfs.ha.namenodes.cluster", "a,b"},
                                         {"dfs.namenode.rpc-address.cluster.a", "ha:8020"},
                                         {"dfs.namenode.rpc-address.cluster.b", "hb:8020"},
                                         {"dfs.namenode.http-address.cluster.a", "ha:1"},
                                         {"dfs.namenode.http-address.cluster.b", "hb:2"}});
  EXPECT_EQ(Found("hdfs://cluster/a", configuration), (Addresses{"http://ha:1", "http://hb:2"}));
  EXPECT_EQ(Found("webhdfs://cluster/a", configuration), (Addresses{"http://ha:1", "http://hb:2"}));
  EXPECT_EQ(Found("hdfs://hb:8020/a", configuration), Addresses{"http://hb:2"});
  EXPECT_EQ(KindOf(FindNameNodes(*ParseHdfsUrl("hdfs://x/a"), configuration, "").status()), ErrorKind::kGraph);
}

TEST(NameNodes, UsesTlsWhereTheClusterDoes) {
  const auto configuration = Configured(
      {{"dfs.http.policy", "HTTPS_ONLY"}, {"fs.defaultFS", "hdfs://nn"}, {"dfs.namenode.https-address", "nn:7777"}});
  EXPECT_EQ(Found("hdfs://nn/a", configuration), Addresses{"https://nn:7777"});
}

TEST(NameNodes, SaysWhatToSetForThePathWithoutOne) {
  EXPECT_EQ(KindOf(FindNameNodes(*ParseHdfsUrl("hdfs:///a"), {}, "").status()), ErrorKind::kGraph);
}

TEST(NameNodes, MovesOnOnceForEachFault) {
  NameNodes name_nodes({"a", "b", "c"});
  name_nodes.MoveOnFrom("a");
  EXPECT_EQ(name_nodes.current(), "b");
  name_nodes.MoveOnFrom("a");  // of another call, which began before
  EXPECT_EQ(name_nodes.current(), "b");
  name_nodes.MoveOnFrom("b");
  name_nodes.MoveOnFrom("c");
  EXPECT_EQ(name_nodes.current(), "a");
}

}  // namespace
}  // namespace headrace::hdfs
