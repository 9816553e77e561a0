#include "io/files/hdfs/name_nodes.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "core/error.h"

namespace headrace::hdfs {
namespace {

// Of Hadoop 3, and of Hadoop 2.
constexpr std::string_view kPlainPorts[] = {"9870", "50070"};
constexpr std::string_view kTlsPorts[] = {"9871", "50470"};
constexpr std::string_view kRpcPort = "8020";

std::string Joined(std::string_view name, std::string_view service, std::string_view id) {
  std::string joined(name);
  if (!service.empty()) Append(joined, ".", service);
  if (!id.empty()) Append(joined, ".", id);
  return joined;
}

// The words between commas, without blanks around them.
std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = ToStd(absl::StripAsciiWhitespace(ToAbsl(text.substr(0, comma))));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return words;
}

bool HasPort(std::string_view authority) { return HostOf(authority).size() < authority.size(); }

std::string WithPort(std::string_view authority, std::string_view port) {
  return HasPort(authority) ? std::string(authority) : Cat(authority, ":", port);
}

// What is in use of a cluster: TLS or not.
class Addresses {
 public:
  explicit Addresses(bool tls) : tls_(tls) {}

  void Add(std::string_view authority) {
    found_.push_back(Cat(tls_ ? "https://" : "http://", WithPort(authority, tls_ ? kTlsPorts[0] : kPlainPorts[0])));
  }
  void AddUsualPorts(std::string_view host) {
    for (const std::string_view port : tls_ ? kTlsPorts : kPlainPorts) Add(Cat(host, ":", port));
  }
  // Of a NameNode of the configuration; `service` and `id` may be empty. `host`: where the configuration names none.
  void AddConfigured(const HadoopConfiguration& configuration, std::string_view service, std::string_view id,
                     std::string_view host) {
    const std::string_view name = tls_ ? "dfs.namenode.https-address" : "dfs.namenode.http-address";
    const std::string given = configuration.Find(Joined(name, service, id));
    if (given.empty()) {
      AddUsualPorts(host);
    } else if (HostOf(given) == "0.0.0.0") {
      Add(Cat(host, std::string_view(given).substr(HostOf(given).size())));
    } else {
      Add(given);
    }
  }
  std::vector<std::string> Take() { return std::move(found_); }
  bool any() const { return !found_.empty(); }

 private:
  const bool tls_;
  std::vector<std::string> found_;
};

absl::StatusOr<std::vector<std::string>> GivenAddresses(std::string_view endpoint) {
  std::vector<std::string> addresses;
  for (std::string address : SplitAtCommas(endpoint)) {
    const bool tls = address.starts_with("https://");
    if (!tls && !address.starts_with("http://")) {
      return GraphError(
          "the endpoint of HDFS is an address of a NameNode or of HttpFS, as http://namenode:9870; several have commas "
          "between them");
    }
    const size_t scheme = tls ? 8 : 7;
    constexpr std::string_view kRoot = "/webhdfs/v1";
    while (address.size() > scheme && address.back() == '/') address.pop_back();
    if (address.ends_with(kRoot)) address.resize(address.size() - kRoot.size());
    const std::string_view authority = std::string_view(address).substr(scheme);
    if (authority.empty() || authority.find_first_of("/?#@ ") != std::string_view::npos) {
      return GraphError("the endpoint of HDFS is an address alone, as http://namenode:9870, without path and user");
    }
    if (!HasPort(authority)) Append(address, ":", tls ? kTlsPorts[0] : kPlainPorts[0]);
    addresses.push_back(std::move(address));
  }
  return addresses;
}

bool IsHere(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void AddService(const HadoopConfiguration& configuration, const std::string& service, Addresses& addresses) {
  const std::vector<std::string> ids = SplitAtCommas(configuration.Find(Joined("dfs.ha.namenodes", service, "")));
  for (const std::string& id : ids) {
    const std::string rpc = configuration.Find(Joined("dfs.namenode.rpc-address", service, id));
    if (!rpc.empty() || !configuration.Find(Joined("dfs.namenode.http-address", service, id)).empty()) {
      addresses.AddConfigured(configuration, service, id, HostOf(rpc));
    }
  }
  if (!ids.empty()) return;
  const std::string rpc = configuration.Find(Joined("dfs.namenode.rpc-address", service, ""));
  if (!rpc.empty()) addresses.AddConfigured(configuration, service, "", HostOf(rpc));
}

// The one NameNode whose address for RPC a path names.
void AddNameNode(const HadoopConfiguration& configuration, const std::vector<std::string>& services,
                 std::string_view authority, Addresses& addresses) {
  const std::string wanted = WithPort(authority, kRpcPort);
  const auto is_wanted = [&](const std::string& rpc) { return !rpc.empty() && WithPort(rpc, kRpcPort) == wanted; };
  for (const std::string& service : services) {
    std::vector<std::string> ids = SplitAtCommas(configuration.Find(Joined("dfs.ha.namenodes", service, "")));
    if (ids.empty()) ids.emplace_back();
    for (const std::string& id : ids) {
      if (!is_wanted(configuration.Find(Joined("dfs.namenode.rpc-address", service, id)))) continue;
      return addresses.AddConfigured(configuration, service, id, HostOf(authority));
    }
  }
  constexpr std::string_view kScheme = "hdfs://";
  std::string usual = configuration.Find("fs.defaultFS");
  usual =
      usual.starts_with(kScheme) ? usual.substr(kScheme.size(), usual.find('/', kScheme.size()) - kScheme.size()) : "";
  if (is_wanted(usual) || is_wanted(configuration.Find("dfs.namenode.rpc-address"))) {
    return addresses.AddConfigured(configuration, "", "", HostOf(authority));
  }
  addresses.AddUsualPorts(HostOf(authority));
}

// What the configuration says of paths without a NameNode.
absl::StatusOr<std::string> UsualAuthority(const HadoopConfiguration& configuration) {
  const std::string usual = configuration.Find("fs.defaultFS");
  const size_t colon = usual.find("://");
  if (colon != std::string::npos && usual.starts_with("hdfs")) {
    const std::string_view rest = std::string_view(usual).substr(colon + 3);
    if (std::string authority(rest.substr(0, rest.find('/'))); !authority.empty()) return authority;
  }
  return GraphError(
      "a path that begins with hdfs:/// is on the cluster that fs.defaultFS in core-site.xml names, and none is known "
      "here: set HADOOP_CONF_DIR to the folder with core-site.xml, or write hdfs://namenode/folder/file");
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindNameNodes(const HdfsUrl& url, const HadoopConfiguration& configuration,
                                                       std::string_view endpoint) {
  if (!endpoint.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<std::string> given, GivenAddresses(endpoint));
    if (!given.empty()) return given;
  }
  std::string authority = url.authority;
  if (authority.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(authority, UsualAuthority(configuration));
  }
  const bool tls =
      url.scheme == "swebhdfs" || (url.scheme == "hdfs" && configuration.Find("dfs.http.policy") == "HTTPS_ONLY");
  Addresses addresses(tls);
  const std::vector<std::string> services = SplitAtCommas(configuration.Find("dfs.nameservices"));
  if (IsHere(services, authority)) {
    AddService(configuration, authority, addresses);
    if (!addresses.any()) {
      return GraphError("hdfs-site.xml names the nameservice ", authority,
                        ", but no dfs.namenode.rpc-address or dfs.namenode.http-address of its NameNodes");
    }
  } else if (url.scheme == "hdfs") {
    AddNameNode(configuration, services, authority, addresses);
  } else if (HasPort(authority)) {
    addresses.Add(authority);
  } else {
    addresses.AddUsualPorts(authority);
  }
  return addresses.Take();
}

void NameNodes::MoveOnFrom(const std::string& address) {
  size_t now = current_.load(std::memory_order_relaxed);
  if (addresses_[now] != address) return;
  current_.compare_exchange_strong(now, (now + 1) % addresses_.size(), std::memory_order_relaxed);
}

}  // namespace headrace::hdfs
