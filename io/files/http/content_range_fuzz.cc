#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/files/http/content_range.h"
#include "io/files/http/http_date.h"
#include "io/files/http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto range = headrace::http::ParseContentRange(text)) {
    Require(range->first >= 0 && range->size >= -1, "a range of bytes");
    Require(range->size < 0 || range->last < range->size, "the range is within the file");
  }
  headrace::http::ParseHttpDate(text);
  headrace::http::OriginOf(text);
  const auto resolved = headrace::http::ResolveUrl("https://host/a/b?c", text);
  if (resolved.ok()) Require(headrace::http::OriginOf(*resolved).starts_with("http"), "only http and https");
  for (const char letter : headrace::http::EncodedUrl(text)) Require(letter > ' ' && letter < 0x7f, "plain letters");
  return 0;
}
