// `NegotiateToken` makes what the header "Authorization: Negotiate" of a first request carries (SPNEGO, RFC 4559), from
// the Kerberos ticket of this user. The machine's own libgssapi_krb5 is loaded for it when it is first needed. Asking
// may take as long as the KDC does. Threads: any thread.
#ifndef HEADRACE_IO_FILES_HDFS_NEGOTIATE_H_
#define HEADRACE_IO_FILES_HDFS_NEGOTIATE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::hdfs {

// In Base64, for the service HTTP on `host`. kUnsupported: there is no library, no ticket, or the KDC refuses; what to
// do.
absl::StatusOr<std::string> NegotiateToken(std::string_view host);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_NEGOTIATE_H_
