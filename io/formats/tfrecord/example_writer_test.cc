#include "io/formats/tfrecord/example_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "io/formats/tfrecord/testing/example_bytes.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {
namespace {

std::string WrittenExample(const std::vector<WrittenFeature>& features) {
  std::string bytes;
  AppendExample(features, bytes);
  return bytes;
}

TEST(AppendExample, WritesPackedLists) {
  const std::vector<int64_t> ints = {0, 127, 128, -1, std::numeric_limits<int64_t>::min()};
  const std::vector<float> floats = {0.5f, -0.0f};
  const std::string longer(200, 'x');
  const std::vector<std::string_view> texts = {"", longer};
  EXPECT_EQ(
      WrittenExample({{"floats", absl::MakeConstSpan(floats)},
                      {"ints", absl::MakeConstSpan(ints)},
                      {"texts", absl::MakeConstSpan(texts)}}),
      ExampleBytes(
          {{"floats", FloatFeature(floats)}, {"ints", Int64Feature(ints)}, {"texts", BytesFeature({"", longer})}}));
}

TEST(AppendExample, WritesTheKindOfNoValues) {
  EXPECT_EQ(WrittenExample({{"f", absl::Span<const float>()},
                            {"i", absl::Span<const int64_t>()},
                            {"t", absl::Span<const std::string_view>()}}),
            ExampleBytes({{"f", FloatFeature({})}, {"i", Int64Feature({})}, {"t", BytesFeature({})}}));
  EXPECT_EQ(WrittenExample({}), ExampleBytes({}));
}

TEST(AppendExample, IsFramedAsARecord) {
  const std::vector<int64_t> ints = {7};
  std::string frames = "before";
  ASSERT_TRUE(AppendExampleRecord({{"i", absl::MakeConstSpan(ints)}}, frames).ok());
  EXPECT_EQ(frames, "before" + TfRecordBytes({ExampleBytes({{"i", Int64Feature({7})}})}));
}

}  // namespace
}  // namespace headrace
