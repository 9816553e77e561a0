#include "io/listings/kept_by_files.h"

#include <gtest/gtest.h>

#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

constexpr int64_t kHour = 3'600'000'000'000;

class KeptByFilesTest : public ::testing::Test {
 protected:
  static int64_t Now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }
  // Which value, counted, is given for the files.
  int Get(KeptByFiles<int>& kept, const std::string& name, const std::vector<std::string>& paths) {
    return **kept.Get(*LocalFileSystem(), name, paths, [this]() -> absl::StatusOr<int> { return ++made_; });
  }

  TemporaryFolder folder_;
  int made_ = 0;
};

TEST_F(KeptByFilesTest, MakesAValueAgainWhenAFileChanges) {
  KeptByFiles<int> kept([] { return Now() + kHour; });
  const std::string a = folder_.Write("a", "1"), b = folder_.Write("b", "2");
  EXPECT_EQ(Get(kept, "x", {a, b}), 1);
  EXPECT_EQ(Get(kept, "x", {a, b}), 1);
  EXPECT_EQ(Get(kept, "y", {a, b}), 2) << "another name is another value";
  EXPECT_EQ(Get(kept, "x", {a, b}), 1);
  folder_.Write("b", "3");
  EXPECT_EQ(Get(kept, "x", {a, b}), 3);
  EXPECT_EQ(Get(kept, "x", {a}), 4);
}

TEST_F(KeptByFilesTest, KeepsNothingOfFilesThatJustChanged) {
  KeptByFiles<int> kept;
  const std::string a = folder_.Write("a", "1");
  EXPECT_EQ(Get(kept, "x", {a}), 1);
  EXPECT_EQ(Get(kept, "x", {a}), 2);
}

TEST_F(KeptByFilesTest, KeepsTheLastFew) {
  KeptByFiles<int> kept([] { return Now() + kHour; });
  const std::string a = folder_.Write("a", "1");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Get(kept, std::to_string(i), {a}), i + 1);
  EXPECT_EQ(Get(kept, "5", {a}), 6);
  EXPECT_EQ(Get(kept, "0", {a}), 7);
}

TEST_F(KeptByFilesTest, ForgetsAValueOfOneName) {
  KeptByFiles<int> kept([] { return Now() + kHour; });
  const std::string a = folder_.Write("a", "1");
  EXPECT_EQ(Get(kept, "x", {a}), 1);
  EXPECT_EQ(Get(kept, "y", {a}), 2);
  kept.Forget(*LocalFileSystem(), "x");
  EXPECT_EQ(Get(kept, "x", {a}), 3);
  EXPECT_EQ(Get(kept, "y", {a}), 2);
}

struct HeldValue {
  int64_t bytes = 0;

  int64_t held_bytes() const { return bytes; }
};

TEST_F(KeptByFilesTest, KeepsNoValueThatHoldsMuchMemory) {
  KeptByFiles<HeldValue> kept([] { return Now() + kHour; });
  const std::string a = folder_.Write("a", "1");
  const auto is_kept = [&](const std::string& name, int64_t bytes) {
    const auto get = [&] {
      return *kept.Get(*LocalFileSystem(), name, {a}, [&]() -> absl::StatusOr<HeldValue> { return HeldValue{bytes}; });
    };
    const std::shared_ptr<const HeldValue> first = get();
    return first == get();
  };
  EXPECT_TRUE(is_kept("x", KeptByFiles<HeldValue>::kMostHeld));
  EXPECT_FALSE(is_kept("y", KeptByFiles<HeldValue>::kMostHeld + 1));
}

TEST_F(KeptByFilesTest, KeepsNoError) {
  KeptByFiles<int> kept([] { return Now() + kHour; });
  const auto fails = []() -> absl::StatusOr<int> { return DataError("no"); };
  EXPECT_FALSE(kept.Get(*LocalFileSystem(), "x", {folder_.Write("a", "1")}, fails).ok());
  EXPECT_EQ(Get(kept, "x", {folder_ / "a"}), 1);
}

}  // namespace
}  // namespace headrace
