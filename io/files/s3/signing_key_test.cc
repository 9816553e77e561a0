#include "io/files/s3/signing_key.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "io/files/http/testing/fake_transport.h"
#include "io/files/s3/request_signer.h"

namespace headrace::s3 {
namespace {

std::string HexOf(const http::Transport::Sha256& key) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(key.data()), key.size()});
}

TEST(KeptSigningKey, IsThatOfTheDayTheRegionTheServiceAndTheSecret) {
  const http::FakeTransport transport([](const http::FakeRequest&) { return http::FakeReply(); },
                                      http::FakeTransport::Time::kByHand);
  KeptSigningKey kept;
  const SigningScope first{"us-east-1", "iam", "20150830T123600Z"};
  for (const SigningScope& scope :
       {first, SigningScope{"us-east-1", "iam", "20150830T235959Z"}, first,
        SigningScope{"us-east-1", "iam", "20150831T000000Z"}, SigningScope{"us-east-2", "iam", "20150831T000000Z"},
        SigningScope{"us-east-2", "s3", "20150831T000000Z"}, first}) {
    for (const char* const secret : {"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "another"}) {
      EXPECT_EQ(kept.KeyOf(transport, scope, secret), SigningKey(transport, scope, secret));
      EXPECT_EQ(kept.KeyOf(transport, scope, secret), SigningKey(transport, scope, secret));
    }
  }
  // The example of AWS's documentation.
  EXPECT_EQ(HexOf(kept.KeyOf(transport, first, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")),
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}

}  // namespace
}  // namespace headrace::s3
