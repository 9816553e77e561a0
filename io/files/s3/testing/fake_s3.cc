#include "io/files/s3/testing/fake_s3.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/hash.h"
#include "core/text.h"
#include "io/files/http/percent_text.h"

namespace headrace::s3 {
namespace {

int NumberOf(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string ValueOf(const std::map<std::string, std::string>& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

}  // namespace

std::string FakeS3::ETagOf(std::string_view bytes) { return Cat("\"", HashBytes(bytes), "\""); }

void FakeS3::Put(const std::string& key, std::string bytes) {
  const std::lock_guard lock(mutex_);
  etags_[key] = ETagOf(bytes);
  objects_[key] = std::move(bytes);
}

void FakeS3::Remove(const std::string& key) {
  const std::lock_guard lock(mutex_);
  objects_.erase(key);
}

std::optional<std::string> FakeS3::Get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? std::nullopt : std::optional<std::string>(found->second);
}

size_t FakeS3::uploads() const {
  const std::lock_guard lock(mutex_);
  return uploads_.size();
}

FakeS3::Target FakeS3::TargetOf(std::string_view url) {
  Target target;
  url.remove_prefix(url.find("://") + 3);
  url.remove_prefix(std::min(url.find('/') + 1, url.size()));
  const size_t question = std::min(url.find('?'), url.size());
  const std::string path = http::PercentDecoded(url.substr(0, question));
  const size_t slash = std::min(path.find('/'), path.size());
  target.bucket = path.substr(0, slash);
  if (slash < path.size()) target.key = path.substr(slash + 1);
  url.remove_prefix(std::min(question + 1, url.size()));
  while (!url.empty()) {
    const size_t end = std::min(url.find('&'), url.size());
    const std::string_view parameter = url.substr(0, end);
    const size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view value = parameter.substr(std::min(equals + 1, parameter.size()));
    target.query[http::PercentDecoded(parameter.substr(0, equals))] = http::PercentDecoded(value);
    url.remove_prefix(std::min(end + 1, url.size()));
  }
  return target;
}

http::FakeReply FakeS3::Error(int status, std::string_view code) {
  http::FakeReply reply;
  reply.status = status;
  reply.headers = {{"x-amz-request-id", "REQUEST17"}};
  reply.body =
      Cat("<?xml version=\"1.0\"?><Error><Code>", code, "</Code><Message>the store says ", code, "</Message></Error>");
  return reply;
}

http::FakeReply FakeS3::List(const Target& target) const {
  const std::string prefix = ValueOf(target.query, "prefix");
  const bool folders = target.query.contains("delimiter");
  const std::string most = ValueOf(target.query, "max-keys");
  const size_t page = most.empty() ? page_ : std::min<size_t>(page_, static_cast<size_t>(NumberOf(most)));
  std::string after = ValueOf(target.query, "start-after");
  const std::string token = ValueOf(target.query, "continuation-token");
  if (!token.empty()) after = http::PercentDecoded(token.substr(token.find(':') + 1));
  std::string contents;
  std::string last_folder;
  std::string last;
  size_t count = 0;
  bool truncated = false;
  for (auto object = objects_.lower_bound(prefix); object != objects_.end(); ++object) {
    const std::string& key = object->first;
    if (!key.starts_with(prefix)) break;
    const bool in_last_folder =
        folders && after.size() > prefix.size() && after.ends_with('/') && key.starts_with(after);
    if (key <= after || in_last_folder) continue;
    const size_t slash = folders ? key.find('/', prefix.size()) : std::string::npos;
    const std::string folder = slash == std::string::npos ? "" : key.substr(0, slash + 1);
    if (!folder.empty() && folder == last_folder) continue;
    if (count == page) {
      truncated = true;
      break;
    }
    ++count;
    last_folder = folder;
    last = folder.empty() ? key : folder;
    if (folder.empty()) {
      Append(contents, "<Contents><Key>", http::PercentEncoded(key), "</Key><ETag>&quot;",
             std::string_view(etags_.at(key)).substr(1, etags_.at(key).size() - 2), "&quot;</ETag><Size>",
             object->second.size(), "</Size></Contents>");
    } else {
      Append(contents, "<CommonPrefixes><Prefix>", http::PercentEncoded(folder), "</Prefix></CommonPrefixes>");
    }
  }
  http::FakeReply reply;
  reply.body =
      Cat("<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>", contents,
          "<EncodingType>url</EncodingType><IsTruncated>", truncated ? "true" : "false", "</IsTruncated>",
          truncated ? Cat("<NextContinuationToken>page+/=:", http::PercentEncoded(last), "</NextContinuationToken>")
                    : std::string(),
          "</ListBucketResult>");
  return reply;
}

http::FakeReply FakeS3::Complete(const Target& target) {
  const auto upload = uploads_.find(ValueOf(target.query, "uploadId"));
  if (upload == uploads_.end()) return Error(404, "NoSuchUpload");
  std::string bytes;
  for (const auto& [number, part] : upload->second.parts) bytes += part;
  etags_[upload->second.key] = Cat("\"", HashBytes(bytes), "-", upload->second.parts.size(), "\"");
  objects_[upload->second.key] = std::move(bytes);
  uploads_.erase(upload);
  http::FakeReply reply;
  reply.body = "<CompleteMultipartUploadResult><Bucket>b</Bucket></CompleteMultipartUploadResult>";
  return reply;
}

http::FakeReply FakeS3::Write(const http::FakeRequest& request, const Target& target) {
  http::FakeReply reply;
  const std::string id = ValueOf(target.query, "uploadId");
  if (request.method == "DELETE") {
    reply.status = 204;
    if (id.empty()) {
      objects_.erase(target.key);
    } else {
      uploads_.erase(id);
    }
    return reply;
  }
  if (request.method == "POST" && id.empty()) {
    const std::string made = Cat("upload+", ++last_upload_);
    uploads_[made].key = target.key;
    reply.body = Cat("<InitiateMultipartUploadResult><UploadId>", made, "</UploadId></InitiateMultipartUploadResult>");
    return reply;
  }
  if (request.method == "POST") return Complete(target);
  reply.headers = {{"etag", ETagOf(request.body)}};
  if (!id.empty()) {
    if (!uploads_.contains(id)) return Error(404, "NoSuchUpload");
    uploads_[id].parts[NumberOf(ValueOf(target.query, "partNumber"))] = request.body;
    return reply;
  }
  etags_[target.key] = ETagOf(request.body);
  objects_[target.key] = request.body;
  return reply;
}

http::FakeReply FakeS3::Answer(const http::FakeRequest& request) {
  if (first_) {
    std::optional<http::FakeReply> reply = first_(request);
    if (reply.has_value()) return *std::move(reply);
  }
  const std::lock_guard lock(mutex_);
  const Target target = TargetOf(request.url);
  if (target.bucket != "b") return Error(404, "NoSuchBucket");
  if (request.method != "GET" && request.method != "HEAD") return Write(request, target);
  if (target.key.empty()) return List(target);
  const auto object = objects_.find(target.key);
  if (object == objects_.end()) {
    http::FakeReply missing = Error(404, "NoSuchKey");
    if (request.method == "HEAD") missing.body.clear();
    return missing;
  }
  return http::ServeBytes(request, object->second, etags_[target.key]);
}

}  // namespace headrace::s3
