// Decoding a part of a JPEG leaves notes of where decoding can begin, and uses those that it finds, with equal pixels
// and warnings.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/row_notes.h"
#include "core/row_warning.h"
#include "gtest/gtest.h"
#include "kernels/testing/jpeg_writer.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/codecs/jpeg/own_jpeg.h"

namespace headrace {
namespace {

using fixture::WriteJpeg;

class NotesInTable : public NoteStore {
 public:
  bool Find(uint64_t key, std::string& bytes) override {
    const auto found = notes.find(key);
    if (found == notes.end()) return false;
    bytes = found->second;
    return true;
  }
  void Leave(uint64_t key, std::string_view bytes, EarlierNote earlier) override {
    notes[key] = bytes;
    if (earlier == EarlierNote::kWrong) ++replaced;
  }
  void CountUse() override { ++uses; }
  bool has_given() const override { return !given.empty(); }
  bool FindGiven(uint64_t key, std::string& bytes) override {
    ++looked_up;
    const auto found = given.find(key);
    if (found == given.end()) return false;
    bytes = found->second;
    return true;
  }

  std::map<uint64_t, std::string> notes;
  std::map<uint64_t, std::string> given;
  int looked_up = 0;  // among them
  int uses = 0;
  int replaced = 0;
};

class JpegNotesTest : public testing::Test {
 protected:
  std::string Jpeg(int width, int height, uint64_t key = 0) const {
    RowRandom random(41, 0, {.key = key});
    return WriteJpeg({.width = width, .height = height, .components = {{2, 2}, {}, {}}}, random);
  }
  Tensor Part(const std::string& jpeg, const Window& part, NoteStore* store, uint64_t row = 7) const {
    const Tensor encoded = *Tensor::CopyBytes(DType::kBytes, jpeg);
    RowNotes notes(store == nullptr ? none_ : *store, row);
    const auto choose = [&](int64_t, int64_t) -> absl::StatusOr<WantedPart> {
      return WantedPart(part, nullptr, store == nullptr ? nullptr : &notes);
    };
    const absl::StatusOr<DecodedPart> decoded = dynamic_cast<const DecodeKernel&>(*kernel_).ApplyPart(encoded, choose);
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    const Window held = decoded->held;
    return decoded->image.tensor.Slice(0, part.top - held.top, part.height).Slice(1, part.left - held.left, part.width);
  }
  void ExpectSame(const std::string& jpeg, const Window& part) {
    EXPECT_TRUE(TensorsEqual(Part(jpeg, part, &store_), Part(jpeg, part, nullptr)));
  }

  std::unique_ptr<Kernel> kernel_ = *fixture::MakeKernel("Decode", {});
  mutable NotesInTable none_;
  NotesInTable store_;
};

constexpr Window kMiddle = {100, 200, 60, 80};

TEST_F(JpegNotesTest, AreLeftByOnePartAndUsedByTheNext) {
  const std::string jpeg = Jpeg(500, 300);
  ExpectSame(jpeg, kMiddle);
  EXPECT_EQ(store_.notes.size(), 1u);
  EXPECT_EQ(store_.uses, 0);
  const size_t bytes = store_.notes.begin()->second.size();
  EXPECT_LT(bytes, jpeg.size() / 20);
  ExpectSame(jpeg, {90, 300, 60, 80});
  EXPECT_EQ(store_.uses, 1);
  // A part that ends further below adds to them.
  ExpectSame(jpeg, {10, 30, 280, 100});
  EXPECT_EQ(store_.uses, 2);
  EXPECT_EQ(store_.replaced, 0);
  EXPECT_EQ(store_.notes.size(), 1u);
  EXPECT_GT(store_.notes.begin()->second.size(), bytes);
}

TEST_F(JpegNotesTest, AreLeftAndUsedHoweverTheImageIsTurned) {
  kernel_ = *fixture::MakeKernel("Decode", {{"orientation", ir::BoolValue(true)}});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string jpeg = fixture::WithOrientation(Jpeg(500, 400), orientation);
    store_ = {};
    ExpectSame(jpeg, kMiddle);
    EXPECT_EQ(store_.notes.size(), 1u) << orientation;
    ExpectSame(jpeg, kMiddle);
    EXPECT_EQ(store_.uses, 1) << orientation;
  }
}

TEST_F(JpegNotesTest, AreOfOneFileAlone) {
  ExpectSame(Jpeg(500, 300, 1), kMiddle);
  const std::string first = store_.notes.begin()->second;
  // The row's file has changed.
  ExpectSame(Jpeg(500, 300, 2), kMiddle);
  EXPECT_EQ(store_.uses, 0);
  EXPECT_EQ(store_.replaced, 1);
  EXPECT_NE(store_.notes.begin()->second, first);
  ExpectSame(Jpeg(500, 300, 2), kMiddle);
  EXPECT_EQ(store_.uses, 1);
  store_.notes.begin()->second[20] ^= 1;
  ExpectSame(Jpeg(500, 300, 2), kMiddle);
  EXPECT_EQ(store_.uses, 1);
  EXPECT_EQ(store_.replaced, 2);
}

TEST_F(JpegNotesTest, ThatCameWithTheFileReplaceAWrongOne) {
  ExpectSame(Jpeg(500, 300, 1), kMiddle);
  const std::string jpeg = Jpeg(500, 300, 2);
  const std::optional<EntryPointNote> note = NoteEntryPoints(jpeg);
  ASSERT_TRUE(note.has_value());
  store_.given[note->key] = note->bytes;
  for (int uses = 1; uses <= 3; ++uses) {
    ExpectSame(jpeg, kMiddle);
    EXPECT_EQ(store_.uses, uses);
    EXPECT_EQ(store_.replaced, 1);
    EXPECT_EQ(store_.looked_up, 1);
  }
  EXPECT_EQ(store_.notes.begin()->second, note->bytes);
}

TEST_F(JpegNotesTest, ThatCameWithTheFileAreNotLeftWhereThereIsNone) {
  const std::string jpeg = Jpeg(500, 300);
  const std::optional<EntryPointNote> note = NoteEntryPoints(jpeg);
  ASSERT_TRUE(note.has_value());
  store_.given[note->key] = note->bytes;
  ExpectSame(jpeg, kMiddle);
  EXPECT_EQ(store_.uses, 1);
  EXPECT_TRUE(store_.notes.empty());
}

TEST_F(JpegNotesTest, AreNotLeftWhereTheyDoNotPay) {
  ExpectSame(Jpeg(64, 64), {20, 20, 20, 20});
  const std::string jpeg = Jpeg(500, 300);
  ExpectSame(jpeg, {0, 0, 300, 500});
  ExpectSame(jpeg, {0, 0, 290, 480});
  EXPECT_TRUE(store_.notes.empty());
}

TEST_F(JpegNotesTest, AreNotLeftOfDamagedData) {
  std::string jpeg = Jpeg(500, 300);
  jpeg.replace(jpeg.size() / 5, 2, "\xFF\xC0");
  for (int i = 0; i < 2; ++i) {
    const RowWarning warning;
    Part(jpeg, kMiddle, &store_);
    EXPECT_FALSE(warning.text().empty());
  }
  EXPECT_TRUE(store_.notes.empty());
  EXPECT_EQ(store_.uses, 0);
}

}  // namespace
}  // namespace headrace
