#include "io/files/started_reads.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

std::shared_ptr<StartedRead> NewRead() { return std::make_shared<StartedRead>(); }

TEST(StartedReads, GivesTheFirstReadOfAnItemFirst) {
  StartedReads reads;
  const auto first = NewRead();
  const auto second = NewRead();
  const int reader = 0;
  reads.Add(&reader, 7, {first, 0});
  reads.Add(&reader, 7, {second, 3});
  EXPECT_EQ(reads.Take(&reader, 7).read, first);
  const StartedReads::Entry entry = reads.Take(&reader, 7);
  EXPECT_EQ(entry.read, second);
  EXPECT_EQ(entry.at, 3);
  EXPECT_EQ(reads.Take(&reader, 7).read, nullptr);
}

TEST(StartedReads, TellsReadersApart) {
  StartedReads reads;
  const int of_one = 0;
  const int of_other = 0;
  reads.Add(&of_one, 1, {NewRead()});
  EXPECT_EQ(reads.Take(&of_other, 1).read, nullptr);
  EXPECT_NE(reads.Take(&of_one, 1).read, nullptr);
}

TEST(StartedReads, AreThoseOfTheInnermostScope) {
  EXPECT_EQ(StartedReads::Current(), nullptr);
  {
    StartedReads outer;
    EXPECT_EQ(StartedReads::Current(), &outer);
    {
      StartedReads inner;
      EXPECT_EQ(StartedReads::Current(), &inner);
    }
    EXPECT_EQ(StartedReads::Current(), &outer);
  }
  EXPECT_EQ(StartedReads::Current(), nullptr);
}

TEST(StartedReads, DropWhatWasNotTaken) {
  std::weak_ptr<StartedRead> dropped;
  {
    StartedReads reads;
    const auto read = NewRead();
    dropped = read;
    reads.Add(&reads, 1, {read});
  }
  EXPECT_TRUE(dropped.expired());
}

}  // namespace
}  // namespace headrace
