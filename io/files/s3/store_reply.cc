#include "io/files/s3/store_reply.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "io/files/plainly_missing.h"
#include "io/files/xml/xml_scanner.h"

namespace headrace::s3 {
namespace {

constexpr size_t kMostShown = 200;

struct Advice {
  ErrorKind kind;
  std::string_view code;
  std::string_view text;
  bool plainly_missing = false;
};

constexpr std::string_view kRenew =
    "the credentials have expired or are not good for this store; renew them (aws configure, aws sso login, or "
    "storage=)";

// What the user has to change, by the store's code. A refusal is no missing object, whose reason is looked for.
constexpr Advice kAdvice[] = {
    {ErrorKind::kNotFound, "NoSuchBucket", "there is no such bucket at this endpoint; check its name and the endpoint"},
    {ErrorKind::kNotFound, "NoSuchKey", "not found; check the path", true},
    {ErrorKind::kUnsupported, "ExpiredToken", kRenew},
    {ErrorKind::kUnsupported, "InvalidToken", kRenew},
    {ErrorKind::kUnsupported, "InvalidAccessKeyId", kRenew},
    {ErrorKind::kUnsupported, "SignatureDoesNotMatch",
     "the secret key is not that of the access key, or a proxy changes requests; check the credentials"},
    {ErrorKind::kUnsupported, "RequestTimeTooSkewed", "the clock of this machine is wrong; set it"},
    {ErrorKind::kUnsupported, "InvalidObjectState", "it is archived; restore it, or copy it to another storage class"},
    {ErrorKind::kUnsupported, "NotImplemented", "this store cannot do that"},
    {ErrorKind::kUnsupported, "EntityTooLarge", "it is larger than the store allows; write several files"},
};

Advice AdviceOf(int status, std::string_view code, std::string_view wanted) {
  for (const Advice& advice : kAdvice) {
    if (advice.code == code) return advice;
  }
  switch (status) {
    case 301:
    case 307:
      return {ErrorKind::kUnsupported,
              {},
              "the bucket is in another region or at another endpoint; set region or endpoint"};
    case 401:
    case 403:
      if (wanted == "write" || wanted == "remove") {
        return {ErrorKind::kUnsupported,
                {},
                "the credentials may not write it; give them s3:PutObject and s3:DeleteObject"};
      }
      return {ErrorKind::kUnsupported,
              {},
              "the credentials may not read it, or it is missing and they may not list the bucket; give them "
              "s3:GetObject and s3:ListBucket, or set anonymous for a public bucket"};
    case 404:
      return {ErrorKind::kNotFound, {}, "not found; check the path", true};
    case 416:
      return {ErrorKind::kData, {}, "it ends before the bytes that were asked for"};
    default:
      return {ErrorKind::kUnsupported, {}, "the store refused the request"};
  }
}

bool ShowsHidden(std::string_view text, const std::vector<std::string_view>& hidden) {
  return std::any_of(hidden.begin(), hidden.end(),
                     [&](std::string_view word) { return !word.empty() && text.find(word) != std::string_view::npos; });
}

}  // namespace

Problem ProblemOf(const http::Head& head, std::string_view body) {
  Problem problem;
  XmlScanner scanner(body);
  // Of <Error>, or of <ErrorResponse><Error>.
  for (XmlEvent event = scanner.Next(); event == XmlEvent::kBegin || event == XmlEvent::kEnd; event = scanner.Next()) {
    const std::vector<std::string_view>& path = scanner.path();
    if (event == XmlEvent::kBegin || path.size() < 2) continue;
    const bool in_error = path[path.size() - 2] == "Error" || path[path.size() - 2] == "ErrorResponse";
    if (!in_error) continue;
    const std::string_view name = path.back();
    if (name == "Code") problem.code = scanner.text();
    if (name == "Message") problem.message = scanner.text();
    if (name == "RequestId") problem.request_id = scanner.text();
    if (name == "Region") problem.region = scanner.text();
  }
  const std::string_view request_id = head.Find("x-amz-request-id");
  if (!request_id.empty()) problem.request_id = request_id;
  const std::string_view region = head.Find("x-amz-bucket-region");
  if (!region.empty()) problem.region = region;
  return problem;
}

std::string CodeOf(std::string_view body) { return ProblemOf({}, body).code; }

absl::Status RefusedError(std::string_view name, std::string_view wanted, const http::Reply& reply,
                          const std::vector<std::string_view>& hidden) {
  const int status = reply.head.status;
  if (status == 412) return ChangedError(name);
  const Problem problem = ProblemOf(reply.head, reply.body);
  const Advice advice = AdviceOf(status, problem.code, wanted);
  std::string said = Cat("status ", status);
  const auto add = [&](std::string_view before, std::string_view text) {
    if (text.empty() || ShowsHidden(text, hidden)) return;
    Append(said, before, PrintableStart(text, kMostShown));
  };
  add(" ", problem.code);
  add(", ", problem.message);
  add("; request ", problem.request_id);
  absl::Status error = MakeError(advice.kind, Cat(name, ": could not ", wanted, " it: ", advice.text, " (", said, ", ",
                                                  reply.attempts, reply.attempts == 1 ? " attempt)" : " attempts)"));
  return advice.plainly_missing ? PlainlyMissing(std::move(error)) : error;
}

absl::Status ChangedError(std::string_view name) {
  return DataError(name,
                   " changed since it was listed; write files under other names, and begin again from a new listing");
}

}  // namespace headrace::s3
