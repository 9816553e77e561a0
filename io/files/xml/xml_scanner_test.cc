#include "io/files/xml/xml_scanner.h"

#include <optional>
#include <string>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::optional<std::string> AttributeOf(const std::string& xml, std::string_view name) {
  XmlScanner scanner(xml);
  EXPECT_EQ(scanner.Next(), XmlEvent::kBegin);
  std::optional<std::string> value = scanner.Attribute(name);
  EXPECT_TRUE(scanner.status().ok()) << scanner.status();
  return value;
}

TEST(XmlScanner, ReadsAttributes) {
  const std::string xml = "<a one=\"1\" two = 'x>\"&lt;&#65;' \n three=\"\"/>";
  EXPECT_EQ(AttributeOf(xml, "one"), "1");
  EXPECT_EQ(AttributeOf(xml, "two"), "x>\"<A");
  EXPECT_EQ(AttributeOf(xml, "three"), "");
  EXPECT_EQ(AttributeOf(xml, "four"), std::nullopt);
  EXPECT_EQ(AttributeOf("<a/>", "one"), std::nullopt);
  EXPECT_EQ(AttributeOf("<a one='1'></a>", "one"), "1");
}

TEST(XmlScanner, RefusesDamagedAttributes) {
  for (const char* const xml : {"<a one/>", "<a one=1/>", "<a =\"1\"/>", "<a \"one\"/>", "<a one='&x;'/>"}) {
    XmlScanner scanner(xml);
    EXPECT_EQ(scanner.Next(), XmlEvent::kBegin);
    EXPECT_EQ(scanner.Attribute("one"), std::nullopt);
    EXPECT_EQ(KindOf(scanner.status()), ErrorKind::kData) << xml;
    EXPECT_THAT(std::string(scanner.status().message()), HasSubstr("at byte"));
    EXPECT_EQ(scanner.Next(), XmlEvent::kError);
  }
}

}  // namespace
}  // namespace headrace
