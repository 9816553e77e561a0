// `RemoteException` is the error of a NameNode or a DataNode, which comes as JSON; `FaultOf` says what follows from it.
// Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HDFS_REMOTE_EXCEPTION_H_
#define HEADRACE_IO_FILES_HDFS_REMOTE_EXCEPTION_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace headrace::hdfs {

struct RemoteException {
  std::string name;     // "FileNotFoundException"
  std::string message;  // its first line, of at most some hundred bytes

  bool empty() const { return name.empty() && message.empty(); }
};

// Empty: the body is not one.
RemoteException ParseRemoteException(std::string_view body);

enum class RemoteFault {
  kNone,
  kMissing,     // the file or folder is not there
  kStandby,     // this NameNode only stands by
  kNotYet,      // the cluster is in safe mode, starts, or still closes the file: it passes
  kLogin,       // the token is not known or not valid any more, or there was no login
  kNoDataNode,  // no DataNode gives the block now
  kBeyondEnd,   // the file ends before
  kDenied,      // the user may not
  kUnknownOp,   // this version does not know the operation
  kOther,
};

// Of a reply with this status.
RemoteFault FaultOf(int status, const RemoteException& exception);

// The error of a request for `path`, with the status and the exception.
absl::Status RemoteError(std::string_view path, int status, const RemoteException& exception);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_REMOTE_EXCEPTION_H_
