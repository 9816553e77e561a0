#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>

#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "io/files/http/curl/curl_transport.h"
#include "io/files/http/testing/loopback_server.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::http {
namespace {

constexpr long kDay = 24 * 3600;

// A key, and a certificate for it that it has signed itself.
struct SignedKey {
  // For a host, valid between these seconds from now.
  SignedKey(const std::string& host, long from, long to) : key(EVP_EC_gen("P-256")), certificate(X509_new()) {
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), to);
    X509_set_pubkey(certificate, key);
    X509_NAME* const name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* const hosts = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, host.c_str());
    X509_add_ext(certificate, hosts, -1);
    X509_EXTENSION_free(hosts);
    X509_sign(certificate, key, EVP_sha256());
  }
  ~SignedKey() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  SignedKey(const SignedKey&) = delete;
  std::string Pem() const {
    BIO* const bytes = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bytes, certificate);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bytes, &data);
    std::string text(data, static_cast<size_t>(size));
    BIO_free(bytes);
    return text;
  }

  EVP_PKEY* const key;
  X509* const certificate;
};

// Answers requests over TLS.
class TlsServer {
 public:
  explicit TlsServer(const SignedKey& key)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
        server_([this](Visitor& visitor) { Answer(visitor.socket()); }) {
    // OpenSSL writes to clients that have gone.
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX_use_certificate(context_.get(), key.certificate);
    SSL_CTX_use_PrivateKey(context_.get(), key.key);
  }
  std::string Url() const { return "https" + server_.Url("/a").substr(4); }

 private:
  void Answer(int socket) const {
    SSL* const connection = SSL_new(context_.get());
    SSL_set_fd(connection, socket);
    if (SSL_accept(connection) == 1) {
      char request[4096];
      const std::string reply = "HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\nbody";
      if (SSL_read(connection, request, sizeof request) > 0) SSL_write(connection, reply.data(), reply.size());
    }
    SSL_free(connection);
  }

  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  LoopbackServer server_;
};

class TlsReply : public Receiver {
 public:
  bool OnHead(const Head& /*head*/, uint8_t*& /*target*/, size_t& /*bytes*/) override { return true; }
  void OnEnd(Outcome outcome) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    outcome_ = std::move(outcome);
    ended_ = true;
    changed_.notify_all();
  }
  Outcome Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    return outcome_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  Outcome outcome_;
};

Outcome FetchSecurely(const std::string& url, const std::string& ca_file) {
  static Transport* const transport = CurlTransport::Make();
  Request request;
  request.url = url;
  request.reach.ca_file = ca_file;
  const auto reply = std::make_shared<TlsReply>();
  transport->Start(std::move(request), reply);
  return reply->Wait();
}

TEST(CurlTls, ConnectsOnlyToWhomTheAuthoritiesKnow) {
  const TemporaryFolder folder;
  const SignedKey good("IP:127.0.0.1", -kDay, kDay);
  const SignedKey other("IP:127.0.0.1", -kDay, kDay);
  const SignedKey expired("IP:127.0.0.1", -2 * kDay, -kDay);
  const SignedKey elsewhere("IP:127.0.0.2", -kDay, kDay);
  const std::string ca_file = folder.Write("ca.pem", good.Pem() + expired.Pem() + elsewhere.Pem());
  const TlsServer server(good);
  const Outcome fine = FetchSecurely(server.Url(), ca_file);
  EXPECT_EQ(fine.fault, Fault::kNone) << fine.reason;
  EXPECT_EQ(fine.received, 4);
  const auto refused = [](const std::string& url, const std::string& authorities) {
    const Outcome outcome = FetchSecurely(url, authorities);
    EXPECT_EQ(outcome.head.status, 0);
    return outcome.fault == Fault::kTls;
  };
  EXPECT_TRUE(refused(server.Url(), folder.Write("other.pem", other.Pem())));
  EXPECT_TRUE(refused(server.Url(), ""));
  EXPECT_TRUE(refused(server.Url(), folder / "missing.pem"));
  EXPECT_TRUE(refused(server.Url(), folder.Write("damaged.pem", "not a certificate")));
  EXPECT_TRUE(refused(TlsServer(expired).Url(), ca_file));
  EXPECT_TRUE(refused(TlsServer(elsewhere).Url(), ca_file));
}

TEST(CurlTls, ConnectionsOfOtherAuthoritiesAreNotUsed) {
  const TemporaryFolder folder;
  const SignedKey good("IP:127.0.0.1", -kDay, kDay);
  const SignedKey other("IP:127.0.0.1", -kDay, kDay);
  const TlsServer server(good);
  EXPECT_EQ(FetchSecurely(server.Url(), folder.Write("good.pem", good.Pem())).fault, Fault::kNone);
  EXPECT_EQ(FetchSecurely(server.Url(), folder.Write("other.pem", other.Pem())).fault, Fault::kTls);
}

TEST(CurlTls, AServerWithoutTlsIsRefused) {
  const LoopbackServer server([](Visitor& visitor) { visitor.Send("HTTP/1.1 400 Plain\r\n\r\n"); });
  EXPECT_EQ(FetchSecurely("https" + server.Url("/a").substr(4), "").fault, Fault::kTls);
}

TEST(CurlTls, AHostThatClosesBeforeItHasSaidAnythingIsCut) {
  const LoopbackServer server([](Visitor& visitor) {
    char bytes[4096];
    EXPECT_GT(recv(visitor.socket(), bytes, sizeof bytes, 0), 0);
  });
  const Outcome outcome = FetchSecurely("https" + server.Url("/a").substr(4), "");
  EXPECT_EQ(outcome.fault, Fault::kCut) << outcome.reason;
}

}  // namespace
}  // namespace headrace::http
