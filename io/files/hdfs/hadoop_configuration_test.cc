#include "io/files/hdfs/hadoop_configuration.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::hdfs {
namespace {

std::string Property(const std::string& name, const std::string& value) {
  return "<property><name>" + name + "</name><value>" + value + "</value></property>";
}

TEST(HadoopConfiguration, ReadsBothFilesOfAFolder) {
  const TemporaryFolder folder;
  folder.Write("core-site.xml", "<?xml version=\"1.0\"?><!-- ours --><configuration>" +
                                    Property("fs.defaultFS", "hdfs://a") + Property("both", "core") +
                                    "</configuration>");
  folder.Write("hdfs-site.xml", "<configuration>" + Property("both", "hdfs") + "</configuration>");
  const auto read = HadoopConfiguration::Read(folder.path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Find("fs.defaultFS"), "hdfs://a");
  EXPECT_EQ(read->Find("both"), "hdfs");
  EXPECT_EQ(read->Find("other"), "");
}

TEST(HadoopConfiguration, SaysNothingWithoutFiles) {
  const TemporaryFolder folder;
  EXPECT_TRUE(HadoopConfiguration::Read(folder.path()).ok());
  EXPECT_TRUE(HadoopConfiguration::Read("").ok());
}

TEST(HadoopConfiguration, PutsValuesInPlaceOfNames) {
  HadoopConfiguration configuration;
  ASSERT_TRUE(configuration
                  .Add("x", "<configuration>" + Property("host", "nn") + Property("address", "${host}:${port}") +
                                Property("itself", "a${itself}") + "</configuration>")
                  .ok());
  EXPECT_EQ(configuration.Find("address"), "nn:${port}");
  EXPECT_LT(configuration.Find("itself").size(), 100u);
}

TEST(HadoopConfiguration, NamesADamagedFile) {
  HadoopConfiguration configuration;
  const absl::Status damaged = configuration.Add("/conf/core-site.xml", "<configuration><property>");
  EXPECT_EQ(KindOf(damaged), ErrorKind::kData);
  EXPECT_NE(damaged.message().find("/conf/core-site.xml"), std::string::npos);
}

}  // namespace
}  // namespace headrace::hdfs
