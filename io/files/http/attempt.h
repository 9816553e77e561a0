// `Attempt` is one request of a call that is under way: it takes the reply's head and body for the call. Threads: the
// transport's event thread.
#ifndef HEADRACE_IO_FILES_HTTP_ATTEMPT_H_
#define HEADRACE_IO_FILES_HTTP_ATTEMPT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "io/files/http/running_call.h"
#include "io/files/http/transport.h"

namespace headrace::http {

struct Attempt : Receiver {
  Attempt(std::shared_ptr<RunningCall> of, int64_t base_bytes, bool second)
      : call(std::move(of)), base(base_bytes), hedge(second) {}

  bool OnHead(const Head& given, uint8_t*& target, size_t& bytes) override;
  bool OnBody(std::string_view piece) override;
  void OnEnd(Outcome outcome) override { call->Ended(*this, std::move(outcome)); }

  const std::shared_ptr<RunningCall> call;
  Transport::Id id = 0;
  int64_t base;  // bytes of the target that were there when it was sent
  const bool hedge;
  Head head;                 // of the reply; empty until the attempt has ended
  absl::Status error;        // ends the call
  std::string wrong;         // what is wrong with the reply; "": nothing
  bool good = false;         // a 200 or 206, whose body is wanted
  bool into_target = false;  // straight
  int64_t most = 0;          // bytes of the body
  int64_t expected = -1;     // bytes of the body; -1: not known
  std::string body;          // unless it goes straight into the target
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_ATTEMPT_H_
