// `LoopbackServer` is a server for tests on this machine's loopback that says what a function of the test says, byte by
// byte, to each request, so that every fault of a server can be shown. Threads: its functions belong to the test's
// thread; `serve` is called on a thread of its own for each connection.
#ifndef HEADRACE_IO_FILES_HTTP_TESTING_LOOPBACK_SERVER_H_
#define HEADRACE_IO_FILES_HTTP_TESTING_LOOPBACK_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::http {

// One connection.
class Visitor {
 public:
  explicit Visitor(int socket) : socket_(socket) {}

  // The next request: head and body of a Content-Length; "": the visitor has gone.
  std::string NextRequest() {
    size_t end;
    while ((end = text_.find("\r\n\r\n")) == std::string::npos) {
      if (!Receive()) return "";
    }
    const size_t whole = end + 4 + BodyBytes();
    while (text_.size() < whole) {
      if (!Receive()) return "";
    }
    std::string request = text_.substr(0, whole);
    text_.erase(0, whole);
    return request;
  }
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Until the visitor goes.
  void Stall() {
    while (Receive()) {
    }
  }
  int socket() const { return socket_; }
  // Ends the connection by a reset instead of an end.
  void Reset() {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  bool Receive() {
    char bytes[65536];
    const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
    if (count > 0) text_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }
  size_t BodyBytes() const {
    const size_t at = text_.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(text_.substr(at + 16));
  }

  const int socket_;
  std::string text_;
};

class LoopbackServer {
 public:
  using Serve = std::function<void(Visitor& visitor)>;

  explicit LoopbackServer(Serve serve) : serve_(std::move(serve)), listener_(Listen()) {
    thread_ = std::thread([this] { Accept(); });
  }
  ~LoopbackServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int socket : sockets_) close(socket);
    close(listener_);
  }
  LoopbackServer(const LoopbackServer&) = delete;

  std::string Url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  int connections() const { return connections_; }

 private:
  int Listen() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener, 512);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    return listener;
  }
  void Accept() {
    while (true) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      ++connections_;
      const std::lock_guard<std::mutex> lock(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] {
        Visitor visitor(socket);
        serve_(visitor);
        EndConnection(socket);
      });
    }
  }
  void EndConnection(int socket) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase(sockets_, socket);
    close(socket);
  }

  const Serve serve_;
  int port_ = 0;
  const int listener_;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::thread thread_;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_TESTING_LOOPBACK_SERVER_H_
