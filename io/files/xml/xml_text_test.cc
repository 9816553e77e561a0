#include "io/files/xml/xml_text.h"

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(EscapedXml, ReplacesWhatMarkupIsMadeOf) {
  EXPECT_EQ(EscapedXml("a<b>&\"c\"'ü"), "a&lt;b&gt;&amp;&quot;c&quot;'ü");
  EXPECT_EQ(EscapedXml(""), "");
}

}  // namespace
}  // namespace headrace
