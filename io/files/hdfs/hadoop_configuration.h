// `HadoopConfiguration` holds what a cluster's core-site.xml and hdfs-site.xml say. Threads: immutable once read.
#ifndef HEADRACE_IO_FILES_HDFS_HADOOP_CONFIGURATION_H_
#define HEADRACE_IO_FILES_HDFS_HADOOP_CONFIGURATION_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace headrace::hdfs {

class HadoopConfiguration {
 public:
  // Of the folder; files that it lacks say nothing. Empty: there is no folder.
  static absl::StatusOr<HadoopConfiguration> Read(const std::string& folder);
  // The folder that HADOOP_CONF_DIR names, or etc/hadoop in HADOOP_HOME; otherwise /etc/hadoop/conf if it is there, or
  // "".
  static std::string UsualFolder();

  // Adds the properties of a file, which replace those before. `file` names it in errors.
  absl::Status Add(std::string_view file, std::string_view xml);
  // "" if nothing says it. "${name}" in a value stands for the value of that name.
  std::string Find(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HADOOP_CONFIGURATION_H_
