// `HttpClient` makes requests of a `Transport` that survive what networks do: it repeats what failed, goes on from the
// byte that a cut body reached, sends a slow read a second time, slows down when a host asks for it, and counts. One
// policy serves every store: waits are drawn by a generator of its own, so no byte of a pipeline depends on them.
// Replies that repeating cannot help (404, 403, 412 …) are results, which the store interprets.
// Threads: any thread; `Done` and the functions of a `Call` may be called on the event thread, and must not block.
#ifndef HEADRACE_IO_FILES_HTTP_HTTP_CLIENT_H_
#define HEADRACE_IO_FILES_HTTP_HTTP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/far_files.h"
#include "io/files/http/transport.h"

namespace headrace::http {

struct Reply {
  Head head;
  std::string body;      // unless it went into Call::target
  int64_t received = 0;  // bytes of the body
  int attempts = 1;
};

// What a reply means for the next attempt.
enum class Verdict {
  kResult,       // as it is
  kRetry,        // wait, and repeat it
  kThrottled,    // as kRetry, with longer waits, and less at once
  kRetryAtOnce,  // repeat it once without a wait: `prepare` now makes a request that may pass
};

enum class Purpose { kRead, kList, kWrite };  // what it counts as

struct Call {
  std::string name;  // what errors call it: "s3://bucket/key"
  Purpose purpose = Purpose::kRead;
  Request request;
  // Called before each attempt with a copy of `request`, to sign it; `received` bytes of the body are there already.
  // An error ends the call.
  std::function<absl::Status(Request& attempt, int64_t received)> prepare;
  // By default: 2xx, 3xx and other 4xx are results; 408, 500, 502, 504 are repeated; 429 and 503 are throttling.
  std::function<Verdict(const Head& head, std::string_view body)> judge;

  // Where the body of a 200 or 206 goes; empty: into Reply::body, of at most `most_body` bytes. So does a whole that
  // was not asked for and does not fit, or does not begin where the target does. It stays valid until Done.
  absl::Span<uint8_t> target;
  // Makes the target when the call has its place at the host, so that calls that wait hold no memory; empty: there is
  // none. Null: `target` is as it is.
  std::function<absl::Span<uint8_t>()> make_target;
  int64_t most_body = int64_t{64} << 20;
  // Asks for these bytes of a file: the client adds Range, checks Content-Range and the length, and goes on with the
  // rest after a cut. `target` holds them. A reply of 200 is an error unless `whole_is_good`.
  struct Range {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  std::optional<Range> range;
  bool whole_is_good = false;
  // Checks the head of a success before any byte of the body is taken: its ETag, its length. An error ends the call.
  std::function<absl::Status(const Head& head)> check;
  bool may_repeat = true;  // false: not after the request may have reached the host
  bool may_hedge = false;  // a read of bytes that may be sent a second time when it is slow
  // Where the second sending goes, if not where the first went: calls `found`, on any thread, with a request for the
  // bytes from `received` of the target on, or does not call it where there is no other place. Unless all of them come
  // from there, the call goes on as if it had been sent only once.
  using FoundHedge = std::function<void(Request request)>;
  std::function<void(int64_t received, FoundHedge found)> find_hedge;
  int most_attempts = 0;  // 0: as many as the policy has
  // `prepare` asks for the part that is missing by the URL or a header of its own, and the store guards its version;
  // the reply holds that part alone.
  bool prepare_resumes = false;
};

class HttpClient {
 public:
  using Done = std::function<void(absl::StatusOr<Reply> reply)>;

  // Reaches hosts by `reach`, which goes into every request. Counts are this client's own; limits of a host, its
  // tokens and its speed are shared by all clients of a transport. `transport` outlives the client.
  HttpClient(Transport* transport, Reach reach);
  ~HttpClient();  // waits for nothing: calls that were started go on to their Done

  // The reply of the last attempt. Errors name the call, the status or the fault, the number of attempts and the time
  // waited: kData for a reply that breaks HTTP or its promise, kResource (BeyondRow) for a network or a host that did
  // not answer, kClosed if the call was cancelled.
  // `done` is called on the event thread, or before Start returns where the call cannot be started.
  using Id = uint64_t;  // never 0; 0: it was not started
  Id Start(Call call, Done done);
  // Ends a call with kClosed, unless it has ended; its Done comes on the event thread.
  void Cancel(Id id);
  // As Start, but waits; ends with kClosed, and cancels, when the thread's StopSignal is raised.
  absl::StatusOr<Reply> Run(Call call);

  StoreCounters counters() const;
  Transport& transport() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// The process's transport, whose library is loaded by the first call: libheadrace_far.so in the folder of the module or
// program that holds this code, or the file that HEADRACE_FAR_LIBRARY names. kUnsupported, saying how to build it
// (`./quickstart --far`): it is not there. Refused in a forked child of a process that used it.
absl::StatusOr<Transport*> LoadedTransport();
// Gives tests a transport of their own.
void SetTransportForTest(Transport* transport);

// Where certificates of authorities are: `given`, then the environment's AWS_CA_BUNDLE, SSL_CERT_FILE, CURL_CA_BUNDLE,
// then the usual files of Linux systems. kNotFound, with all places: none exists.
absl::StatusOr<std::string> FindCaFile(std::string_view given);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_HTTP_CLIENT_H_
