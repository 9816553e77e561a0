#include "io/files/hdfs/token_file.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace::hdfs {
namespace {

using namespace std::string_literals;

const DelegationToken kToken = {"who", "secret", "HDFS_DELEGATION_TOKEN", "10.0.0.1:8020"};

std::string Text(std::string_view bytes) { return Cat(std::string(1, static_cast<char>(bytes.size())), bytes); }

std::string Writable(const DelegationToken& token) {
  return Cat(Text(token.identifier), Text(token.password), Text(token.kind), Text(token.service));
}

std::string Field(int number, std::string_view bytes) {
  return Cat(std::string(1, static_cast<char>(number << 3 | 2)), Text(bytes));
}

std::string Message(const DelegationToken& token) {
  return Cat(Field(1, token.identifier), Field(2, token.password), Field(3, token.kind), Field(4, token.service));
}

void ExpectToken(const std::string& file) {
  const auto tokens = ParseTokenFile(file);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->size(), 1u);
  EXPECT_EQ((*tokens)[0].identifier, "who");
  EXPECT_EQ((*tokens)[0].password, "secret");
  EXPECT_EQ((*tokens)[0].kind, "HDFS_DELEGATION_TOKEN");
  EXPECT_EQ((*tokens)[0].service, "10.0.0.1:8020");
}

TEST(TokenFile, IsReadInBothForms) {
  ExpectToken("HDTS\0\1"s + Text("alias") + Writable(kToken) + "\0"s);
  ExpectToken("HDTS\1"s +
              Text(Field(1, Cat(Field(1, "alias"), Field(2, Message(kToken)))) + Field(2, Field(1, "key"))));
}

TEST(TokenFile, RefusesDamageAtEveryByte) {
  const std::string whole = "HDTS\0\1"s + Text("alias") + Writable(kToken);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_EQ(KindOf(ParseTokenFile(whole.substr(0, bytes)).status()), ErrorKind::kData) << bytes;
  }
  // A count, and a length, that no file holds.
  EXPECT_FALSE(ParseTokenFile("HDTS\0\x88\x7f\xff\xff\xff\xff\xff\xff\xff"s).ok());
  EXPECT_FALSE(ParseTokenFile("HDTS\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s).ok());
  EXPECT_FALSE(ParseTokenFile("HDTS\2"s).ok());
}

TEST(TokenFile, GivesTheTokenOfTheCluster) {
  DelegationToken other = kToken;
  other.service = "ha-hdfs:cluster";
  DelegationToken foreign = kToken;
  foreign.kind = "MR_TOKEN";
  EXPECT_EQ(FindToken({kToken, other, foreign}, "cluster")->service, "ha-hdfs:cluster");
  EXPECT_EQ(FindToken({kToken, other}, "10.0.0.1:8020")->service, "10.0.0.1:8020");
  EXPECT_EQ(FindToken({kToken, foreign}, "namenode")->service, "10.0.0.1:8020");
  EXPECT_EQ(KindOf(FindToken({kToken, other}, "namenode").status()), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(FindToken({foreign}, "namenode").status()), ErrorKind::kNotFound);
}

TEST(TokenFile, WritesTokensAsRequestsCarryThem) {
  // Base64 for URLs of "\3who\6secret\4kind\0", without padding.
  EXPECT_EQ(TokenText({"who", "secret", "kind", ""}), "A3dobwZzZWNyZXQEa2luZAA");
  // A length of 200 is written as "\x8f\xc8".
  EXPECT_EQ(TokenText({std::string(200, 'a'), "", "", ""}).substr(0, 4), "j8hh");
}

}  // namespace
}  // namespace headrace::hdfs
