// `Transport` sends single HTTP requests, many at once, and says what came back; it neither retries nor interprets. The
// one implementation, over libcurl and OpenSSL (curl_transport.cc), is a library of its own that is loaded at the first
// far path, so that a process without far files carries neither. Nothing of Abseil or of Headrace crosses this
// interface: the library links none of them.
// Threads: any thread; callbacks come on the transport's one event thread, and must not block.
#ifndef HEADRACE_IO_FILES_HTTP_TRANSPORT_H_
#define HEADRACE_IO_FILES_HTTP_TRANSPORT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::http {

struct Header {
  std::string name;
  std::string value;

  friend bool operator==(const Header&, const Header&) = default;
};

// How a host is reached; requests with equal reaches share connections.
struct Reach {
  std::string ca_file = {};   // PEM; empty: none, so https fails
  std::string proxy = {};     // empty: as the environment says (http_proxy, https_proxy, no_proxy)
  int connections = 0;        // to one host, at once, which HttpClient keeps to; 0: chosen
  int64_t connect_ms = 3000;  // for name and connection
  int64_t idle_ms = 60000;    // without a byte, in either direction; 0: no limit

  friend bool operator==(const Reach&, const Reach&) = default;
};

struct Request {
  std::string method = "GET";
  std::string url;  // percent-encoded, sent as it is
  std::vector<Header> headers;
  std::vector<std::string_view> body;  // sent end to end; lives until the request ends
  Reach reach;
  int64_t deadline_ms = 0;  // for all of it; 0: none
};

// What a reply began with; `OnHead` says where its body goes.
struct Head {
  int status = 0;
  std::vector<Header> headers;  // names in lower case
  // The value of a header, "" if it is missing.
  std::string_view Find(std::string_view name) const {
    for (const Header& header : headers) {
      if (header.name == name) return header.value;
    }
    return {};
  }
};

enum class Fault {
  kNone,  // a whole reply, of whatever status
  kCancelled,
  kNoHost,     // the name has no address
  kRefused,    // no connection
  kTimedOut,   // of the connection, without a byte, or the deadline
  kCut,        // the reply ended before its end, or the connection was reset
  kTls,        // the certificate is not good, or another error of TLS
  kMalformed,  // not HTTP
  kNotSent,    // the request cannot be sent as it is: its URL, a header or the proxy is not good
  kTooLong,    // the body does not fit where it should go
  kOther,
};

struct Outcome {
  Fault fault = Fault::kNone;
  std::string reason;         // the transport's words about the fault
  Head head;                  // status 0: no reply began
  int64_t received = 0;       // bytes of the body that were given
  int64_t sent = 0;           // bytes of the body
  bool connected = false;     // by a connection opened for this request
  int64_t first_byte_ns = 0;  // from the start
  int64_t total_ns = 0;
};

// The one who asked. All calls come on the event thread, in this order.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // The head of the final reply, before its body. `target` gets memory for the body, which is written straight there
  // and must hold all of it, or is left empty: then `OnBody` gets the body. False: the request is cancelled.
  virtual bool OnHead(const Head& head, uint8_t*& target, size_t& bytes) = 0;
  virtual bool OnBody(std::string_view /*piece*/) { return true; }
  // Called once. The request, and the receiver unless it keeps itself, may be destroyed by it.
  virtual void OnEnd(Outcome outcome) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  using Id = uint64_t;  // never 0, and not used twice
  // Sends the request at once, over a connection that is free or a new one. `receiver` is kept until OnEnd has
  // returned.
  virtual Id Start(Request request, std::shared_ptr<Receiver> receiver) = 0;
  // Ends a request with kCancelled, unless it has ended. OnEnd comes on the event thread, perhaps after this returns.
  // On the event thread: once this has returned, nothing more is written to its target.
  virtual void Cancel(Id id) = 0;
  // Calls on the event thread after so long; not before the time, and perhaps before this returns for 0.
  virtual void After(int64_t ns, std::function<void()> call) = 0;
  // Nanoseconds of the clock that `After` uses; it is never set back.
  virtual int64_t Now() const = 0;
  // Requests that were started and have not ended.
  virtual int64_t outstanding() const = 0;

  using Sha256 = std::array<uint8_t, 32>;
  using Md5 = std::array<uint8_t, 16>;
  virtual Sha256 DigestSha256(const std::vector<std::string_view>& parts) const = 0;
  virtual Sha256 HmacSha256(std::string_view key, std::string_view text) const = 0;
  virtual Md5 DigestMd5(const std::vector<std::string_view>& parts) const = 0;
  // "curl 7.88.1, OpenSSL 3.0.17".
  virtual std::string Versions() const = 0;
};

// The library's one function, "headrace_make_transport"; null: it was built for another version of this interface.
using MakeTransport = Transport* (*)(int interface_version);
inline constexpr int kTransportVersion = 2;
inline constexpr const char* kMakeTransport = "headrace_make_transport";

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_TRANSPORT_H_
