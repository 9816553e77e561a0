// `ConnectionCount` chooses how many requests to a host are under way at once, where no setting says it: twice as many
// as long as that gives at least a tenth more in the same time, and as many as before where it does not. A new number
// is measured when as many replies as it has places have come, which are those that waited for their connections.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FILES_HTTP_CONNECTION_COUNT_H_
#define HEADRACE_IO_FILES_HTTP_CONNECTION_COUNT_H_

#include <cstdint>

namespace headrace::http {

class ConnectionCount {
 public:
  explicit ConnectionCount(int64_t now_ns) : began_ns_(now_ns) {}

  int now() const { return count_; }
  // A reply of so many bytes has come. `all_taken`: others wait for a place; otherwise more places would change
  // nothing.
  void CountReply(int64_t bytes, bool all_taken, int64_t now_ns);

 private:
  void BeginSpan(int64_t now_ns);
  void TakeRate(double rate, int64_t now_ns);
  void Try(int count, int64_t now_ns);

  int count_ = 16;
  int kept_ = 16;         // the last that was worth it
  double kept_rate_ = 0;  // 0: not measured
  int64_t next_try_ns_ = 0;
  bool settles_ = true;  // the span in which connections are made
  // Since the beginning of the current span.
  int64_t began_ns_;
  int64_t replies_ = 0;
  double work_ = 0;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_CONNECTION_COUNT_H_
