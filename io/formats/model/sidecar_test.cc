#include "io/formats/model/sidecar.h"

#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Sidecar, LiesBesideTheModel) {
  EXPECT_EQ(SidecarOf("a/m.tflite"), "a/m.tflite.hrg");
  EXPECT_EQ(SidecarOf("saved_model//"), "saved_model.hrg");
  EXPECT_TRUE(IsSidecarPath("a/m.hrg"));
  EXPECT_FALSE(IsSidecarPath("a/m.tflite"));
}

TEST(Sidecar, IsReadAsItWasWritten) {
  const std::vector<ModelEntry> entries = {
      {"k", "v"}, {"quotes", "\"\\\n\t"}, {"é", "\u202e😀"}, {"empty", ""}, {"long", std::string(17 << 20, 'x')}};
  EXPECT_THAT(*ReadSidecar(SidecarText(entries), {}), ElementsAreArray(entries));
  EXPECT_THAT(*ReadSidecar(SidecarText(entries), "k"), ElementsAreArray({entries[0]}));
  EXPECT_THAT(*ReadSidecar(SidecarText({}), {}), IsEmpty());
}

TEST(Sidecar, RefusesOtherFiles) {
  const std::string text = SidecarText({{"k", "v"}});
  for (size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_EQ(KindOf(ReadSidecar(text.substr(0, size), {}).status()), ErrorKind::kData) << size;
  }
  for (const char* const other : {"[]", "\"k\"", "{\"k\":1}", "{\"k\":null}", "{}{}", "\x08\x02"}) {
    EXPECT_THAT(std::string(ReadSidecar(other, {}).status().message()), HasSubstr("a JSON object of texts")) << other;
  }
}

}  // namespace
}  // namespace headrace
