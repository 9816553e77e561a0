#include "io/files/hdfs/hadoop_configuration.h"

#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "core/tensor.h"
#include "io/files/file_system.h"
#include "io/files/xml/xml_scanner.h"

namespace headrace::hdfs {
namespace {

constexpr int64_t kMostConfigurationBytes = int64_t{16} << 20;
// As Hadoop itself replaces names so often; a value that names itself ends there, too.
constexpr int kMostReplaced = 20;
constexpr size_t kMostValueBytes = size_t{64} << 10;

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string HadoopConfiguration::UsualFolder() {
  if (std::string folder = Environment("HADOOP_CONF_DIR"); !folder.empty()) return folder;
  if (const std::string home = Environment("HADOOP_HOME"); !home.empty()) return JoinPath(home, "etc/hadoop");
  const std::string usual = "/etc/hadoop/conf";
  return LocalFileSystem()->Stat(usual).ok() ? usual : "";
}

absl::StatusOr<HadoopConfiguration> HadoopConfiguration::Read(const std::string& folder) {
  HadoopConfiguration configuration;
  if (folder.empty()) return configuration;
  for (const std::string_view name : {"core-site.xml", "hdfs-site.xml"}) {
    const std::string path = JoinPath(folder, name);
    const absl::StatusOr<FileStat> stat = LocalFileSystem()->Stat(path);
    if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) continue;
    HEADRACE_RETURN_IF_ERROR(stat.status());
    if (stat->size > kMostConfigurationBytes) {
      return DataError(path, ": it is longer than a configuration of Hadoop, ", stat->size, " bytes");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor bytes, LocalFileSystem()->Read(path));
    HEADRACE_RETURN_IF_ERROR(configuration.Add(path, bytes.bytes_value()));
  }
  return configuration;
}

absl::Status HadoopConfiguration::Add(std::string_view file, std::string_view xml) {
  XmlScanner scanner(xml);
  std::string name;
  std::string value;
  while (true) {
    const XmlEvent event = scanner.Next();
    if (event == XmlEvent::kDone) return absl::OkStatus();
    if (event == XmlEvent::kError)
      return Reworded(scanner.status(), Cat(file, ": ", ToStd(scanner.status().message())));
    if (event != XmlEvent::kEnd) continue;
    const std::string_view element = scanner.path().back();
    if (element == "name") name = std::string(scanner.text());
    if (element == "value") value = std::string(scanner.text());
    if (element != "property") continue;
    if (!name.empty()) values_.insert_or_assign(std::exchange(name, ""), std::exchange(value, ""));
  }
}

std::string HadoopConfiguration::Find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return "";
  std::string value = found->second;
  for (int replaced = 0; replaced < kMostReplaced && value.size() <= kMostValueBytes; ++replaced) {
    const size_t begin = value.find("${");
    const size_t end = begin == std::string::npos ? begin : value.find('}', begin);
    if (end == std::string::npos) break;
    const auto named = values_.find(std::string_view(value).substr(begin + 2, end - begin - 2));
    if (named == values_.end()) break;
    value.replace(begin, end + 1 - begin, named->second);
  }
  return value;
}

}  // namespace headrace::hdfs
