// Notes of entry points give the same points back for the same file, and none for any other bytes.
#include "kernels/vision/codecs/jpeg/own/entry_points.h"

#include <string>
#include <vector>

#include "core/philox.h"
#include "gtest/gtest.h"
#include "kernels/testing/jpeg_writer.h"

namespace headrace::jpeg {
namespace {

using fixture::WriteJpeg;

// 40 MCUs in each of 3 rows.
std::string FileOf(uint64_t key) {
  RowRandom random(31, 0, {.key = key});
  return WriteJpeg({.width = 640, .height = 48, .components = {{2, 2}, {}, {}}}, random);
}

// Points as a decoder might find them: of any means, and bits in the file's data.
std::vector<EntryPoint> AddAny(EntryPoints& points, int count) {
  RowRandom random(32, 0, {.key = 0});
  std::vector<EntryPoint> added;
  uint64_t bit = points.last_known().bit;
  for (int i = 0; i < count; ++i) {
    bit += random.Below(200);
    EntryPoint point{.mcu = points.missing(), .bit = bit};
    for (int32_t& mean : point.means) mean = static_cast<int32_t>(random.Below(4001)) - 2000;
    points.Add(point);
    added.push_back(point);
  }
  return added;
}

void ExpectEqual(const EntryPoint& found, const EntryPoint& expected) {
  EXPECT_EQ(found.mcu, expected.mcu);
  EXPECT_EQ(found.bit, expected.bit);
  EXPECT_EQ(found.means, expected.means);
}

TEST(EntryPoints, StandAtRowsAndAtEverySixteenthMcuOfThem) {
  const std::string file = FileOf(1);
  EntryPoints points;
  points.Begin(*FindSequentialJpeg(file), "");
  std::vector<int64_t> mcus;
  for (const EntryPoint& point : AddAny(points, 8)) mcus.push_back(point.mcu);
  EXPECT_EQ(mcus, (std::vector<int64_t>{16, 32, 40, 56, 72, 80, 96, 112}));
  EXPECT_EQ(points.missing(), 120);
}

TEST(EntryPoints, ComeBackFromNotes) {
  const std::string file = FileOf(1);
  const SequentialJpeg jpeg = *FindSequentialJpeg(file);
  EntryPoints points;
  points.Begin(jpeg, "");
  EXPECT_FALSE(points.has_added());
  std::vector<EntryPoint> added = AddAny(points, 3);
  EXPECT_TRUE(points.has_added());
  EntryPoints again;
  again.Begin(jpeg, points.Notes());
  EXPECT_FALSE(again.has_added());
  ExpectEqual(again.last_known(), added.back());
  EXPECT_EQ(again.missing(), 56);
  // More are added after them.
  const std::vector<EntryPoint> more = AddAny(again, 2);
  added.insert(added.end(), more.begin(), more.end());
  EntryPoints all;
  all.Begin(jpeg, again.Notes());
  EXPECT_EQ(all.FindUpTo(15).mcu, 0);
  size_t next = 0;
  for (int64_t mcu = 16; mcu < 120; ++mcu) {
    if (next < added.size() && added[next].mcu <= mcu) ++next;
    ExpectEqual(all.FindUpTo(mcu), added[next - 1]);
  }
  EXPECT_EQ(next, added.size());
}

TEST(EntryPoints, AreNotTakenFromNotesOfOtherBytes) {
  std::string file = FileOf(1);
  EntryPoints points;
  points.Begin(*FindSequentialJpeg(file), "");
  AddAny(points, 8);
  const std::string notes(points.Notes());
  const auto take = [](const std::string& bytes, std::string_view given) {
    EntryPoints taken;
    taken.Begin(*FindSequentialJpeg(bytes), given);
    return taken.last_known().mcu;
  };
  EXPECT_EQ(take(file, notes), 112);
  EXPECT_EQ(take(FileOf(2), notes), 0);
  EXPECT_EQ(take(file + "x", notes), 0);
  for (size_t bit = 0; bit < notes.size() * 8; ++bit) {
    std::string damaged = notes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    ASSERT_EQ(take(file, damaged), 0) << "bit " << bit;
  }
  for (size_t size = 0; size < notes.size(); ++size) ASSERT_EQ(take(file, notes.substr(0, size)), 0) << size;
  EXPECT_EQ(take(file, notes + '\0'), 0);
  const size_t last = file.size() - 1;
  file[last] = static_cast<char>(file[last] ^ 1);
  EXPECT_EQ(take(file, notes), 0);
}

TEST(EntryPoints, AreRefusedWhereNoFileHasThem) {
  const std::string file = FileOf(1);
  const SequentialJpeg jpeg = *FindSequentialJpeg(file);
  EntryPoints points;
  const std::string point("\x05\x02\x02\x02");
  EXPECT_TRUE(points.BeginUnchecked(jpeg, point));
  EXPECT_EQ(points.last_known().means[2], 1);
  EXPECT_FALSE(points.BeginUnchecked(jpeg, point.substr(0, 3)));
  EXPECT_EQ(points.last_known().mcu, 0);
  EXPECT_TRUE(points.points().empty());
  // After the file's last byte, a mean value that no data have, a number that does not end, and too many points.
  EXPECT_FALSE(points.BeginUnchecked(jpeg, "\xFF\xFF\xFF\x7F\x02\x02\x02"));
  EXPECT_FALSE(points.BeginUnchecked(jpeg, "\x05\x80\x80\x80\x80\x7F\x02\x02"));
  EXPECT_FALSE(points.BeginUnchecked(jpeg, std::string(64, '\xFF')));
  std::string many;
  for (int i = 0; i < 8; ++i) many += point;
  EXPECT_TRUE(points.BeginUnchecked(jpeg, many));
  EXPECT_FALSE(points.BeginUnchecked(jpeg, many + point));
}

}  // namespace
}  // namespace headrace::jpeg
