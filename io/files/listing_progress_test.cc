#include "io/files/listing_progress.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/text.h"
#include "io/files/far_listing.h"

namespace headrace {
namespace {

using std::chrono::milliseconds;

class ListingProgressTest : public ::testing::Test {
 protected:
  std::chrono::nanoseconds now_{0};
  std::vector<ListingProgress::Seen> shown_;
  std::unique_ptr<ListingProgress::Scope> scope_ = std::make_unique<ListingProgress::Scope>(
      [this](const ListingProgress::Seen& seen) { shown_.push_back(seen); }, [this] { return now_; });
};

TEST_F(ListingProgressTest, SaysNothingOfAShortListing) {
  {
    ListingProgress progress("mem://b");
    now_ += milliseconds(4999);
    progress.Add(1000);
    progress.End();
  }
  EXPECT_TRUE(shown_.empty());
}

TEST_F(ListingProgressTest, SaysFromFiveSecondsEveryTen) {
  {
    ListingProgress progress("mem://b");
    for (int i = 0; i < 260; ++i) {
      now_ += milliseconds(100);
      progress.Add(10);
    }
    ASSERT_EQ(shown_.size(), 3u);
    EXPECT_EQ(shown_[0].folder, "mem://b");
    EXPECT_EQ(shown_[0].entries, 500);
    EXPECT_EQ(shown_[1].entries, 1500);
    EXPECT_EQ(shown_[2].entries, 2500);
    EXPECT_EQ(shown_[2].since_start, milliseconds(25000));
    progress.End();
    EXPECT_FALSE(shown_[2].ended);
  }
  ASSERT_EQ(shown_.size(), 4u);
  EXPECT_TRUE(shown_[3].ended);
  EXPECT_EQ(shown_[3].entries, 2600);
}

TEST_F(ListingProgressTest, SaysNothingWhereNobodyWaits) {
  scope_.reset();
  ListingProgress progress("mem://b");
  progress.Add(1);
}

class SlowPages : public FolderPages {
 public:
  explicit SlowPages(std::chrono::nanoseconds* now) : now_(now) {}
  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    *now_ += std::chrono::seconds(3);
    std::vector<FolderEntry> page;
    if (pages_++ == 4) return page;
    page.emplace_back().name = Cat("file", pages_);
    page.back().size = 1;
    return page;
  }

 private:
  std::chrono::nanoseconds* const now_;
  int pages_ = 0;
};

TEST_F(ListingProgressTest, ShowsTheListingOfAFarStore) {
  SlowPages pages(&now_);
  const auto listing = FarListing::Read(pages, "mem://b", true);
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(listing->size(), 4);
  ASSERT_EQ(shown_.size(), 2u);
  EXPECT_EQ(shown_[0].entries, 2);
  EXPECT_TRUE(shown_.back().ended);
}

}  // namespace
}  // namespace headrace
