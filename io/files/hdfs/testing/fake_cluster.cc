#include "io/files/hdfs/testing/fake_cluster.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/text.h"

namespace headrace::hdfs {
namespace {

using http::FakeReply;
using http::FakeRequest;

constexpr std::string_view kRoot = "/webhdfs/v1";

int Digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      decoded.push_back(static_cast<char>(Digit(text[i + 1]) << 4 | Digit(text[i + 2])));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

FakeReply JsonReply(std::string body) {
  FakeReply reply;
  reply.headers.push_back({"content-type", "application/json"});
  reply.body = std::move(body);
  return reply;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

FakeReply MissingReply(const std::string& path) {
  return ExceptionReply(404, "FileNotFoundException", Cat("File does not exist: ", path));
}

}  // namespace

struct FakeCluster::Asked {
  const FakeRequest* request;
  std::string host;
  std::string path;
  std::string op;

  std::string Value(std::string_view name) const { return Parameter(request->url, name); }
};

FakeReply ExceptionReply(int status, std::string_view name, std::string_view message) {
  FakeReply reply = JsonReply(Cat("{\"RemoteException\":{\"exception\":\"", name, "\",\"javaClassName\":\"org.apache.",
                                  name, "\",\"message\":\"", message, "\"}}"));
  reply.status = status;
  return reply;
}

std::string Parameter(std::string_view url, std::string_view name) {
  std::string_view rest = url.substr(std::min(url.find('?'), url.size()));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) == name) return Decoded(pair.substr(std::min(equals + 1, pair.size())));
    rest.remove_prefix(pair.size());
  }
  return "";
}

void FakeCluster::MakeFoldersAbove(const std::string& path) {
  for (std::string folder = FolderOf(path); folders_.insert(folder).second;) folder = FolderOf(folder);
}

void FakeCluster::PutLocked(const std::string& path, std::string bytes) {
  ++changes_;
  files_[path] = {std::move(bytes), 1000 + changes_, 1'700'000'000'000 + changes_};
  MakeFoldersAbove(path);
}

void FakeCluster::Put(const std::string& path, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  PutLocked(path, std::string(bytes));
}

void FakeCluster::Drop(const std::string& path) {
  const std::lock_guard lock(mutex_);
  files_.erase(path);
}

void FakeCluster::MakeFolder(const std::string& path) {
  const std::lock_guard lock(mutex_);
  folders_.insert(path);
  MakeFoldersAbove(path);
}

std::optional<std::string> FakeCluster::Get(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return found->second.bytes;
}

std::vector<std::string> FakeCluster::paths() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, file] : files_) paths.push_back(path);
  return paths;
}

void FakeCluster::set_token(std::string token) {
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

void FakeCluster::set_rule(Rule rule) {
  const std::lock_guard lock(mutex_);
  rule_ = std::move(rule);
}

FakeReply FakeCluster::Answer(const FakeRequest& request) {
  Rule rule;
  {
    const std::lock_guard lock(mutex_);
    rule = rule_;
  }
  if (rule) {
    if (std::optional<FakeReply> reply = rule(request)) return *std::move(reply);
  }
  const std::lock_guard lock(mutex_);
  const std::string_view url = request.url;
  const size_t begin = url.find("://") + 3;
  const size_t slash = url.find('/', begin);
  std::string_view path = url.substr(slash, url.find('?') - slash);
  if (path.substr(0, kRoot.size()) != kRoot) return ExceptionReply(404, "NotWebHdfs", path);
  path.remove_prefix(kRoot.size());
  Asked asked{&request, std::string(url.substr(begin, slash - begin)), Decoded(path), Parameter(url, "op")};
  if (!token_.empty() && asked.op == "GETDELEGATIONTOKEN" && request.Find("authorization") == "Negotiate ticket") {
    return JsonReply(Cat("{\"Token\":{\"urlString\":\"", token_, "\"}}"));
  }
  const std::string given = asked.Value("delegation");
  if (!token_.empty() && given.empty()) {
    FakeReply reply = ExceptionReply(401, "AuthenticationException", "Authentication required");
    reply.headers.push_back({"www-authenticate", "Negotiate"});
    return reply;
  }
  if (!token_.empty() && given != token_) {
    return ExceptionReply(403, "InvalidToken", "token (token for alice: ) can't be found in cache");
  }
  return asked.host.starts_with("dn") ? AnswerDataNode(asked) : AnswerNameNode(asked);
}

FakeReply FakeCluster::Redirect(const Asked& asked) {
  const std::string excluded = excludes_ ? Cat(",", asked.Value("excludedatanodes"), ",") : "";
  for (int i = 0; i < data_nodes_; ++i) {
    turn_ = turn_ % data_nodes_ + 1;
    const std::string data_node = Cat("dn", turn_, ":9864");
    if (excluded.find(Cat(",", data_node, ",")) != std::string::npos) continue;
    const std::string& url = asked.request->url;
    FakeReply reply;
    reply.status = 307;
    reply.headers.push_back({"location", Cat("http://", data_node, url.substr(url.find('/', url.find("://") + 3)))});
    return reply;
  }
  return ExceptionReply(403, "IOException", "Failed to find datanode, suggest to check cluster health.");
}

std::string FakeCluster::StatusText(const std::string& path, std::string_view name) const {
  const auto found = files_.find(path);
  const bool file = found != files_.end();
  return Cat("{\"accessTime\":0,\"blockSize\":134217728,\"fileId\":", file ? found->second.id : 7,
             ",\"group\":\"g\",\"length\":", file ? found->second.bytes.size() : 0,
             ",\"modificationTime\":", file ? found->second.modified_ms : 1, ",\"owner\":\"o\",\"pathSuffix\":\"", name,
             "\",\"permission\":\"644\",\"replication\":1,\"type\":\"", file ? "FILE" : "DIRECTORY", "\"}");
}

FakeReply FakeCluster::Status(const Asked& asked) const {
  if (!files_.contains(asked.path) && !folders_.contains(asked.path)) return MissingReply(asked.path);
  return JsonReply(Cat("{\"FileStatus\":", StatusText(asked.path, ""), "}"));
}

FakeReply FakeCluster::List(const Asked& asked) const {
  const bool by_parts = asked.op == "LISTSTATUS_BATCH";
  if (by_parts && page_ == 0) {
    return ExceptionReply(400, "IllegalArgumentException",
                          "Invalid value for webhdfs parameter \\\"op\\\": No enum constant LISTSTATUS_BATCH");
  }
  std::vector<std::string> names;
  if (!files_.contains(asked.path) && !folders_.contains(asked.path)) return MissingReply(asked.path);
  const auto add = [&](const std::string& path) {
    if (path != "/" && FolderOf(path) == asked.path) names.push_back(path.substr(path.rfind('/') + 1));
  };
  for (const auto& [path, file] : files_) add(path);
  for (const std::string& path : folders_) add(path);
  std::sort(names.begin(), names.end());
  const std::string after = asked.Value("startAfter");
  std::erase_if(names, [&](const std::string& name) { return !after.empty() && name <= after; });
  const size_t shown = by_parts ? std::min(page_, names.size()) : names.size();
  std::string list;
  for (size_t i = 0; i < shown; ++i) {
    const std::string path = Cat(asked.path == "/" ? "" : asked.path, "/", names[i]);
    Append(list, i == 0 ? "" : ",", StatusText(path, names[i]));
  }
  if (files_.contains(asked.path)) list = StatusText(asked.path, "");
  const std::string statuses = Cat("{\"FileStatuses\":{\"FileStatus\":[", list, "]}}");
  if (!by_parts) return JsonReply(statuses);
  return JsonReply(Cat("{\"DirectoryListing\":{\"partialListing\":", statuses,
                       ",\"remainingEntries\":", names.size() - shown, "}}"));
}

FakeReply FakeCluster::Rename(const Asked& asked) {
  const auto found = files_.find(asked.path);
  if (found == files_.end()) return MissingReply(asked.path);
  File file = std::move(found->second);
  files_.erase(found);
  files_[asked.Value("destination")] = std::move(file);
  return FakeReply();
}

FakeReply FakeCluster::AnswerNameNode(const Asked& asked) {
  if (asked.op == "GETFILESTATUS") return Status(asked);
  if (asked.op == "LISTSTATUS" || asked.op == "LISTSTATUS_BATCH") return List(asked);
  if (asked.op == "CREATE") return Redirect(asked);
  if (asked.op == "RENAME") return Rename(asked);
  if (asked.op == "DELETE")
    return JsonReply(files_.erase(asked.path) > 0 ? "{\"boolean\":true}" : "{\"boolean\":false}");
  const auto found = files_.find(asked.path);
  if (found == files_.end()) return MissingReply(asked.path);
  if (asked.op == "TRUNCATE") {
    found->second.bytes.resize(static_cast<size_t>(std::atoll(asked.Value("newlength").c_str())));
    return JsonReply("{\"boolean\":true}");
  }
  if (asked.op == "OPEN" &&
      std::atoll(asked.Value("offset").c_str()) >= static_cast<int64_t>(found->second.bytes.size())) {
    return ExceptionReply(403, "IOException", "Offset=9 out of the range [0, 3); OPEN, path=/");
  }
  return Redirect(asked);
}

FakeReply FakeCluster::AnswerDataNode(const Asked& asked) {
  if (asked.op == "CREATE") {
    PutLocked(asked.path, asked.request->body);
    FakeReply reply;
    reply.status = 201;
    return reply;
  }
  const auto found = files_.find(asked.path);
  if (found == files_.end()) return MissingReply(asked.path);
  if (asked.op == "APPEND") {
    PutLocked(asked.path, found->second.bytes + asked.request->body);
    return FakeReply();
  }
  FakeReply reply;
  const auto offset = static_cast<size_t>(std::atoll(asked.Value("offset").c_str()));
  const auto length = static_cast<size_t>(std::atoll(asked.Value("length").c_str()));
  reply.body = found->second.bytes.substr(std::min(offset, found->second.bytes.size()), length);
  return reply;
}

}  // namespace headrace::hdfs
