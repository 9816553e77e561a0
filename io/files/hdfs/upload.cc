#include "io/files/hdfs/upload.h"

#include <utility>

#include "core/error.h"

namespace headrace::hdfs {

http::Call Upload::Next() {
  if (location_.empty()) return NameNodeDialogue::Next();
  http::Call call;
  call.name = operation().name;
  call.purpose = http::Purpose::kWrite;
  call.request.method = operation().method;
  call.request.url = location_;
  call.request.headers = {{"Content-Type", "application/octet-stream"}};
  if (!bytes_.empty()) call.request.body = {bytes_};
  call.may_repeat = false;
  call.judge = [](const http::Head&, std::string_view) { return http::Verdict::kResult; };
  may_have_written_ = true;
  return call;
}

Upload::Step Upload::Take(absl::StatusOr<http::Reply> reply) {
  if (!location_.empty()) {
    location_.clear();
    return NameNodeDialogue::Take(std::move(reply));
  }
  if (const std::optional<Step> step = TakeFailure(reply)) return *step;
  absl::StatusOr<std::string> location = RedirectOf(*reply);
  if (!location.ok()) return End(std::move(location).status());
  location_ = *std::move(location);
  return Step::kCall;
}

}  // namespace headrace::hdfs
