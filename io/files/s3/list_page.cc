#include "io/files/s3/list_page.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "io/files/http/percent_text.h"
#include "io/files/xml/xml_scanner.h"

namespace headrace::s3 {
namespace {

constexpr size_t kMostShownOfPage = 200;

// Names may have a prefix of a namespace.
std::string_view LocalName(std::string_view name) { return name.substr(name.rfind(':') + 1); }

bool ParseSize(std::string_view text, int64_t& size) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && size >= 0;
}

// Takes the elements of a page in turn.
class PageElements {
 public:
  absl::Status Begin(const std::vector<std::string_view>& path) {
    if (path.size() == 1 && LocalName(path[0]) != "ListBucketResult") {
      return DataError("the outermost element of a listing is ", PrintableStart(path[0], kMostShownOfPage),
                       " and not ListBucketResult");
    }
    if (path.size() == 2 && LocalName(path[1]) == "Contents") object_ = {{}, -1, {}};
    return absl::OkStatus();
  }

  absl::Status End(const std::vector<std::string_view>& path, std::string_view text) {
    if (path.size() == 2) return EndOfList(LocalName(path[1]), text);
    if (path.size() != 3) return absl::OkStatus();
    const std::string_view outer = LocalName(path[1]);
    const std::string_view name = LocalName(path[2]);
    if (outer == "CommonPrefixes" && name == "Prefix") page_.prefixes.emplace_back(text);
    if (outer != "Contents") return absl::OkStatus();
    if (name == "Key") object_.key = text;
    if (name == "ETag") object_.version = VersionOfETag(text);
    if (name == "Size" && !ParseSize(text, object_.size)) return DataError("the size of an object is not a number");
    return absl::OkStatus();
  }

  absl::StatusOr<ListPage> Finish() {
    if (page_.truncated && page_.next.empty()) return DataError("a page of a listing has no token for the next one");
    if (!encoded_) return std::move(page_);
    for (ListedObject& object : page_.objects) object.key = http::PercentDecoded(object.key);
    for (std::string& prefix : page_.prefixes) prefix = http::PercentDecoded(prefix);
    return std::move(page_);
  }

 private:
  absl::Status EndOfList(std::string_view name, std::string_view text) {
    if (name == "IsTruncated") page_.truncated = text == "true";
    if (name == "NextContinuationToken") page_.next = text;
    if (name == "EncodingType") encoded_ = text == "url";
    if (name != "Contents") return absl::OkStatus();
    if (object_.key.empty() || object_.size < 0) return DataError("an object of a listing has no key or no size");
    page_.objects.push_back(std::exchange(object_, {}));
    return absl::OkStatus();
  }

  ListPage page_;
  ListedObject object_;
  bool encoded_ = false;
};

}  // namespace

std::string VersionOfETag(std::string_view etag) {
  if (etag.starts_with("W/")) return {};
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

absl::StatusOr<ListPage> ParseListPage(std::string_view xml) {
  XmlScanner scanner(xml);
  PageElements elements;
  while (true) {
    switch (scanner.Next()) {
      case XmlEvent::kBegin:
        HEADRACE_RETURN_IF_ERROR(elements.Begin(scanner.path()));
        break;
      case XmlEvent::kEnd:
        HEADRACE_RETURN_IF_ERROR(elements.End(scanner.path(), scanner.text()));
        break;
      case XmlEvent::kError:
        return scanner.status();
      case XmlEvent::kDone:
        return elements.Finish();
    }
  }
}

}  // namespace headrace::s3
