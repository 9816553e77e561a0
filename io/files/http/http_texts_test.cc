#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "io/files/http/content_range.h"
#include "io/files/http/header_text.h"
#include "io/files/http/http_date.h"
#include "io/files/http/percent_text.h"
#include "io/files/http/url.h"

namespace headrace::http {
namespace {

TEST(ContentRange, ReadsItsThreeForms) {
  const auto part = ParseContentRange("bytes 5-9/100");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->first, 5);
  EXPECT_EQ(part->last, 9);
  EXPECT_EQ(part->size, 100);
  EXPECT_EQ(ParseContentRange("bytes 5-9/*")->size, -1);
  const auto none = ParseContentRange("bytes */100");
  ASSERT_TRUE(none);
  EXPECT_LT(none->last, none->first);
  EXPECT_EQ(none->size, 100);
}

TEST(ContentRange, RefusesOthers) {
  for (const char* const text :
       {"", "bytes", "bytes ", "bytes 5-9", "bytes 9-5/100", "bytes 5-100/100", "bytes -5-9/100", "bytes 5-9/-1",
        "bytes */*", "bytes 5-/100", "bytes 5-9/1x", "bytes=5-9/100", "bytes 99999999999999999999-5/6", "lines 5-9/100",
        "bytes /", "bytes -/", "bytes 1 -2/3"}) {
    EXPECT_FALSE(ParseContentRange(text)) << text;
  }
}

TEST(HttpDate, ReadsTheFormThatIsSent) {
  EXPECT_EQ(ParseHttpDate("Thu, 01 Jan 1970 00:00:01 GMT"), 1);
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
  EXPECT_EQ(ParseHttpDate("Thu, 29 Feb 2024 23:59:60 GMT"), 1709251200);
  for (const char* const text :
       {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 ovD 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 19x4 08:49:37 GMT"}) {
    EXPECT_FALSE(ParseHttpDate(text)) << text;
  }
}

TEST(HeaderText, ComparesNamesAndEtags) {
  EXPECT_TRUE(IsHeader("If-Match", "if-match"));
  EXPECT_FALSE(IsHeader("If-Matc", "if-match"));
  EXPECT_FALSE(IsHeader("", "if-match"));
  EXPECT_TRUE(IsStrongEtag("\"\""));
  EXPECT_FALSE(IsStrongEtag("W/\"1\""));
  EXPECT_FALSE(IsStrongEtag(""));
}

TEST(Url, OriginsAreHosts) {
  EXPECT_EQ(OriginOf("https://Host.example/a?b"), "https://host.example:443");
  EXPECT_EQ(OriginOf("HTTP://user:word@host:8080"), "http://host:8080");
  EXPECT_EQ(OriginOf("http://[::1]/a"), "http://[::1]:80");
  EXPECT_EQ(OriginOf("http://[::1]:81?x"), "http://[::1]:81");
  EXPECT_NE(OriginOf("http://a.example@b.example/"), OriginOf("http://a.example/"));
}

TEST(Url, LocationsAreResolved) {
  const auto resolved = [](std::string_view location) { return *ResolveUrl("https://h:1/a/b?c", location); };
  EXPECT_EQ(resolved("http://other/x#y"), "http://other/x");
  EXPECT_EQ(resolved("//other/x"), "https://other/x");
  EXPECT_EQ(resolved("/x?y"), "https://h:1/x?y");
  EXPECT_EQ(resolved("x"), "https://h:1/a/x");
  EXPECT_EQ(resolved("../x/./y"), "https://h:1/x/y");
  EXPECT_EQ(resolved("../../../.."), "https://h:1/");
  EXPECT_EQ(resolved("?z"), "https://h:1/a/b?z");
  EXPECT_EQ(*ResolveUrl("http://h", "x"), "http://h/x");
  for (const char* const bad : {"", "#x", "ftp://h/x", "file:///etc/passwd", "javascript:x"}) {
    EXPECT_EQ(KindOf(ResolveUrl("http://h/", bad).status()), ErrorKind::kData) << bad;
  }
}

TEST(Url, WhatCannotStandInRequestsIsEncoded) {
  EXPECT_EQ(EncodedUrl("http://h/a b\xc3\xbc%20?q=[1]&x#part"), "http://h/a%20b%C3%BC%20?q=[1]&x");
  EXPECT_EQ(EncodedUrl("http://h/\r\nA: b"), "http://h/%0D%0AA:%20b");
}

TEST(Url, MessagesShowNoQueryAndNoUser) { EXPECT_EQ(ShownUrl("https://user:word@h/a?signature=1#x"), "https://h/a"); }

TEST(PercentText, KeepsWhatSignaturesKeep) {
  EXPECT_EQ(PercentEncoded("a-z_.~/'()*!$&+,;=:@", Slash::kKept), "a-z_.~/%27%28%29%2A%21%24%26%2B%2C%3B%3D%3A%40");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecoded(PercentEncoded(all)), all);
  EXPECT_EQ(PercentDecoded("a+b%2Bc%2fd%"), "a b+c/d%");
  EXPECT_EQ(PercentDecoded("%zz%4"), "%zz%4");
}

}  // namespace
}  // namespace headrace::http
