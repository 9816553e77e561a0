#include "io/files/s3/list_page.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace::s3 {
namespace {

TEST(ListPage, ReadsObjectsAndFolders) {
  const auto page = ParseListPage(R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>b</Name><Prefix>p%2F</Prefix><KeyCount>3</KeyCount><IsTruncated>true</IsTruncated>
  <Contents><Key>p%2Fa+b%2B%0A.jpg</Key><LastModified>2026-11-30T00:00:00.000Z</LastModified>
    <ETag>&quot;abc-2&quot;</ETag><Size>12345678901</Size><Owner><ID>x</ID></Owner></Contents>
  <Contents><Key>p/c</Key><Size>0</Size></Contents>
  <CommonPrefixes><Prefix>p%2Fsub%2F</Prefix></CommonPrefixes>
  <NextContinuationToken>t+/=%20</NextContinuationToken><EncodingType>url</EncodingType>
</ListBucketResult>)");
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key, "p/a b+\n.jpg");
  EXPECT_EQ(page->objects[0].size, 12345678901);
  EXPECT_EQ(page->objects[0].version, "abc-2");
  EXPECT_EQ(page->objects[1].key, "p/c");
  EXPECT_EQ(page->objects[1].version, "");
  ASSERT_EQ(page->prefixes.size(), 1u);
  EXPECT_EQ(page->prefixes[0], "p/sub/");
  EXPECT_TRUE(page->truncated);
  EXPECT_EQ(page->next, "t+/=%20");
}

TEST(ListPage, DecodesNothingWhereTheStoreEncodedNothing) {
  const auto page = ParseListPage(
      "<ListBucketResult><Contents><Key>a%20+b</Key><Size>1</Size></Contents><IsTruncated>false</IsTruncated>"
      "</ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->objects[0].key, "a%20+b");
}

TEST(ListPage, RefusesOtherReplies) {
  for (const char* bad : {"", "<html></html>", "<ListBucketResult>",
                          "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
                          "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>k</Key><Size>-1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>k</Key><Size>1x</Size></Contents></ListBucketResult>"}) {
    EXPECT_EQ(KindOf(ParseListPage(bad).status()), ErrorKind::kData) << bad;
  }
}

TEST(ListPage, TakesStrongETagsForVersions) {
  EXPECT_EQ(VersionOfETag("\"a\""), "a");
  EXPECT_EQ(VersionOfETag("a"), "a");
  EXPECT_EQ(VersionOfETag("W/\"a\""), "");
  EXPECT_EQ(VersionOfETag("\""), "\"");
  EXPECT_EQ(VersionOfETag(""), "");
}

}  // namespace
}  // namespace headrace::s3
