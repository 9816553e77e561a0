#include "io/formats/model/openvino_file.h"

#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/formats/model/testing/model_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(OpenVinoFile, ReadsTheFrameworksEntries) {
  const std::string xml = fixture::OpenVinoText(
      "<headrace.graph value=\"QUJD\" /><k value='{&quot;a&quot;: &quot;&lt;b> &amp; \u00e9&#10;&quot;}'/>"
      "<info name=\"1 a/b\" value=\"named\"/><info value=\"unnamed\"/><deep><k value=\"no\"/></deep>"
      "<twice value=\"1\"/><twice value=\"2\"></twice>");
  EXPECT_THAT(*ReadOpenVinoEntries(xml, {}),
              ElementsAre(Pair("headrace.graph", "QUJD"), Pair("k", "{\"a\": \"<b> & \u00e9\n\"}"),
                          Pair("1 a/b", "named"), Pair("info", "unnamed"), Pair("twice", "2")));
  EXPECT_THAT(*ReadOpenVinoEntries(xml, "headrace.graph"), ElementsAre(Pair("headrace.graph", "QUJD")));
  EXPECT_THAT(*ReadOpenVinoEntries(xml, "a"), IsEmpty());
  EXPECT_THAT(*ReadOpenVinoEntries("<net/>", {}), IsEmpty());
}

TEST(OpenVinoFile, IsToldByItsOutermostElement) {
  EXPECT_TRUE(BeginsAsOpenVino(fixture::OpenVinoText("")));
  EXPECT_TRUE(BeginsAsOpenVino("\xef\xbb\xbf <!-- c --><net name=\"m\">"));
  EXPECT_FALSE(BeginsAsOpenVino("<annotation></annotation>"));
  EXPECT_FALSE(BeginsAsOpenVino("<networks>"));
  EXPECT_FALSE(BeginsAsOpenVino("<net"));
  EXPECT_FALSE(BeginsAsOpenVino(""));
}

TEST(OpenVinoFile, RefusesDamage) {
  const std::string xml = fixture::OpenVinoText("<k value=\"v&amp;w\" />");
  const size_t end = xml.rfind('>');
  for (size_t size = 0; size <= end; ++size) {
    EXPECT_EQ(KindOf(ReadOpenVinoEntries(xml.substr(0, size), {}).status()), ErrorKind::kData) << size;
  }
  for (size_t at = 0; at < xml.size(); ++at) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = xml;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto read = ReadOpenVinoEntries(damaged, {});
      if (!read.ok()) {
        EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
      }
    }
  }
  for (const char* const entry : {"<k value=v/>", "<k value/>", "<k value=\"&no;\"/>", "<k ==\"\"/>",
                                  "<k value=\"\xff\"/>", "<k a=\"1\" \"b\"/>"}) {
    EXPECT_THAT(std::string(ReadOpenVinoEntries(fixture::OpenVinoText(entry), {}).status().message()),
                HasSubstr("at byte"))
        << entry;
  }
}

}  // namespace
}  // namespace headrace
