#include "io/files/http/attempt.h"

#include <algorithm>

#include "core/error.h"

namespace headrace::http {

bool Attempt::OnHead(const Head& given, uint8_t*& target, size_t& bytes) {
  if (call->ended()) return false;
  error = call->TakeHead(*this, given);
  if (!error.ok() || !wrong.empty()) return false;
  if (into_target) {
    const absl::Span<uint8_t> rest = call->TargetFrom(base);
    target = rest.data();
    bytes = std::min(rest.size(), static_cast<size_t>(most));
  } else if (expected > 0 && expected <= most) {
    body.reserve(static_cast<size_t>(expected));
  }
  return true;
}

bool Attempt::OnBody(std::string_view piece) {
  if (call->ended()) return false;
  if (static_cast<int64_t>(body.size() + piece.size()) > most) {
    error = call->TooLong(*this);
    return false;
  }
  body += piece;
  return true;
}

}  // namespace headrace::http
