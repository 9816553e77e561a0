#include "io/formats/forward_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A record is a byte that says how many follow.
class CountedBytes : public Framing {
 public:
  int64_t looks_behind() const override { return 0; }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t, bool) const override { return {false, bytes.size()}; }
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override {
    size_t at = 0;
    while (at < bytes.size() && offset + static_cast<int64_t>(at) < stop) {
      const size_t length = bytes[at];
      if (bytes.size() - at - 1 < length) {
        if (last && at == 0) return DataError("the record is cut off");
        break;
      }
      records.push_back(
          {offset + static_cast<int64_t>(at), static_cast<uint32_t>(at + 1), static_cast<uint32_t>(length)});
      at += 1 + length;
    }
    return Piece{at, 0};
  }
};

// Gives its bytes a few at a time, and then an error, if there is one. With `stops` every other read is stopped.
class FewBytes : public ByteStream {
 public:
  FewBytes(std::string bytes, size_t at_once, absl::Status end = absl::OkStatus(), bool stops = false)
      : bytes_(std::move(bytes)), at_once_(at_once), end_(std::move(end)), stops_(stops) {}

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) override {
    EXPECT_GT(target.size(), 0u);
    if (stops_ && (stopped_ = !stopped_)) return MakeError(ErrorKind::kClosed, "stopped");
    const size_t bytes = std::min({target.size(), at_once_, bytes_.size() - at_});
    if (bytes == 0 && !end_.ok()) return end_;
    std::memcpy(target.data(), bytes_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }

 private:
  const std::string bytes_;
  const size_t at_once_;
  const absl::Status end_;
  const bool stops_;
  size_t at_ = 0;
  bool stopped_ = false;
};

std::string Counted(const std::vector<std::string>& records) {
  std::string bytes;
  for (const std::string& record : records) {
    bytes += static_cast<char>(record.size());
    bytes += record;
  }
  return bytes;
}

struct Forward {
  std::vector<std::string> records = {};
  std::vector<int64_t> offsets = {};
  int64_t after = 0;
  absl::Status error = {};
  int64_t failed = -1;
  int stops = 0;
};

Forward ReadForward(std::unique_ptr<ByteStream> stream, const Split& split = {}, int64_t from = 0, size_t block = 8) {
  static const CountedBytes framing{};
  ForwardReader reader(&framing, std::move(stream), 77, split, from, block);
  EXPECT_EQ(reader.file_size(), 77);
  Forward read;
  RecordBlock records;
  while (true) {
    read.error = reader.Next(records);
    if (KindOf(read.error) == ErrorKind::kClosed && ++read.stops < 100'000) continue;
    if (!read.error.ok()) read.failed = reader.offset();
    if (!read.error.ok() || records.records.empty()) break;
    for (size_t i = 0; i < records.records.size(); ++i) {
      read.records.emplace_back(records.content(i));
      read.offsets.push_back(records.records[i].offset);
    }
    read.after = records.end;
    EXPECT_EQ(read.after, reader.offset());
  }
  EXPECT_TRUE(!read.error.ok() || reader.Next(records).ok());
  return read;
}

const std::vector<std::string>& SomeRecords() {
  static const auto* const records =
      new std::vector<std::string>{"one", "", std::string(100, 'x'), "three", std::string(200, 'y'), "z"};
  return *records;
}

TEST(ForwardReader, GivesTheSameRecordsWhateverTheSizes) {
  const std::string bytes = Counted(SomeRecords());
  for (const size_t block : {1, 2, 7, 64, 1000}) {
    for (const size_t at_once : {1, 3, 1000}) {
      for (const bool stops : {false, true}) {
        const Forward read =
            ReadForward(std::make_unique<FewBytes>(bytes, at_once, absl::OkStatus(), stops), {}, 0, block);
        EXPECT_EQ(read.records, SomeRecords()) << block << ", " << at_once;
        EXPECT_TRUE(read.error.ok()) << read.error;
        EXPECT_EQ(read.after, static_cast<int64_t>(bytes.size()));
        EXPECT_EQ(read.stops > 0, stops);
      }
    }
  }
  EXPECT_THAT(ReadForward(std::make_unique<FewBytes>("", 1)).records, IsEmpty());
}

TEST(ForwardReader, GoesOnFromEachRecord) {
  const std::string bytes = Counted(SomeRecords());
  int64_t from = 0;
  for (size_t first = 0; first <= SomeRecords().size(); ++first) {
    const Forward read = ReadForward(std::make_unique<FewBytes>(bytes, 3, absl::OkStatus(), first % 2 == 0), {}, from);
    EXPECT_EQ(read.records,
              std::vector<std::string>(SomeRecords().begin() + static_cast<long>(first), SomeRecords().end()));
    if (first < SomeRecords().size()) {
      EXPECT_EQ(read.offsets[0], from);
      from += 1 + static_cast<int64_t>(SomeRecords()[first].size());
    }
  }
  const Forward beyond = ReadForward(std::make_unique<FewBytes>(bytes, 3), {}, from + 1);
  EXPECT_EQ(KindOf(beyond.error), ErrorKind::kData);
  EXPECT_THAT(ToStd(beyond.error.message()),
              HasSubstr(Cat("holds ", from, " bytes, and was to be read on from byte ", from + 1)));
}

TEST(ForwardReader, EndsWithTheSplit) {
  const std::string bytes = Counted({"a", "b", "c"});
  EXPECT_THAT(ReadForward(std::make_unique<FewBytes>(bytes, 9), {0, 3}).records, ElementsAre("a", "b"));
  EXPECT_THAT(ReadForward(std::make_unique<FewBytes>(bytes, 9), {0, 3}, 2).records, ElementsAre("b"));
}

TEST(ForwardReader, GivesWhatCameBeforeAnError) {
  for (const size_t block : {1, 5, 1000}) {
    const Forward read =
        ReadForward(std::make_unique<FewBytes>(Counted({"a", "bc"}) + "\4de", 100, DataError("damage")), {}, 0, block);
    EXPECT_THAT(read.records, ElementsAre("a", "bc"));
    EXPECT_THAT(ToStd(read.error.message()), HasSubstr("damage"));
    EXPECT_EQ(read.failed, 5) << "the record that is not whole";
    const Forward torn = ReadForward(std::make_unique<FewBytes>(Counted({"a"}) + "\4de", 100), {}, 0, block);
    EXPECT_THAT(torn.records, ElementsAre("a"));
    EXPECT_THAT(ToStd(torn.error.message()), HasSubstr("cut off"));
  }
}

}  // namespace
}  // namespace headrace
