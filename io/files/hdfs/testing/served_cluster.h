// `ServedCluster` is an HdfsFileSystem over a FakeCluster, whose waits cost no time. Threads: as HdfsFileSystem.
#ifndef HEADRACE_IO_FILES_HDFS_TESTING_SERVED_CLUSTER_H_
#define HEADRACE_IO_FILES_HDFS_TESTING_SERVED_CLUSTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/files/hdfs/hdfs_file_system.h"
#include "io/files/hdfs/testing/fake_cluster.h"
#include "io/files/http/testing/fake_transport.h"

namespace headrace::hdfs {

inline HdfsFileSystem::Options TwoNameNodes() {
  HdfsFileSystem::Options options;
  options.settings.endpoint = "http://nn1:9870,http://nn2:9870";
  options.usual_user = "alice";
  options.negotiate = [](std::string_view) { return std::string("ticket"); };
  return options;
}

struct ServedCluster {
  explicit ServedCluster(HdfsFileSystem::Options options = TwoNameNodes(), int data_nodes = 3)
      : cluster(data_nodes), files(&transport, std::move(options)) {}

  // The URLs of the requests so far with this in them.
  std::vector<std::string> Urls(std::string_view part) const {
    std::vector<std::string> urls;
    for (const http::FakeRequest& request : transport.requests()) {
      if (request.url.find(part) != std::string::npos) urls.push_back(request.url);
    }
    return urls;
  }
  // What a listing would say of a file now.
  ListedFile Listed(const std::string& path) const {
    const auto stat = files.Stat(path);
    return stat.ok() ? ListedFile{stat->size, VersionHash(stat->version)} : ListedFile();
  }

  FakeCluster cluster;
  http::FakeTransport transport{[this](const http::FakeRequest& request) { return cluster.Answer(request); }};
  HdfsFileSystem files;
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_TESTING_SERVED_CLUSTER_H_
