// What holds of every format when a byte of a file is changed, or the file is cut off: each row that comes is right as
// far as the format can tell, what lies before the damage comes unchanged, anything else is an error that names the
// file, and nothing crashes or hangs. A format joins by an entry in AllFormats()
// (ops/source/testing/source_format.h), which says what its layout implies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/error.h"
#include "core/testing/rounds.h"
#include "io/files/testing/counted_reads.h"
#include "io/formats/item_index.h"
#include "ir/graph.pb.h"
#include "ops/source/testing/source_format.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// Bytes of a file that are changed, of all that it has.
const auto kMostBytes = static_cast<size_t>(Rounds(1 << 20, {.quick = 40, .sanitized = 40}));

// From one byte that is changed to the next.
size_t StepOver(const std::string& bytes) { return bytes.size() / kMostBytes + 1; }

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Byte `at` with other bits: one low, one high or all of them, in turn.
std::string Changed(std::string bytes, size_t at) {
  constexpr uint8_t kMasks[] = {0x01, 0x80, 0xFF};
  bytes[at] = static_cast<char>(static_cast<uint8_t>(bytes[at]) ^ kMasks[at % 3]);
  return bytes;
}

// Whether `part` comes of `whole` by leaving out some.
bool IsPartOf(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  auto at = whole.begin();
  for (const std::string& text : part) {
    at = std::find(at, whole.end(), text);
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

class DamagedFiles : public FormatTest {
 protected:
  void WriteAll() {
    Write({3});
    whole_ = ContentOf(PathOf(0));
  }
  // A plain run over these bytes; with `skip` rows that fail are left out.
  absl::StatusOr<Ran> Run(const std::string& bytes, bool skip) {
    folder_.Write("f0", bytes);
    GraphBuilder builder = Source();
    if (skip) builder.SkipFailed(1000);
    RunSpec spec;
    spec.epochs = 1;
    PipelineOptions options = OptionsOf(spec);
    options.writes = false;
    options.memory = int64_t{64} << 20;
    ++runs_;
    return RunOnce(*builder.Build(), std::move(options));
  }
  // The records that come first and end before this byte.
  size_t WholeBefore(size_t byte) const {
    if (!GetParam().in_order) return 0;
    const std::vector<std::string>& records = records_[0];
    size_t whole = 0;
    while (whole < records.size()) {
      const std::vector<std::string> first(records.begin(), records.begin() + static_cast<ptrdiff_t>(whole + 1));
      if (EndOf(first) > byte) break;
      ++whole;
    }
    return whole - std::min(whole, GetParam().held_back);
  }
  // The byte after these records: where a file of them alone differs.
  size_t EndOf(const std::vector<std::string>& first) const {
    const std::string bytes = GetParam().encode(first, {});
    return static_cast<size_t>(std::mismatch(bytes.begin(), bytes.end(), whole_.begin(), whole_.end()).first -
                               bytes.begin());
  }
  // What must hold of a run over a file whose first `whole` records are as they were.
  void ExpectSound(const absl::StatusOr<Ran>& ran, size_t whole) const {
    const absl::Status error = ran.ok() ? ran->error : ran.status();
    if (!error.ok()) {
      EXPECT_NE(KindOf(error), ErrorKind::kInternal);
      EXPECT_THAT(DescribeError(error), HasSubstr(PathOf(0)));
    }
    if (!ran.ok()) return;  // refused before the first row
    const std::vector<std::string> texts = ran->Texts();
    ASSERT_GE(texts.size(), whole) << DescribeError(error);
    EXPECT_TRUE(std::equal(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(whole), texts.begin()));
    EXPECT_TRUE(!GetParam().checked || IsPartOf(texts, rows_));
  }
  void TearDown() override { std::printf("HEADRACE-COUNT variants=%d\n", runs_); }

  std::string whole_;
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(All, DamagedFiles, ::testing::ValuesIn(AllFormats()), NameOfFormat);

TEST_P(DamagedFiles, AreReadAsFarAsTheyAreRight) {
  WriteAll();
  ASSERT_EQ(Run(whole_, false)->Texts(), rows_);
  for (size_t at = 0; at < whole_.size() && !HasFailure(); at += StepOver(whole_)) {
    SCOPED_TRACE(Cat("byte ", at, " of ", whole_.size()));
    const absl::StatusOr<Ran> ran = Run(Changed(whole_, at), false);
    ExpectSound(ran, WholeBefore(at));
    EXPECT_FALSE(GetParam().checked && ran.ok() && ran->error.ok()) << "its checksum is wrong";
  }
}

TEST_P(DamagedFiles, LoseNoRowBeforeTheDamageWhereRowsAreSkipped) {
  WriteAll();
  for (size_t at = 0; at < whole_.size() && !HasFailure(); at += StepOver(whole_)) {
    SCOPED_TRACE(Cat("byte ", at, " of ", whole_.size()));
    ExpectSound(Run(Changed(whole_, at), true), WholeBefore(at));
  }
}

TEST_P(DamagedFiles, GiveNoRowThatIsCutOff) {
  WriteAll();
  for (size_t size = 0; size < whole_.size() && !HasFailure(); size += StepOver(whole_)) {
    SCOPED_TRACE(Cat("cut to ", size, " of ", whole_.size(), " bytes"));
    const absl::StatusOr<Ran> ran = Run(whole_.substr(0, size), false);
    ExpectSound(ran, 0);
    if (!ran.ok()) continue;
    std::vector<std::string> texts = ran->Texts();
    ASSERT_LE(texts.size(), rows_.size());
    if (GetParam().cut_may_be_a_row && !texts.empty()) texts.pop_back();
    EXPECT_TRUE(std::equal(texts.begin(), texts.end(), rows_.begin()));
  }
}

std::vector<SourceFormat> FormatsThatKeepItems() {
  std::vector<SourceFormat> formats = NumberedFormats();
  std::erase_if(formats, [](const SourceFormat& format) { return !format.keeps_items; });
  return formats;
}

class DamagedIndices : public DamagedFiles {};

INSTANTIATE_TEST_SUITE_P(All, DamagedIndices, ::testing::ValuesIn(FormatsThatKeepItems()), NameOfFormat);

TEST_P(DamagedIndices, GiveTheSameRowsOrNone) {
  WriteAll();
  RunSpec spec;
  spec.epochs = 1;
  const ir::proto::Graph graph = *Source().Build();
  ASSERT_TRUE(RunOnce(graph, OptionsOf(spec)).ok());
  const std::string path = Cat(PathOf(0), kItemIndexEnding);
  const std::string index = ContentOf(path);
  ASSERT_FALSE(index.empty());
  // Tables are kept by file system and file: each run has a file system of its own, which reads the index again.
  std::deque<CountedReads> systems;
  for (size_t at = 0; at < index.size() && !HasFailure(); at += StepOver(index)) {
    SCOPED_TRACE(Cat("byte ", at, " of ", index.size()));
    for (const std::string& bytes : {Changed(index, at), index.substr(0, at)}) {
      folder_.Write(Cat("f0", kItemIndexEnding), bytes);
      PipelineOptions options = OptionsOf(spec);
      options.files = &systems.emplace_back(LocalFileSystem());
      options.writes = false;
      const absl::StatusOr<Ran> ran = RunOnce(graph, std::move(options));
      const absl::Status error = ran.ok() ? ran->error : ran.status();
      EXPECT_TRUE(error.ok() ? ran->Texts() == rows_ : !ran.ok()) << DescribeError(error);
      EXPECT_TRUE(error.ok() || absl::StrContains(DescribeError(error), PathOf(0)));
      ++runs_;
    }
  }
}

}  // namespace
}  // namespace headrace
