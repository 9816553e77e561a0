// `CurlRequest` is one request on a libcurl handle: it sets the handle up, takes what libcurl gives, and says how it
// ended. Threads: the transport's event thread.
#ifndef HEADRACE_IO_FILES_HTTP_CURL_CURL_REQUEST_H_
#define HEADRACE_IO_FILES_HTTP_CURL_CURL_REQUEST_H_

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/files/http/transport.h"

namespace headrace::http {

class CurlRequest {
 public:
  // `place`: what is reached, and how (PlaceOf). `reached` is called when there is a connection. `started_ns`: when it
  // was asked for.
  CurlRequest(Transport::Id id, std::string place, Request request, std::shared_ptr<Receiver> receiver,
              int64_t started_ns, std::function<void()> reached);
  ~CurlRequest();
  CurlRequest(const CurlRequest&) = delete;

  // Sets up a handle that is as new, and gives it back when this ends. `resolves`: on a new connection, with the host's
  // addresses as they are now; otherwise with those that are known. False: no memory, or the request is not good.
  bool SetUp(CURL* handle, bool resolves);
  // How one that could not be set up ends.
  Outcome EndUnsent();
  CURL* handle() const { return handle_; }
  Transport::Id id() const { return id_; }
  const std::string& place() const { return place_; }

  // From now on nothing more is given to the receiver but the end.
  void Cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  // How long it may still be without a byte; below 0: it is over. Before there is a connection, libcurl's own limit
  // counts.
  int64_t IdleLeft(int64_t now_ns) const;

  Outcome End(CURLcode code);
  Outcome EndWith(Fault fault, std::string_view reason);
  Receiver& receiver() { return *receiver_; }

 private:
  static size_t TakeHeader(char* line, size_t one, size_t bytes, void* self);
  static size_t TakeBody(char* data, size_t one, size_t bytes, void* self);
  static size_t GiveBody(char* data, size_t one, size_t bytes, void* self);
  static int SeekBody(void* self, curl_off_t offset, int origin);
  static int Reached(void* self, char* remote, char* local, int remote_port, int local_port);

  bool SetUpHead();
  bool SetUpBody();
  void SetUpReach(bool resolves);
  bool AddHeader(const Header& header);
  size_t OnLine(std::string_view line);
  bool OnHeadEnd();
  bool OnPiece(std::string_view piece);
  Fault FaultOf(CURLcode code) const;
  bool HasBadProxy() const;

  const Transport::Id id_;
  const std::string place_;
  const Request request_;
  const std::shared_ptr<Receiver> receiver_;
  const int64_t started_ns_;
  const std::function<void()> reached_;
  CURL* handle_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> reason_{};
  int64_t body_bytes_ = 0;

  Head head_;
  size_t head_bytes_ = 0;
  bool head_given_ = false;
  bool connected_ = false;  // to the host, by a new or a kept connection
  uint8_t* target_ = nullptr;
  size_t target_bytes_ = 0;
  int64_t received_ = 0;
  size_t sent_part_ = 0;   // of the request's body
  size_t sent_bytes_ = 0;  // of that part
  int64_t sent_ = 0;
  int64_t first_byte_ns_ = 0;
  int64_t last_byte_ns_ = 0;  // of the clock, in either direction; 0: there is no connection yet
  bool cancelled_ = false;
  bool stopped_ = false;  // the receiver wants no more
  bool too_long_ = false;
  bool endless_head_ = false;
  bool no_memory_ = false;
  bool not_sendable_ = false;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_CURL_CURL_REQUEST_H_
