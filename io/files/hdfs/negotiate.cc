#include "io/files/hdfs/negotiate.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "absl/strings/escaping.h"
#include "core/error.h"

namespace headrace::hdfs {
namespace {

// What RFC 2744 declares of the library's interface, whose headers a build need not have.
using GssWord = uint32_t;
struct GssBytes {
  size_t length = 0;
  void* value = nullptr;
};
struct GssId {
  GssWord length;
  const void* elements;
};
using GssObject = void*;

struct GssLibrary {
  GssWord (*import_name)(GssWord* minor, GssBytes* text, const GssId* type, GssObject* name) = nullptr;
  GssWord (*init_context)(GssWord* minor, GssObject credential, GssObject* context, GssObject name,
                          const GssId* mechanism, GssWord flags, GssWord seconds, void* bindings, GssBytes* input,
                          GssId** used, GssBytes* output, GssWord* got, GssWord* lasts) = nullptr;
  GssWord (*delete_context)(GssWord* minor, GssObject* context, GssBytes* output) = nullptr;
  GssWord (*release_name)(GssWord* minor, GssObject* name) = nullptr;
  GssWord (*release_bytes)(GssWord* minor, GssBytes* bytes) = nullptr;
  GssWord (*display_status)(GssWord* minor, GssWord status, int kind, const GssId* mechanism, GssWord* more,
                            GssBytes* text) = nullptr;
};

constexpr char kServiceNameBytes[] = "\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04";  // GSS_C_NT_HOSTBASED_SERVICE
constexpr char kSpnegoBytes[] = "\x2b\x06\x01\x05\x05\x02";
constexpr GssId kServiceName = {sizeof(kServiceNameBytes) - 1, kServiceNameBytes};
constexpr GssId kSpnego = {sizeof(kSpnegoBytes) - 1, kSpnegoBytes};
constexpr GssWord kErrorBits = 0xffff0000;

template <typename Function>
bool FindFunction(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

absl::StatusOr<GssLibrary> OpenGss() {
  void* const library = dlopen("libgssapi_krb5.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return UnsupportedError(
        "HDFS asks for a login by Kerberos, and libgssapi_krb5.so.2 is not installed here: install the package "
        "libgssapi-krb5-2 (Debian, Ubuntu) or krb5-libs (RHEL), or give a delegation token by storage=");
  }
  GssLibrary gss;
  const bool whole = FindFunction(library, "gss_import_name", gss.import_name) &&
                     FindFunction(library, "gss_init_sec_context", gss.init_context) &&
                     FindFunction(library, "gss_delete_sec_context", gss.delete_context) &&
                     FindFunction(library, "gss_release_name", gss.release_name) &&
                     FindFunction(library, "gss_release_buffer", gss.release_bytes) &&
                     FindFunction(library, "gss_display_status", gss.display_status);
  if (!whole) return UnsupportedError("libgssapi_krb5.so.2 lacks functions of GSSAPI: install MIT Kerberos");
  return gss;
}

// "No Kerberos credentials available".
std::string GssReason(const GssLibrary& gss, GssWord major, GssWord minor) {
  constexpr int kMajorStatus = 1;
  constexpr int kMinorStatus = 2;
  std::string reason;
  for (const int kind : {kMajorStatus, kMinorStatus}) {
    GssWord more = 0;
    GssWord ignored = 0;
    GssBytes text;
    gss.display_status(&ignored, kind == kMajorStatus ? major : minor, kind, nullptr, &more, &text);
    std::string_view said(static_cast<const char*>(text.value), text.length);
    // Some texts end as those of C do.
    while (said.ends_with('\0')) said.remove_suffix(1);
    Append(reason, reason.empty() ? "" : "; ", said);
    gss.release_bytes(&ignored, &text);
  }
  return reason;
}

absl::Status KerberosError(std::string_view host, std::string_view reason) {
  return UnsupportedError("HDFS asks for a login by Kerberos, which fails for the service HTTP on ", host,
                          ": run kinit, or give a delegation token by storage= (", reason, ")");
}

}  // namespace

absl::StatusOr<std::string> NegotiateToken(std::string_view host) {
  static std::mutex mutex;
  static GssLibrary* loaded = nullptr;
  // The library's context of Kerberos is used by one thread at a time.
  const std::lock_guard lock(mutex);
  if (loaded == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(const GssLibrary opened, OpenGss());
    loaded = new GssLibrary(opened);
  }
  const GssLibrary& gss = *loaded;
  std::string service = Cat("HTTP@", host);
  GssBytes text = {service.size(), service.data()};
  GssWord minor = 0;
  GssObject name = nullptr;
  GssWord major = gss.import_name(&minor, &text, &kServiceName, &name);
  if ((major & kErrorBits) != 0) return KerberosError(host, GssReason(gss, major, minor));
  GssObject context = nullptr;
  GssBytes made;
  major = gss.init_context(&minor, nullptr, &context, name, &kSpnego, 0, 0, nullptr, nullptr, nullptr, &made, nullptr,
                           nullptr);
  absl::StatusOr<std::string> token = std::string();
  if ((major & kErrorBits) != 0 || made.length == 0) {
    token = KerberosError(host, GssReason(gss, major, minor));
  } else {
    token = absl::Base64Escape(absl::string_view(static_cast<const char*>(made.value), made.length));
  }
  gss.release_bytes(&minor, &made);
  if (context != nullptr) gss.delete_context(&minor, &context, nullptr);
  gss.release_name(&minor, &name);
  return token;
}

}  // namespace headrace::hdfs
