#include "core/byte_pieces.h"

#include <gtest/gtest.h>

#include <string>

#include "core/varint.h"

namespace headrace {
namespace {

TEST(BytePieces, TakesNumbersAndPiecesInOrder) {
  BytePieces pieces(std::string_view("\x01\x02\x00rest", 7));
  EXPECT_EQ(pieces.TakeNumber<uint8_t>(), 1);
  EXPECT_EQ(pieces.TakeNumber<uint16_t>(), 2);
  EXPECT_EQ(pieces.left(), 4);
  EXPECT_EQ(pieces.Take(4), "rest");
  EXPECT_TRUE(pieces.whole());
}

TEST(BytePieces, GivesNothingAfterAMissingPiece) {
  BytePieces pieces("abc");
  EXPECT_EQ(pieces.TakeNumber<uint32_t>(), 0);
  EXPECT_FALSE(pieces.whole());
  EXPECT_EQ(pieces.Take(1), "");
  EXPECT_EQ(pieces.TakeNumber<uint8_t>(), 0);
  EXPECT_EQ(pieces.TakeVarint(), 0);
}

TEST(BytePieces, TakesWhatPutVarintWrote) {
  for (int shift = 0; shift < 64; ++shift) {
    for (const uint64_t value : {uint64_t{1} << shift, (uint64_t{1} << shift) - 1, ~uint64_t{0} >> shift}) {
      std::string bytes;
      PutVarint(bytes, value);
      EXPECT_EQ(bytes.size(), VarintSize(value));
      BytePieces pieces(bytes);
      EXPECT_EQ(pieces.TakeVarint(), value);
      EXPECT_TRUE(pieces.whole());
      EXPECT_EQ(pieces.left(), 0);
      BytePieces cut(std::string_view(bytes).substr(0, bytes.size() - 1));
      EXPECT_EQ(cut.TakeVarint(), 0);
      EXPECT_FALSE(cut.whole());
    }
  }
}

TEST(BytePieces, RefusesVarintsOfOtherForms) {
  for (const std::string_view bytes :
       {std::string_view("\x80\x00", 2), std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    BytePieces pieces(bytes);
    pieces.TakeVarint();
    EXPECT_FALSE(pieces.whole());
  }
}

}  // namespace
}  // namespace headrace
