#include "io/formats/recordio/face_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/testing/record_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;

class FaceSet : public ::testing::Test {
 protected:
  // The keys that are left of records with keys 0, 1, 2, …
  std::vector<uint64_t> Chosen(const std::vector<std::string>& payloads, const std::vector<uint64_t>& keys) {
    RecordIndex index;
    index.keys = keys;
    std::string bytes;
    for (const std::string_view payload : payloads) {
      index.offsets.push_back(static_cast<int64_t>(bytes.size()));
      Require(AppendRecord({payload}, bytes).ok(), "a record fits");
    }
    const std::string path = folder_.Write("a.rec", bytes);
    const auto end = ChooseImages(*LocalFileSystem(), path, static_cast<int64_t>(bytes.size()), index);
    EXPECT_TRUE(end.ok()) << end.status();
    end_ = *end;
    return index.keys;
  }
  static std::string Bare(uint64_t id, float begin, float end) { return ImagePayload(id, {begin, end}, ""); }

  TemporaryFolder folder_;
  int64_t end_ = 0;
};

TEST_F(FaceSet, LeavesOutHeaderAndIdentities) {
  const std::vector<std::string> payloads = {Bare(0, 3, 5), ImagePayload(1, {0}, "a"), ImagePayload(2, {1}, "b"),
                                             Bare(3, 1, 2), Bare(4, 2, 3)};
  EXPECT_THAT(Chosen(payloads, {0, 1, 2, 3, 4}), ElementsAre(1, 2));
  EXPECT_EQ(end_, 40 + 2 * 36) << "where the identities begin";
}

TEST_F(FaceSet, MayHaveItsHeaderBehindTheImages) {
  const std::vector<std::string> payloads = {ImagePayload(1, {0}, "a"), ImagePayload(2, {1}, "b"), Bare(0, 3, 5),
                                             Bare(3, 1, 2), Bare(4, 2, 3)};
  EXPECT_THAT(Chosen(payloads, {1, 2, 0, 3, 4}), ElementsAre(1, 2));
}

TEST_F(FaceSet, FindsIdentitiesBeyondTheWholeNumbersOfFloats) {
  constexpr uint64_t kFirst = (uint64_t{1} << 26) + 3;  // floats are 8 apart there
  std::vector<std::string> payloads = {Bare(0, static_cast<float>(kFirst), static_cast<float>(kFirst + 2))};
  std::vector<uint64_t> keys = {0};
  for (uint64_t key = kFirst - 10; key < kFirst; ++key) {
    payloads.push_back(ImagePayload(key, {0}, "a"));
    keys.push_back(key);
  }
  const std::vector<uint64_t> images(keys.begin() + 1, keys.end());
  for (uint64_t key = kFirst; key < kFirst + 2; ++key) {
    payloads.push_back(Bare(key, 1, 2));
    keys.push_back(key);
  }
  EXPECT_EQ(Chosen(payloads, keys), images);
}

TEST_F(FaceSet, LeavesOtherFilesAsTheyAre) {
  EXPECT_THAT(Chosen({ImagePayload(0, {1, 2}, "a"), ImagePayload(1, {3, 4}, "b")}, {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(Chosen({Bare(0, 0.5f, 0.25f), ImagePayload(1, {3, 4}, "b")}, {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(Chosen({"no image", "record"}, {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(Chosen({Bare(0, 3, 5), Bare(1, 3, 5)}, {7, 8}), ElementsAre(7, 8));
  EXPECT_THAT(Chosen({}, {}), ElementsAre());
}

}  // namespace
}  // namespace headrace
