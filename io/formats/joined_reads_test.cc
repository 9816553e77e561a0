#include "io/formats/joined_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace headrace {
namespace {

absl::Span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(JoinedReads, CutWholePieces) {
  const JoinedReads::OpenFile opened{nullptr, 100};
  RandomAccessReader::Content content;
  ASSERT_TRUE(JoinedReads::CutWhole({0, 10, 13}, "row", opened, 100, BytesOf("abcdef"), content).ok());
  EXPECT_EQ(content.bytes, "abc");
  EXPECT_FALSE(content.changed);
  ASSERT_TRUE(JoinedReads::CutWhole({0, 10, 13}, "row", opened, 99, BytesOf("abc"), content).ok());
  EXPECT_TRUE(content.changed);
}

TEST(JoinedReads, SayWhereAPieceIsCutOff) {
  RandomAccessReader::Content content;
  const absl::Status cut = JoinedReads::CutWhole({0, 10, 13}, "row", {nullptr, 12}, 100, BytesOf("ab"), content);
  EXPECT_EQ(KindOf(cut), ErrorKind::kData);
  EXPECT_EQ(ToStd(cut.message()), "byte 10: the row ends at byte 12: the file was cut off after the run had begun");
}

}  // namespace
}  // namespace headrace
