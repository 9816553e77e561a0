// file_server FOLDER [--port N] [--threads N] [--certificate PEM --key PEM] [--delay MS] [--fail SHARE] [--stall SHARE]
// [--stall-ms MS]: gives the files of a folder over HTTP/1.1 on 127.0.0.1, whole and in ranges, at /BUCKET/NAME, and
// lists them at /BUCKET as S3 does, whoever asks. A share of the requests for files is answered by 503, and another
// one late. Prints its port. It is written to be no limit of what is measured: each thread has an epoll and a listener
// of its own, files stay open, and what is not encrypted is sent by sendfile.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLargestPage = 1000;
constexpr size_t kLargestHead = 64 << 10;
// Of a file that is encrypted, as much at a time.
constexpr int64_t kPiece = 128 << 10;

struct Arguments {
  std::string folder;
  int port = 0;
  int threads = 2;
  std::string certificate;
  std::string key;
  int delay_ms = 0;
  double fail = 0;
  double stall = 0;
  int stall_ms = 500;
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, 2) != "--") {
      arguments.folder = argument;
      continue;
    }
    if (++i == argc) return false;
    const char* value = argv[i];
    if (argument == "--port") {
      arguments.port = std::atoi(value);
    } else if (argument == "--threads") {
      arguments.threads = std::max(1, std::atoi(value));
    } else if (argument == "--certificate") {
      arguments.certificate = value;
    } else if (argument == "--key") {
      arguments.key = value;
    } else if (argument == "--delay") {
      arguments.delay_ms = std::atoi(value);
    } else if (argument == "--fail") {
      arguments.fail = std::atof(value);
    } else if (argument == "--stall") {
      arguments.stall = std::atof(value);
    } else if (argument == "--stall-ms") {
      arguments.stall_ms = std::atoi(value);
    } else {
      return false;
    }
  }
  return !arguments.folder.empty() && arguments.certificate.empty() == arguments.key.empty();
}

struct File {
  int descriptor;
  int64_t size;
  std::string etag;
};

// By name, relative to the folder.
using Files = std::map<std::string, File, std::less<>>;

Files OpenAll(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat stat;
    if (descriptor < 0 || fstat(descriptor, &stat) != 0) {
      std::cerr << path << ": " << std::strerror(errno) << "\n";
      std::exit(1);
    }
    const std::string etag = "\"" + std::to_string(stat.st_mtim.tv_nsec) + "-" + std::to_string(stat.st_size) + "\"";
    // By its own name, also where it is a link.
    files.emplace(entry.path().lexically_relative(folder).string(), File{descriptor, stat.st_size, etag});
  }
  return files;
}

std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::string Encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-_.~/";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

std::string_view Parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    if (pair.substr(0, name.size()) == name && pair.substr(name.size(), 1) == "=") return pair.substr(name.size() + 1);
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return {};
}

// A page of the files that begin with the prefix, as ListObjectsV2 gives it.
std::string Listing(const Files& files, std::string_view query) {
  const std::string prefix = Decoded(Parameter(query, "prefix"));
  const std::string token = Decoded(Parameter(query, "continuation-token"));
  auto next = token.empty() ? files.lower_bound(prefix) : files.upper_bound(token);
  std::string entries;
  int count = 0;
  std::string last;
  for (; next != files.end() && next->first.starts_with(prefix) && count < kLargestPage; ++next, ++count) {
    last = next->first;
    entries += "<Contents><Key>" + Encoded(last) + "</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>";
    entries += "<ETag>" + next->second.etag + "</ETag><Size>" + std::to_string(next->second.size) + "</Size>";
    entries += "<StorageClass>STANDARD</StorageClass></Contents>";
  }
  const bool more = next != files.end() && next->first.starts_with(prefix);
  std::string text = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  text += "<Prefix>" + Encoded(prefix) + "</Prefix><EncodingType>url</EncodingType><KeyCount>" + std::to_string(count);
  text += "</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>" + std::string(more ? "true" : "false") + "</IsTruncated>";
  if (more) text += "<NextContinuationToken>" + Encoded(last) + "</NextContinuationToken>";
  return text + entries + "</ListBucketResult>";
}

struct CloseSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

struct Connection {
  explicit Connection(int descriptor) : descriptor(descriptor) {}
  ~Connection() { close(descriptor); }
  Connection(const Connection&) = delete;

  const int descriptor;
  std::unique_ptr<SSL, CloseSsl> ssl;
  std::string in;
  // What is left to send: `out` from `sent` on, then `left` bytes of a file from `offset` on.
  std::string out;
  size_t sent = 0;
  int file = -1;
  off_t offset = 0;
  int64_t left = 0;
  bool waits = false;  // for its time
  bool ends = false;   // after the reply
};

enum class Progress { kDone, kBlocked, kEnded };

// One thread's connections.
class Loop {
 public:
  Loop(const Arguments& arguments, const Files& files, SSL_CTX* tls, int listener, uint64_t seed)
      : arguments_(arguments), files_(files), tls_(tls), listener_(listener), epoll_(epoll_create1(0)), draws_(seed) {
    Watch(listener_, EPOLL_CTL_ADD, EPOLLIN);
  }

  [[noreturn]] void Run() {
    epoll_event events[256];
    while (true) {
      const int count = epoll_wait(epoll_, events, 256, UntilNextTimer());
      for (int i = 0; i < count; ++i) {
        if (events[i].data.fd == listener_) {
          AcceptAll();
        } else {
          Advance(events[i].data.fd);
        }
      }
      RunTimers();
    }
  }

 private:
  struct Timer {
    Clock::time_point at;
    int descriptor;
    bool operator>(const Timer& other) const { return at > other.at; }
  };

  void Watch(int descriptor, int operation, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    epoll_ctl(epoll_, operation, descriptor, &event);
  }

  int UntilNextTimer() const {
    if (timers_.empty()) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(timers_.top().at - Clock::now()).count();
    return static_cast<int>(std::max<int64_t>(0, (left + 999) / 1000));
  }

  void RunTimers() {
    while (!timers_.empty() && timers_.top().at <= Clock::now()) {
      const int descriptor = timers_.top().descriptor;
      timers_.pop();
      const auto found = connections_.find(descriptor);
      if (found == connections_.end() || !found->second->waits) continue;
      found->second->waits = false;
      Advance(descriptor);
    }
  }

  void AcceptAll() {
    while (true) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor < 0) return;
      const int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      auto connection = std::make_unique<Connection>(descriptor);
      if (tls_ != nullptr) {
        connection->ssl.reset(SSL_new(tls_));
        SSL_set_fd(connection->ssl.get(), descriptor);
        SSL_set_accept_state(connection->ssl.get());
      }
      connections_[descriptor] = std::move(connection);
      Watch(descriptor, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
  }

  // Sends and receives what is possible now.
  void Advance(int descriptor) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    Progress progress = Progress::kDone;
    while (progress == Progress::kDone && !connection.waits) {
      progress = Send(connection);
      if (progress == Progress::kDone) progress = connection.ends ? Progress::kEnded : TakeRequest(connection);
    }
    if (progress == Progress::kEnded) connections_.erase(found);
  }

  Progress TakeRequest(Connection& connection) {
    while (true) {
      const size_t end = connection.in.find("\r\n\r\n");
      if (end != std::string::npos) {
        Answer(connection, std::string_view(connection.in).substr(0, end + 2));
        connection.in.erase(0, end + 4);
        return Progress::kDone;
      }
      if (connection.in.size() > kLargestHead) return Progress::kEnded;
      char buffer[16 << 10];
      const int64_t got = Receive(connection, buffer, sizeof(buffer));
      if (got < 0) return Progress::kBlocked;
      if (got == 0) return Progress::kEnded;
      connection.in.append(buffer, got);
    }
  }

  // Bytes; 0: the end or an error; -1: none now.
  static int64_t Receive(Connection& connection, char* buffer, size_t size) {
    if (connection.ssl == nullptr) {
      const ssize_t got = recv(connection.descriptor, buffer, size, 0);
      return got >= 0 ? got : errno == EAGAIN ? -1 : 0;
    }
    const int got = SSL_read(connection.ssl.get(), buffer, static_cast<int>(size));
    return got > 0 ? got : Blocked(connection, got) ? -1 : 0;
  }

  static bool Blocked(Connection& connection, int result) {
    const int error = SSL_get_error(connection.ssl.get(), result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  }

  static int64_t SendSome(Connection& connection, const char* bytes, size_t size, bool more) {
    if (connection.ssl == nullptr) {
      const ssize_t sent = send(connection.descriptor, bytes, size, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
      return sent >= 0 ? sent : errno == EAGAIN ? -1 : 0;
    }
    const int sent = SSL_write(connection.ssl.get(), bytes, static_cast<int>(size));
    return sent > 0 ? sent : Blocked(connection, sent) ? -1 : 0;
  }

  Progress Send(Connection& connection) {
    while (connection.sent < connection.out.size()) {
      const char* from = connection.out.data() + connection.sent;
      const size_t size = connection.out.size() - connection.sent;
      const int64_t sent = SendSome(connection, from, size, connection.left > 0);
      if (sent <= 0) return sent < 0 ? Progress::kBlocked : Progress::kEnded;
      connection.sent += sent;
    }
    while (connection.left > 0) {
      const int64_t sent = SendOfFile(connection);
      if (sent <= 0) return sent < 0 ? Progress::kBlocked : Progress::kEnded;
      connection.left -= sent;
    }
    connection.out.clear();
    connection.sent = 0;
    return Progress::kDone;
  }

  // Moves `offset` by what was sent.
  int64_t SendOfFile(Connection& connection) {
    if (connection.ssl == nullptr) {
      const ssize_t sent = sendfile(connection.descriptor, connection.file, &connection.offset, connection.left);
      return sent > 0 ? sent : sent < 0 && errno == EAGAIN ? -1 : 0;
    }
    piece_.resize(kPiece);
    const int64_t wanted = std::min(kPiece, connection.left);
    const ssize_t got = pread(connection.file, piece_.data(), wanted, connection.offset);
    if (got <= 0) return 0;
    const int64_t sent = SendSome(connection, piece_.data(), got, false);
    if (sent > 0) connection.offset += sent;
    return sent;
  }

  static std::string_view HeaderOf(std::string_view head, std::string_view name) {
    size_t at = head.find("\r\n");
    while (at != std::string_view::npos && at + 2 < head.size()) {
      const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
      if (line.size() > name.size() && line[name.size()] == ':' &&
          strncasecmp(line.data(), name.data(), name.size()) == 0) {
        const size_t value = line.find_first_not_of(' ', name.size() + 1);
        return value == std::string_view::npos ? std::string_view() : line.substr(value);
      }
      at = head.find("\r\n", at + 2);
    }
    return {};
  }

  void Answer(Connection& connection, std::string_view head) {
    const std::string_view method = head.substr(0, head.find(' '));
    std::string_view target = head.substr(std::min(head.size(), method.size() + 1));
    target = target.substr(0, target.find(' '));
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view query = target.substr(std::min(target.size(), path.size() + 1));
    connection.ends = HeaderOf(head, "Connection") == "close";
    const size_t slash = path.find('/', 1);
    if (method != "GET" && method != "HEAD") return Reply(connection, "405 Method Not Allowed", "", 0);
    if (slash == std::string_view::npos || slash + 1 == path.size()) {
      const std::string listing = Listing(files_, query);
      Reply(connection, "200 OK", "Content-Type: application/xml\r\n", listing.size());
      connection.out += listing;
      return;
    }
    const auto found = files_.find(Decoded(path.substr(slash + 1)));
    if (found == files_.end()) return Reply(connection, "404 Not Found", "", 0);
    if (method == "GET" && Draw() < arguments_.fail) {
      return Reply(connection, "503 Slow Down", "Content-Type: text/plain\r\n", 0);
    }
    GiveFile(connection, found->second, HeaderOf(head, "Range"), HeaderOf(head, "If-Match"), method == "HEAD");
    const bool stalls = Draw() < arguments_.stall;
    const int wait_ms = arguments_.delay_ms + (stalls ? arguments_.stall_ms : 0);
    if (wait_ms == 0) return;
    connection.waits = true;
    timers_.push({Clock::now() + std::chrono::milliseconds(wait_ms), connection.descriptor});
  }

  static void Reply(Connection& connection, std::string_view status, std::string_view headers, int64_t length) {
    connection.out = "HTTP/1.1 ";
    connection.out += status;
    connection.out += "\r\n";
    connection.out += headers;
    connection.out += "Accept-Ranges: bytes\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
  }

  static void GiveFile(Connection& connection, const File& file, std::string_view range, std::string_view match,
                       bool head_alone) {
    const std::string etag = "ETag: " + file.etag + "\r\n";
    if (!match.empty() && match != file.etag) return Reply(connection, "412 Precondition Failed", etag, 0);
    int64_t begin = 0;
    int64_t end = file.size;
    const bool ranged = range.starts_with("bytes=");
    if (ranged) {
      const char* text_end = range.data() + range.size();
      const auto [dash, error] = std::from_chars(range.data() + 6, text_end, begin);
      int64_t last = file.size - 1;
      if (error == std::errc() && dash != text_end) std::from_chars(dash + 1, text_end, last);
      end = std::min(file.size, last + 1);
      if (error != std::errc() || begin >= end) return Reply(connection, "416 Range Not Satisfiable", etag, 0);
    }
    std::string headers = etag + "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
    if (ranged) {
      headers += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/" +
                 std::to_string(file.size) + "\r\n";
    }
    Reply(connection, ranged ? "206 Partial Content" : "200 OK", headers, end - begin);
    if (head_alone) return;
    connection.file = file.descriptor;
    connection.offset = begin;
    connection.left = end - begin;
  }

  // Uniform in [0, 1).
  double Draw() {
    draws_ ^= draws_ << 13;
    draws_ ^= draws_ >> 7;
    draws_ ^= draws_ << 17;
    return static_cast<double>(draws_ >> 11) * 0x1p-53;
  }

  const Arguments& arguments_;
  const Files& files_;
  SSL_CTX* const tls_;
  const int listener_;
  const int epoll_;
  uint64_t draws_;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<char> piece_;
};

// Each thread has one at the same port.
int Listen(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 || listen(listener, 1024) != 0) {
    std::cerr << "port " << port << ": " << std::strerror(errno) << "\n";
    std::exit(1);
  }
  return listener;
}

int PortOf(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

SSL_CTX* TlsOf(const Arguments& arguments) {
  if (arguments.certificate.empty()) return nullptr;
  SSL_CTX* const tls = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(tls, arguments.certificate.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(tls, arguments.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    std::cerr << "the certificate or its key cannot be read\n";
    std::exit(1);
  }
  return tls;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::cerr << "usage: file_server FOLDER [--port N] [--threads N] [--certificate PEM --key PEM] [--delay MS]\n"
                 "                   [--fail SHARE] [--stall SHARE] [--stall-ms MS]\n";
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const Files files = OpenAll(arguments.folder);
  SSL_CTX* const tls = TlsOf(arguments);
  const int first = Listen(arguments.port);
  const int port = PortOf(first);
  std::vector<std::thread> threads;
  for (int i = 0; i < arguments.threads; ++i) {
    const int listener = i == 0 ? first : Listen(port);
    threads.emplace_back([&, listener, i] {
      Loop(arguments, files, tls, listener, 0x9E3779B97F4A7C15 * static_cast<uint64_t>(i + 1)).Run();
    });
  }
  std::cout << port << std::endl;
  for (std::thread& thread : threads) thread.join();
}
