// Fuzzes what stores reply in XML: listings, errors, credentials and uploads. A page that is read goes on if it says
// so, and an error of any reply is a text of one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "core/text.h"
#include "io/files/s3/credential_reply.h"
#include "io/files/s3/list_page.h"
#include "io/files/s3/store_reply.h"
#include "io/files/s3/upload_reply.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto page = headrace::s3::ParseListPage(xml);
  if (page.ok()) {
    Require(!page->truncated || !page->next.empty(), "a page that goes on says where");
    for (const headrace::s3::ListedObject& object : page->objects) {
      Require(!object.key.empty() && object.size >= 0, "an object has a key and a size");
    }
  }
  const auto credentials = headrace::s3::ParseStsReply(xml);
  if (credentials.ok()) {
    Require(credentials->access_key.find('\n') == std::string::npos, "a key is one line");
    Require(!credentials->secret_key.empty(), "credentials have a secret key");
  }
  const auto upload = headrace::s3::UploadIdOf(xml);
  Require(!upload.ok() || !upload->empty(), "an upload has an id");
  headrace::s3::IsCompleted(xml);
  headrace::http::Reply reply;
  reply.head.status = 403;
  reply.body = xml;
  const absl::Status refused = headrace::s3::RefusedError("s3://b/key", "read", reply, {"hidden"});
  const std::string_view message = headrace::ToStd(refused.message());
  Require(message.find("hidden") == std::string_view::npos, "keys are not shown");
  Require(message.find('\n') == std::string_view::npos, "an error is one line");
  return 0;
}
