// `FakeS3` answers requests of a FakeTransport as a store of S3 does, from memory: objects, listings in pages, uploads
// in parts. A test may look at a request first, and answer it itself. Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_TESTING_FAKE_S3_H_
#define HEADRACE_IO_FILES_S3_TESTING_FAKE_S3_H_

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/http/testing/fake_transport.h"

namespace headrace::s3 {

class FakeS3 {
 public:
  static constexpr const char* kEndpoint = "http://store.test:9000";
  using First = std::function<std::optional<http::FakeReply>(const http::FakeRequest& request)>;

  explicit FakeS3(size_t page = 1000) : page_(page) {}

  void Put(const std::string& key, std::string bytes);
  void Remove(const std::string& key);
  // The bytes of an object; nullopt: there is none.
  std::optional<std::string> Get(const std::string& key) const;
  size_t uploads() const;  // begun, and neither completed nor aborted
  static std::string ETagOf(std::string_view bytes);
  // Asked before each request.
  void set_first(First first) { first_ = std::move(first); }

  http::FakeReply Answer(const http::FakeRequest& request);

  // The parameters of a URL, decoded, and its path without the bucket, decoded.
  struct Target {
    std::string bucket;
    std::string key;
    std::map<std::string, std::string> query;
  };
  static Target TargetOf(std::string_view url);
  static http::FakeReply Error(int status, std::string_view code);

 private:
  struct Upload {
    std::string key;
    std::map<int, std::string> parts;
  };

  http::FakeReply List(const Target& target) const;
  http::FakeReply Write(const http::FakeRequest& request, const Target& target);
  http::FakeReply Complete(const Target& target);

  const size_t page_;
  First first_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, std::string> etags_;
  std::map<std::string, Upload> uploads_;
  int last_upload_ = 0;
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_TESTING_FAKE_S3_H_
