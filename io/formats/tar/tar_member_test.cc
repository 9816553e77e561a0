#include "io/formats/tar/tar_member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "io/formats/tar/testing/tar_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct ParsedMember {
  absl::StatusOr<TarStep> step = TarStep();
  TarMember member;
  std::string path;  // a copy
  std::string joined;
};

ParsedMember ParseMember(std::string_view bytes, int64_t offset = 0) {
  ParsedMember parsed;
  parsed.step = ParseTarMember({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, offset, parsed.member,
                               parsed.joined);
  if (parsed.step.ok() && parsed.step->kind == TarStep::Kind::kMember) parsed.path = parsed.member.path;
  return parsed;
}

std::string MessageOf(std::string_view bytes, int64_t offset = 0) {
  const ParsedMember parsed = ParseMember(bytes, offset);
  if (parsed.step.ok()) return "";
  EXPECT_EQ(KindOf(parsed.step.status()), ErrorKind::kData);
  return std::string(ToStd(parsed.step.status().message()));
}

void Set(std::string& head, size_t at, std::string_view bytes) {
  head.replace(at, bytes.size(), bytes);
  SetTarChecksum(head, 0);
}

TEST(TarMember, IsWhatItsHeaderSays) {
  const ParsedMember parsed = ParseMember(TarMemberBytes("a/b.txt", std::string(600, 'x')));
  ASSERT_TRUE(parsed.step.ok()) << parsed.step.status();
  EXPECT_EQ(parsed.step->kind, TarStep::Kind::kMember);
  EXPECT_EQ(parsed.path, "a/b.txt");
  EXPECT_TRUE(parsed.member.regular);
  EXPECT_EQ(parsed.member.data, 512);
  EXPECT_EQ(parsed.member.size, 600);
  EXPECT_EQ(parsed.member.end, 512 + 1024);
}

TEST(TarMember, MayHaveTheLongestNameInItsHeader) {
  const std::string name(100, 'n'), folder(155, 'f');
  std::string head = TarHead(name, 0);
  EXPECT_EQ(ParseMember(head).path, name);
  Set(head, 345, folder);
  EXPECT_EQ(ParseMember(head).path, Cat(folder, "/", name));
  // Old v7 has nothing there, and GNU's old format times.
  Set(head, 257, std::string(8, '\0'));
  EXPECT_EQ(ParseMember(head).path, name);
  Set(head, 257, std::string_view("ustar  \0", 8));
  EXPECT_EQ(ParseMember(head).path, name);
}

TEST(TarMember, HasAKind) {
  for (const char type : {'0', '\0', '7'}) EXPECT_TRUE(ParseMember(TarMemberBytes("a.b", "x", type)).member.regular);
  for (const char type : {'1', '2', '3', '4', '5', '6'}) {
    const ParsedMember parsed = ParseMember(TarHead("a.b", 1000, type));
    EXPECT_FALSE(parsed.member.regular) << type;
    EXPECT_EQ(parsed.member.end, 512) << "it has no data, whatever its size says";
  }
  EXPECT_FALSE(ParseMember(TarHead("folder.d/", 0, '\0')).member.regular) << "a folder of v7";
  const ParsedMember other = ParseMember(TarHead("a.b", 1000, 'Z'));
  EXPECT_FALSE(other.member.regular);
  EXPECT_EQ(other.member.end, 512 + 1024) << "what is not known has data";
}

TEST(TarMember, MayHaveALongNameOfGnu) {
  const std::string name = Cat(std::string(300, 'd'), "/x.jpg");
  const std::string bytes = Cat(TarMemberBytes("././@LongLink", Cat("target", std::string(1, '\0')), 'K'),
                                TarMemberBytes("././@LongLink", Cat(name, std::string(1, '\0')), 'L'),
                                TarMemberBytes(name.substr(0, 100), "abc"));
  const ParsedMember parsed = ParseMember(bytes);
  EXPECT_EQ(parsed.path, name);
  EXPECT_EQ(parsed.member.data, 5 * 512);
  EXPECT_EQ(parsed.member.size, 3);
}

TEST(TarMember, MayHaveExtendedHeadersOfPax) {
  const std::string name = Cat(std::string(300, 'd'), "/\xE4\xBD\xA0.jpg");
  const std::string bytes =
      Cat(TarMemberBytes("pax_global_header", PaxRecords({{"comment", "made by git"}}), 'g'),
          TarMemberBytes("x", PaxRecords({{"mtime", "1.5"}, {"path", "other"}, {"path", name}, {"size", "700"}}), 'x'),
          TarHead("short", 0));
  const ParsedMember parsed = ParseMember(bytes);
  ASSERT_TRUE(parsed.step.ok()) << parsed.step.status();
  EXPECT_EQ(parsed.path, name);
  EXPECT_EQ(parsed.member.size, 700);
  EXPECT_EQ(parsed.member.end, 5 * 512 + 1024);
  // An empty value takes the header's back.
  EXPECT_EQ(ParseMember(Cat(TarMemberBytes("x", PaxRecords({{"path", ""}}), 'x'), TarHead("a.b", 0))).path, "a.b");
}

TEST(TarMember, MayHaveASizeInBase256) {
  std::string head = TarHead("a.b", 0);
  Set(head, 124, std::string_view("\x80\0\0\0\0\0\0\x02\0\0\0\x01", 12));
  EXPECT_EQ(ParseMember(head).member.size, (int64_t{2} << 32) + 1);
  Set(head, 124, std::string_view("\x80\0\0\x01\0\0\0\0\0\0\0\0", 12));
  EXPECT_THAT(MessageOf(head), HasSubstr("a size that is no number of bytes"));
  Set(head, 124, std::string_view("\x80\0\0\0\x80\0\0\0\0\0\0\0", 12));
  EXPECT_THAT(MessageOf(head), HasSubstr("a size that is no number of bytes"));
  Set(head, 124, std::string(12, '\xFF'));
  EXPECT_THAT(MessageOf(head), HasSubstr("a size that is no number of bytes")) << "negative";
}

TEST(TarMember, TakesSizesBetweenBlanks) {
  const auto size_of = [](std::string_view text) {
    std::string head = TarHead("a.b", 0);
    Set(head, 124, text);
    return ParseMember(head).member.size;
  };
  EXPECT_EQ(size_of(std::string_view("         17 ", 12)), 15);
  EXPECT_EQ(size_of(std::string_view("17\0garbage!!", 12)), 15);
  EXPECT_EQ(size_of(std::string(12, ' ')), 0);
  EXPECT_EQ(size_of(std::string(12, '\0')), 0);
  EXPECT_EQ(size_of("777777777777"), (int64_t{1} << 36) - 1);
  for (const std::string_view text : {"12345678 123", "00000000009\0", "-0000000001\0"}) {
    std::string head = TarHead("a.b", 0);
    Set(head, 124, text);
    EXPECT_THAT(MessageOf(head), HasSubstr("a size that is no number of bytes")) << text;
  }
}

TEST(TarMember, TellsTheEndFromALoneBlockOfZeros) {
  EXPECT_EQ(ParseMember(TarEnd()).step->kind, TarStep::Kind::kEnd);
  const ParsedMember one = ParseMember(std::string(512, '\0'));
  EXPECT_EQ(one.step->kind, TarStep::Kind::kMore);
  EXPECT_EQ(one.step->needed, 1024u);
  EXPECT_THAT(MessageOf(Cat(std::string(512, '\0'), TarHead("a.b", 0)), 7168),
              AllOf(HasSubstr("the block at byte 7168 is zeros"), HasSubstr("an archive ends with two")));
}

TEST(TarMember, AsksForTheBytesThatItNeeds) {
  const std::string bytes =
      Cat(TarMemberBytes("x", PaxRecords({{"path", std::string(600, 'p')}}), 'x'), TarHead("short", 0));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const ParsedMember parsed = ParseMember(std::string_view(bytes).substr(0, size));
    ASSERT_TRUE(parsed.step.ok());
    ASSERT_EQ(parsed.step->kind, TarStep::Kind::kMore);
    EXPECT_GT(parsed.step->needed, size);
    EXPECT_LE(parsed.step->needed, bytes.size());
  }
}

TEST(TarMember, NoticesEachChangedByteOfAHeader) {
  const std::string head = TarHead("folder/name.jpg", 12345);
  for (size_t at = 0; at < head.size(); ++at) {
    // After the digits of the checksum and a NUL.
    if (at == 155) continue;
    std::string damaged = head;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_THAT(MessageOf(damaged, 512), HasSubstr("the header at byte 512 is damaged")) << at;
  }
  EXPECT_THAT(MessageOf(std::string(512, 'x')), HasSubstr("is this a tar archive?"));
}

TEST(TarMember, TakesAChecksumOfSignedBytes) {
  std::string head = TarHead("\xC3\xA9.txt", 3);
  uint32_t sum = 0;
  head.replace(148, 8, 8, ' ');
  for (const char byte : head) sum += static_cast<uint32_t>(static_cast<signed char>(byte));
  char text[8] = {};
  std::snprintf(text, sizeof(text), "%06o", sum);
  head.replace(148, 8, text, 8);
  EXPECT_EQ(ParseMember(head).path, "\xC3\xA9.txt");
}

TEST(TarMember, RefusesSparseFiles) {
  EXPECT_THAT(MessageOf(TarHead("a.b", 0, 'S')), HasSubstr("without --sparse"));
  EXPECT_THAT(MessageOf(Cat(TarMemberBytes("x", PaxRecords({{"GNU.sparse.major", "1"}}), 'x'), TarHead("a.b", 0))),
              AllOf(HasSubstr("the header at byte 1024"), HasSubstr("without --sparse")));
}

TEST(TarMember, RefusesExtendedHeadersThatCannotBe) {
  const std::string after = TarHead("a.b", 0);
  for (const std::string records : {"x", "5 a=", "99 path=a\n", "0 path=a\n", "-1 path=a\n", "9 path-a\n", "10 path=ab",
                                    "2\n", "11path=abc\n", "18446744073709551617 path=a\n", "3 =", "=\n"}) {
    EXPECT_THAT(MessageOf(Cat(TarMemberBytes("x", records, 'x'), after)), HasSubstr("records are damaged")) << records;
  }
  EXPECT_THAT(MessageOf(TarHead("x", size_t{2} << 20, 'x')), HasSubstr("an extended one of 2097152 bytes"));
  EXPECT_THAT(MessageOf(Cat(TarMemberBytes("x", PaxRecords({{"size", "-1"}}), 'x'), after)),
              HasSubstr("a size that is no number of bytes"));
  EXPECT_THAT(MessageOf(Cat(TarMemberBytes("g", PaxRecords({{"path", "a"}}), 'g'), after)),
              HasSubstr("gives one path to all members"));
  std::string many;
  for (int i = 0; i < 1100; ++i) many += TarMemberBytes("x", PaxRecords({{"comment", "x"}}), 'x');
  EXPECT_THAT(MessageOf(many + after), HasSubstr("more extended headers than a member has"));
}

TEST(TarMember, OfACutArchiveSaysWhereItIsCut) {
  const std::string zeros(512, '\0');
  const auto bytes_of = [](const std::string& bytes) {
    return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  };
  EXPECT_THAT(ToStd(TarCutOff({}, 0, 0).message()), HasSubstr("the file is empty"));
  EXPECT_THAT(ToStd(TarCutOff({}, 1024, 1024).message()), HasSubstr("ends at byte 1024 without the two blocks"));
  EXPECT_THAT(ToStd(TarCutOff(bytes_of(zeros), 1024, 1536).message()), HasSubstr("without the two blocks"));
  EXPECT_THAT(ToStd(TarCutOff(bytes_of("half of a head"), 1024, 1038).message()),
              HasSubstr("within the member that begins at byte 1024"));
  EXPECT_THAT(ToStd(TarCutOff(bytes_of("a text"), 0, 6).message()), HasSubstr("is it a tar archive?"));
}

}  // namespace
}  // namespace headrace
