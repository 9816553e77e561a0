// `LateCalls` makes calls after a time, unless they are removed before. Most are, such as those that send a read a
// second time where its reply is late. One timer of the transport serves all calls, and a call that is removed leaves
// memory at once.
// Threads: the transport's event thread, but for the constructor.
#ifndef HEADRACE_IO_FILES_HTTP_LATE_CALLS_H_
#define HEADRACE_IO_FILES_HTTP_LATE_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "io/files/http/transport.h"

namespace headrace::http {

class LateCalls : public std::enable_shared_from_this<LateCalls> {
 public:
  using Place = std::multimap<int64_t, std::function<void()>>::iterator;

  // The transport outlives it.
  explicit LateCalls(Transport* transport) : transport_(transport) {}

  // `call` comes after so long, which ends its place, unless it is removed before.
  Place Add(int64_t ns, std::function<void()> call);
  void Remove(Place place) { waiting_.erase(place); }
  // Timers of the transport so far.
  int64_t timers() const { return timers_; }

 private:
  void SetTimer();
  void CallDue();

  Transport* const transport_;
  std::multimap<int64_t, std::function<void()>> waiting_;  // by their times
  int64_t timer_ns_ = -1;                                  // when the next timer comes; -1: there is none
  int64_t timers_ = 0;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_LATE_CALLS_H_
