#include "io/files/http/testing/plain_digests.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace headrace::http {
namespace {

template <typename Bytes>
std::string Hex(const Bytes& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text;
}

// Of the standards' own examples.
TEST(PlainDigests, KnownAnswers) {
  EXPECT_EQ(Hex(PlainSha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(PlainSha256({"a", "bc"})), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(PlainSha256({"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"})),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Hex(PlainMd5({})), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Hex(PlainMd5({"message ", "digest"})), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(Hex(PlainMd5({"12345678901234567890123456789012345678901234567890123456789012345678901234567890"})),
            "57edf4a22be3c955ac49da2e2107b67a");
}

// RFC 4231, cases 2 and 6.
TEST(PlainDigests, KnownHmacs) {
  EXPECT_EQ(Hex(PlainHmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(PlainHmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace headrace::http
