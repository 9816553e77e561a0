#include "io/files/s3/list_request.h"

#include <cstdint>
#include <utility>

#include "core/error.h"
#include "io/files/s3/store_reply.h"

namespace headrace::s3 {
namespace {

// 1,000 keys of 1,024 bytes, each byte encoded as three, with all that is said of them.
constexpr int64_t kMostPageBytes = int64_t{16} << 20;

}  // namespace

S3Request ListRequest(const FolderPlace& place, const ListQuery& query) {
  S3Request request;
  request.name = place.name;
  request.at.bucket = place.at.bucket;
  request.purpose = http::Purpose::kList;
  // XML cannot hold every key.
  request.query = {{"list-type", "2"}, {"encoding-type", "url"}};
  if (!query.prefix.empty()) request.query.push_back({"prefix", query.prefix});
  if (query.folders) request.query.push_back({"delimiter", "/"});
  if (!query.start_after.empty() && query.token.empty()) request.query.push_back({"start-after", query.start_after});
  if (!query.token.empty()) request.query.push_back({"continuation-token", query.token});
  if (query.most > 0) request.query.push_back({"max-keys", Cat(query.most)});
  request.error_in_body = true;
  request.most_body = kMostPageBytes;
  return request;
}

absl::StatusOr<ListPage> PageOf(const FolderPlace& place, absl::StatusOr<http::Reply> reply) {
  if (!reply.ok()) return std::move(reply).status();
  if (reply->head.status != 200) return place.store->Refused(place.name, "list", *reply);
  absl::StatusOr<ListPage> page = ParseListPage(reply->body);
  if (page.ok()) return page;
  if (!CodeOf(reply->body).empty()) return place.store->Refused(place.name, "list", *reply);
  return Reworded(page.status(),
                  Cat(place.name, ": could not list it: the store's reply is wrong: ", ToStd(page.status().message())));
}

absl::StatusOr<ListPage> ListOnePage(const FolderPlace& place, const ListQuery& query) {
  return PageOf(place, place.store->Run(ListRequest(place, query)));
}

}  // namespace headrace::s3
