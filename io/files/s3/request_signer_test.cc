#include "io/files/s3/request_signer.h"

#include <gtest/gtest.h>

#include "io/files/http/testing/fake_transport.h"
#include "io/files/s3/utc_time.h"

namespace headrace::s3 {
namespace {

http::FakeTransport& Digests() {
  static auto& transport = *new http::FakeTransport([](const http::FakeRequest&) { return http::FakeReply(); },
                                                    http::FakeTransport::Time::kByHand);
  return transport;
}

// Of the examples in AWS's documentation of S3.
const Credentials& ExampleKeys() {
  static auto& keys = *new Credentials{
      .access_key = "AKIAIOSFODNN7EXAMPLE", .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", .token = ""};
  return keys;
}

const SigningScope& ExampleScope() {
  static auto& scope = *new SigningScope{"us-east-1", "s3", "20130524T000000Z"};
  return scope;
}

std::string ExampleSignature(std::string method, std::string path, std::string query, std::string payload,
                             std::vector<http::Header> more) {
  more.push_back({"host", "examplebucket.s3.amazonaws.com"});
  more.push_back({"x-amz-date", "20130524T000000Z"});
  more.push_back({"x-amz-content-sha256", payload});
  const std::string text =
      AuthorizationOf(Digests(), {method, path, query, more, payload}, ExampleScope(), ExampleKeys());
  return text.substr(text.rfind('=') + 1);
}

TEST(RequestSigner, SignsTheExamplesOfS3) {
  const std::string empty(kEmptyPayload);
  EXPECT_EQ(ExampleSignature("GET", "/test.txt", "", empty, {{"range", "bytes=0-9"}}),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(
      ExampleSignature("PUT", "/test%24file.text", "", PayloadDigest(Digests(), {"Welcome ", "to Amazon S3."}),
                       {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}),
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  EXPECT_EQ(ExampleSignature("GET", "/", "lifecycle=", empty, {}),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(ExampleSignature("GET", "/", QueryText({{"prefix", "J"}, {"max-keys", "2"}}), empty, {}),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(RequestSigner, SignsTheVanillaRequestOfTheTestSuite) {
  const Credentials keys{
      .access_key = "AKIDEXAMPLE", .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", .token = ""};
  const Signable request{"GET",
                         "/",
                         "",
                         {{"x-amz-date", "20150830T123600Z"}, {"host", "example.amazonaws.com"}},
                         std::string(kEmptyPayload)};
  EXPECT_EQ(AuthorizationOf(Digests(), request, {"us-east-1", "service", "20150830T123600Z"}, keys),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(RequestSigner, WritesHeadersInOrderAndWithoutBlanks) {
  EXPECT_EQ(CanonicalRequest({"GET", "", "a=", {{"x-b", "  two   blanks\t here "}, {"host", "h"}}, "digest"}),
            "GET\n/\na=\nhost:h\nx-b:two blanks here\n\nhost;x-b\ndigest");
}

TEST(RequestSigner, SignsTheHostAndTheStoresHeadersAlone) {
  http::Request request;
  request.url = "http://host:9000/b/%C3%BC%20%2B%3D%27%28%29%2A~?list-type=2&prefix=a%2F";
  request.headers = {{"Range", "bytes=0-9"}, {"X-Amz-Meta-A", "1"}, {"If-Match", "\"e\""}};
  Credentials keys = ExampleKeys();
  keys.token = "the-token";
  SignRequest(Digests(), kUnsignedPayload, ExampleScope(), keys, request);
  std::string authorization;
  for (const http::Header& header : request.headers) {
    if (header.name == "Authorization") authorization = header.value;
  }
  EXPECT_NE(authorization.find("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-security-token,"),
            std::string::npos)
      << authorization;
}

TEST(RequestSigner, EncodesAndSortsParameters) {
  EXPECT_EQ(QueryText({{"prefix", "a b/+"}, {"uploads", ""}, {"list-type", "2"}, {"a", "\xc3\xbc"}}),
            "a=%C3%BC&list-type=2&prefix=a%20b%2F%2B&uploads=");
}

TEST(UtcTime, ReadsAndWrites) {
  EXPECT_EQ(SigningTime(1369353600), "20130524T000000Z");
  EXPECT_EQ(ParseUtcTime("2013-05-24T00:00:00Z"), 1369353600);
  EXPECT_EQ(ParseUtcTime("2013-05-24T00:00:00.123456Z"), 1369353600);
  EXPECT_EQ(ParseUtcTime("2013-05-24T01:02:03+00:00"), 1369353600 + 3723);
  for (const char* bad : {"", "2013-05-24", "2013-13-24T00:00:00Z", "2013-05-24T24:00:00Z", "2013-05-24T00:00:00",
                          "2013-02-30T00:00:00Z", "2013-05-24T00:00:00+02:00", "x013-05-24T00:00:00Z"}) {
    EXPECT_EQ(ParseUtcTime(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace headrace::s3
