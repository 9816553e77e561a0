#include "io/formats/tar/tar_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/tar/tar_name.h"
#include "io/formats/tar/tar_sample.h"
#include "io/formats/tar/testing/tar_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct TarRead {
  std::vector<std::string> samples;  // "key: field=data, field=data"
  std::vector<int64_t> offsets;      // of the samples, and at last where the next one would begin
  absl::Status error;
  int64_t failed = -1;
};

// In lower case.
std::string SampleText(std::string_view bytes, int64_t offset) {
  TarSample sample;
  sample.Begin(bytes, offset);
  std::string text;
  TarSample::Field field;
  while (true) {
    const auto more = sample.Next(field);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return Cat(sample.key(), ":", text);
    Append(text, text.empty() ? " " : ", ", LowerField(field.name), "=", field.data);
  }
}

TarRead ReadTarFrom(const FileSystem& files, int64_t from, size_t block_bytes, const TarFormat& format = TarFormat()) {
  TarRead read;
  const auto reader = format.Open(files, "a.tar", Split(), from, block_bytes);
  read.error = reader.status();
  RecordBlock block;
  while (read.error.ok()) {
    read.error = (*reader)->Next(block);
    if (!read.error.ok()) read.failed = (*reader)->offset();
    if (!read.error.ok() || block.records.empty()) break;
    for (size_t i = 0; i < block.records.size(); ++i) {
      if (!read.offsets.empty()) {
        EXPECT_LE(read.offsets.back(), block.records[i].offset);
      }
      if (read.offsets.empty()) read.offsets.push_back(block.records[i].offset);
      read.samples.push_back(SampleText(block.content(i), block.records[i].offset));
      read.offsets.push_back(block.After(i));
    }
  }
  return read;
}

// The same whatever the size of blocks, and from each sample on.
TarRead ReadTar(const std::string& bytes, const TarFormat& format = TarFormat()) {
  const OneFile file(bytes);
  const TarRead whole = ReadTarFrom(file, 0, size_t{1} << 20, format);
  for (const size_t block_bytes : {size_t{600}, size_t{5000}}) {
    const TarRead again = ReadTarFrom(file, 0, block_bytes, format);
    EXPECT_EQ(again.samples, whole.samples);
    EXPECT_EQ(again.error, whole.error);
    EXPECT_EQ(again.failed, whole.failed);
  }
  for (size_t i = 0; i < whole.offsets.size(); ++i) {
    const TarRead rest = ReadTarFrom(file, whole.offsets[i], 4096, format);
    EXPECT_EQ(rest.samples, std::vector<std::string>(whole.samples.begin() + static_cast<int>(i), whole.samples.end()));
    EXPECT_EQ(rest.error, whole.error);
    EXPECT_EQ(rest.failed, whole.failed);
  }
  return whole;
}

std::string BytesOfTestFile(const std::string& name) {
  std::ostringstream bytes;
  bytes << std::ifstream(Cat("io/formats/tar/testdata/", name), std::ios::binary).rdbuf();
  return bytes.str();
}

// Made by Python's tarfile; the samples are those of webdataset 1.0.2.
TEST(TarFormat, GivesTheSamplesOfWebdataset) {
  for (const char* name : {"plain.tar", "plain.tar.gz"}) {
    const TarRead read = ReadTar(BytesOfTestFile(name));
    EXPECT_TRUE(read.error.ok()) << read.error;
    ASSERT_EQ(read.samples.size(), 8u);
    EXPECT_EQ(read.samples[0],
              "000: jpg=\xFF\xD8\xFF\xE0 not a real picture, cls=7, json={\"caption\": \"a b\", \"n\": 1}");
    EXPECT_EQ(read.samples[1], "001: jpg=\xFF\xD8upper, cls= 12\n, seg.png=\x89PNG seg, txt=h\xC3\xA9llo\n");
    EXPECT_EQ(read.samples[2].substr(0, 37), "dir/sub.d/x: y.png=\x89PNG, y.txt=, npy=");
    EXPECT_EQ(std::vector<std::string>(read.samples.begin() + 3, read.samples.end()),
              (std::vector<std::string>{"a/002: cls=2", "b/002: cls=3", "003: cls=1", "004: cls=1",
                                        "003: txt=comes after 004: a new sample"}));
  }
  const std::string key = Cat(std::string(120, 'd'), "/", std::string(150, 'k'));
  const std::string other =
      Cat("\xC3\xBCn\xC3\xAF"
          "code/",
          std::string(90, 'z'), "/\xE4\xBD\xA0");
  for (const char* name : {"pax.tar", "gnu.tar"}) {
    const TarRead read = ReadTar(BytesOfTestFile(name));
    EXPECT_TRUE(read.error.ok()) << read.error;
    EXPECT_THAT(read.samples, ElementsAre(Cat(key, ": jpg=\xFF\xD8long, txt=\xE4\xBD\xA0\xE5\xA5\xBD"),
                                          Cat(other, ": txt=unicode name, cls=5")));
  }
}

TEST(TarFormat, FindsOutHowAnArchiveIsCompressed) {
  const std::string bytes = TarBytes({{"0.txt", "zero"}, {"1.txt", std::string(100'000, 'x')}, {"2.txt", "two"}});
  const TarRead plain = ReadTar(bytes);
  EXPECT_TRUE(plain.error.ok()) << plain.error;
  for (const Compression compression :
       {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz}) {
    const TarRead read = ReadTar(Compress(compression, bytes));
    EXPECT_TRUE(read.error.ok()) << read.error;
    EXPECT_EQ(read.samples, plain.samples);
    EXPECT_EQ(read.offsets, plain.offsets);
  }
}

TEST(TarFormat, PassesOverWhatBelongsToNoSample) {
  const std::string bytes = Cat(TarHead("dir.d/", 0, '5'), TarMemberBytes("__meta__/a.txt", std::string(70'000, 'm')),
                                TarMemberBytes("0.a", "1"), TarMemberBytes("noext", std::string(9000, 'n')),
                                TarHead("0.link", 0, '2'), TarMemberBytes("0.b", "2"), TarMemberBytes("1.a", "3"),
                                TarMemberBytes("README", std::string(30'000, 'r')), TarEnd());
  const TarRead read = ReadTar(bytes);
  EXPECT_TRUE(read.error.ok()) << read.error;
  EXPECT_THAT(read.samples, ElementsAre("0: a=1, b=2", "1: a=3"));
  const TarRead none =
      ReadTar(Cat(TarHead("dir.d/", 0, '5'), TarMemberBytes("noext", std::string(70'000, 'n')), TarEnd()));
  EXPECT_TRUE(none.error.ok()) << none.error;
  EXPECT_THAT(none.samples, IsEmpty());
}

TEST(TarFormat, TakesOtherZerosAfterTheEnd) {
  for (const size_t zeros : {size_t{0}, size_t{8192}, size_t{300'000}, size_t{7}}) {
    const TarRead read = ReadTar(TarBytes({{"0.a", "1"}, {"1.a", "2"}}) + std::string(zeros, '\0'));
    EXPECT_TRUE(read.error.ok()) << read.error;
    EXPECT_THAT(read.samples, ElementsAre("0: a=1", "1: a=2"));
  }
  EXPECT_TRUE(ReadTar(TarEnd()).error.ok());
}

TEST(TarFormat, RefusesOtherBytesAfterTheEnd) {
  const std::string one = TarBytes({{"0.a", "1"}});
  const TarRead read = ReadTar(one + TarBytes({{"1.a", "2"}}));
  EXPECT_THAT(read.samples, ElementsAre("0: a=1"));
  EXPECT_THAT(ToStd(read.error.message()),
              AllOf(HasSubstr(Cat("byte ", one.size(), " is not zero")), HasSubstr("were several archives joined?")));
}

TEST(TarFormat, NoticesWhereverAnArchiveIsCut) {
  const std::string bytes = TarBytes({{"0.a", std::string(700, 'x')}, {"0.b", "1"}, {"1.a", "2"}});
  const std::string dir = TarHead("dir/", 0, '5');
  for (size_t size = 0; size < bytes.size(); size += size % 512 < 3 || size % 512 > 508 ? 1 : 101) {
    const TarRead read = ReadTar(bytes.substr(0, size));
    ASSERT_EQ(KindOf(read.error), ErrorKind::kData) << size;
    // A sample is known to be whole by the header of the next one.
    EXPECT_EQ(read.samples.size(), size >= 3072 ? 1u : 0u) << size;
    if (size > 0) {
      EXPECT_THAT(ToStd(read.error.message()), HasSubstr(Cat("ends at byte ", size))) << read.error;
    }
    // Also where nothing but a folder was read.
    const TarRead alone = ReadTar(dir.substr(0, std::min(size, dir.size())));
    EXPECT_EQ(KindOf(alone.error), ErrorKind::kData);
  }
  const TarRead between = ReadTar(bytes.substr(0, bytes.size() - 1024));
  EXPECT_THAT(ToStd(between.error.message()),
              AllOf(HasSubstr("without the two blocks of zeros"), HasSubstr("the samples before byte 2560 are whole")));
  const TarRead within = ReadTar(Cat(TarMemberBytes("noext", std::string(100'000, 'n'))).substr(0, 60'000));
  EXPECT_THAT(ToStd(within.error.message()), HasSubstr("within the member that begins at byte 0"));
}

TEST(TarFormat, NoticesDamageOfEachHeader) {
  const std::string bytes = TarBytes({{"0.a", "1"}, {"1.a", "2"}, {"2.a", "3"}});
  for (size_t header = 0; header < 3; ++header) {
    std::string damaged = bytes;
    damaged[header * 1024 + 60] ^= 1;
    const TarRead read = ReadTar(damaged);
    EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
    EXPECT_THAT(ToStd(read.error.message()), HasSubstr(Cat("the header at byte ", header * 1024, " is damaged")));
    EXPECT_EQ(read.samples.size(), header < 2 ? 0u : 1u) << "the header may have been of the sample before";
  }
  std::string zeroed = bytes;
  zeroed.replace(1024, 512, 512, '\0');
  EXPECT_THAT(ToStd(ReadTar(zeroed).error.message()), HasSubstr("the block at byte 1024 is zeros"));
}

TEST(TarFormat, TakesNoMemoryForWhatIsOnlyClaimed) {
  // 2 GiB, of which there are none.
  const std::string bytes = Cat(TarMemberBytes("0.a", "1"), TarHead("1.a", size_t{1} << 31), "x");
  const TarRead read = ReadTar(bytes);
  EXPECT_THAT(ToStd(read.error.message()), HasSubstr(Cat("the archive ends at byte ", bytes.size())));
  const TarRead compressed = ReadTar(Compress(Compression::kGzip, bytes));
  EXPECT_THAT(ToStd(compressed.error.message()), HasSubstr("a sample has more than 1073741824 bytes"));
}

TEST(TarFormat, RefusesSamplesThatAreTooLong) {
  const std::string bytes = TarBytes({{"0.a", "1"}, {"0.b", std::string(5000, 'x')}, {"1.a", "2"}});
  EXPECT_TRUE(ReadTar(bytes, TarFormat(10'000)).error.ok());
  const TarRead read = ReadTar(bytes, TarFormat(4000));
  EXPECT_THAT(ToStd(read.error.message()), AllOf(HasSubstr("more than 4000 bytes"), HasSubstr("begins at byte 1024")));
}

TEST(TarFormat, GivesLongSamplesAsTheyAre) {
  std::mt19937 random(5);
  TarFiles files;
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    const std::string data(random() % (i % 7 == 0 ? 300'000 : 900), static_cast<char>('a' + i % 26));
    files.emplace_back(Cat(i, ".a"), data);
    files.emplace_back(Cat(i, ".b"), "");
    expected.push_back(Cat(i, ": a=", data, ", b="));
  }
  const TarRead read = ReadTar(TarBytes(files));
  EXPECT_TRUE(read.error.ok()) << read.error;
  EXPECT_TRUE(read.samples == expected);
}

TEST(TarFormat, GivesWhatWasDecompressedBeforeDamage) {
  TarFiles files;
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string data;
    for (int j = 0; j < 2000; ++j) data += static_cast<char>(random());
    files.emplace_back(Cat(i, ".a"), data);
  }
  const std::string gzip = Compress(Compression::kGzip, TarBytes(files));
  const TarRead read = ReadTar(gzip.substr(0, gzip.size() / 2));
  EXPECT_THAT(ToStd(read.error.message()), HasSubstr(Cat("the file ends at byte ", gzip.size() / 2)));
  EXPECT_GT(read.samples.size(), 100u);
}

TEST(TarFormat, PassesOnWhatReadingFailsOf) {
  const OneFile file(TarBytes({{"0.a", "1"}}));
  const FaultyFileSystem files(&file, [](std::string_view call, const std::string&) {
    return call == "ReadAt" ? ResourceError("no more") : absl::OkStatus();
  });
  EXPECT_EQ(KindOf(ReadTarFrom(files, 0, 4096).error), ErrorKind::kResource);
}

TEST(TarSample, RefusesOtherBytes) {
  TarSample sample;
  TarSample::Field field;
  const auto error_of = [&](const std::string& bytes) {
    sample.Begin(bytes, 512);
    while (true) {
      const auto more = sample.Next(field);
      if (!more.ok()) return std::string(ToStd(more.status().message()));
      if (!*more) return std::string();
    }
  };
  const std::string one = TarMemberBytes("0.a", "1"), other = TarMemberBytes("1.a", "2");
  EXPECT_EQ(error_of(one), "");
  EXPECT_EQ(sample.key(), "0");
  for (const std::string& bytes : {std::string(), Cat(one, other), one.substr(0, 600), TarMemberBytes("noext", "1"),
                                   Cat(one, TarEnd()), Cat(one, "x")}) {
    EXPECT_THAT(error_of(bytes), HasSubstr("are not one sample"));
  }
}

}  // namespace
}  // namespace headrace
