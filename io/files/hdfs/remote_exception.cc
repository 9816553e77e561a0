#include "io/files/hdfs/remote_exception.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/files/plainly_missing.h"

namespace headrace::hdfs {
namespace {

using ExceptionJson = nlohmann::json;

constexpr size_t kMostMessageBytes = 300;
constexpr std::string_view kTokenInRequest = "delegation=";
constexpr size_t kMostExceptionBytes = size_t{1} << 20;
constexpr int kMostExceptionDepth = 4;

std::string TextIn(const ExceptionJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

RemoteException ParseRemoteException(std::string_view body) {
  RemoteException exception;
  if (body.size() > kMostExceptionBytes) return exception;
  const auto shallow = [](int depth, ExceptionJson::parse_event_t, const ExceptionJson&) {
    return depth <= kMostExceptionDepth;
  };
  const ExceptionJson parsed = ExceptionJson::parse(body, shallow, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return exception;
  const auto inner = parsed.find("RemoteException");
  if (inner == parsed.end() || !inner->is_object()) return exception;
  exception.name = TextIn(*inner, "exception");
  std::string message = TextIn(*inner, "message");
  // A gateway may repeat the request, which has the token in it.
  message.resize(std::min({message.size(), message.find('\n'), message.find(kTokenInRequest), kMostMessageBytes}));
  exception.message = std::move(message);
  return exception;
}

RemoteFault FaultOf(int status, const RemoteException& exception) {
  if (status < 400) return RemoteFault::kNone;
  if (status == 401) return RemoteFault::kLogin;
  // Exceptions are wrapped, and then named in the message.
  const std::string text = Cat(exception.name, " ", exception.message);
  if (HasAny(text, {"StandbyException"})) return RemoteFault::kStandby;
  if (HasAny(text, {"InvalidToken", "TokenRenewer", "token is expired", "can't be found in cache"})) {
    return RemoteFault::kLogin;
  }
  if (HasAny(text, {"SafeModeException", "RetriableException", "startup mode", "AlreadyBeingCreatedException",
                    "RecoveryInProgressException", "ServerTooBusyException"})) {
    return RemoteFault::kNotYet;
  }
  if (HasAny(text, {"No active nodes", "Failed to find datanode", "BlockMissingException", "Could not obtain block"})) {
    return RemoteFault::kNoDataNode;
  }
  if (HasAny(exception.message, {"out of the range"})) return RemoteFault::kBeyondEnd;
  if (HasAny(exception.name, {"FileNotFoundException"})) return RemoteFault::kMissing;
  if (HasAny(exception.message, {"Invalid value for webhdfs parameter \"op\"", "No enum constant"})) {
    return RemoteFault::kUnknownOp;
  }
  if (HasAny(text, {"AccessControlException", "Permission denied", "AuthorizationException", "SecurityException"})) {
    return RemoteFault::kDenied;
  }
  return status == 404 && exception.empty() ? RemoteFault::kMissing : RemoteFault::kOther;
}

absl::Status RemoteError(std::string_view path, int status, const RemoteException& exception) {
  std::string said = Cat("status ", status);
  if (!exception.name.empty()) Append(said, ", ", exception.name);
  if (!exception.message.empty()) Append(said, ": ", exception.message);
  switch (FaultOf(status, exception)) {
    case RemoteFault::kMissing:
      return MissingError(path);
    case RemoteFault::kDenied:
      return UnsupportedError(path,
                              ": HDFS does not permit it to this user; give user, or a token, by storage=, or have "
                              "the permissions changed (",
                              said, ")");
    case RemoteFault::kLogin:
      return UnsupportedError(path,
                              ": HDFS does not take the login: give a valid token by storage= or by the file that "
                              "HADOOP_TOKEN_FILE_LOCATION names, or run kinit (",
                              said, ")");
    case RemoteFault::kStandby:
      return BeyondRow(
          ResourceError(path, ": every NameNode that is known only stands by; check the cluster (", said, ")"));
    case RemoteFault::kNotYet:
      return BeyondRow(ResourceError(path, ": HDFS is not ready for it yet; try again later (", said, ")"));
    case RemoteFault::kNoDataNode:
      return BeyondRow(
          ResourceError(path, ": no DataNode gives its bytes; check the cluster with hdfs fsck (", said, ")"));
    case RemoteFault::kBeyondEnd:
      return DataError(path, ": the file is shorter than it was when it was listed (", said, ")");
    default:
      break;
  }
  if (status >= 500) return BeyondRow(ResourceError(path, ": the server of HDFS failed (", said, ")"));
  return UnsupportedError(path, ": HDFS refuses it (", said, ")");
}

}  // namespace headrace::hdfs
