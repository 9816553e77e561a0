#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/fork_watch.h"
#include "core/text.h"
#include "io/files/http/http_client.h"

namespace headrace::http {
namespace {

constexpr const char* kLibraryVariable = "HEADRACE_FAR_LIBRARY";
constexpr std::string_view kFarLibrary = "libheadrace_far.so";

struct TransportSlot {
  std::mutex mutex;
  Transport* given = nullptr;   // by a test
  Transport* loaded = nullptr;  // lives as long as the process
};

TransportSlot& Slot() {
  static auto* const slot = new TransportSlot;
  return *slot;
}

// Of the module or program that this function is in.
std::string OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string_view file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(file.substr(0, slash));
}

// Beside the module; the C library lies two folders below it in the package.
std::vector<std::string> LibraryPlaces() {
  const char* const named = getenv(kLibraryVariable);
  if (named != nullptr && *named != '\0') return {named};
  const std::string folder = OwnFolder();
  return {Cat(folder, "/", kFarLibrary), Cat(folder, "/../../", kFarLibrary)};
}

absl::StatusOr<std::string> FindLibrary() {
  const std::vector<std::string> places = LibraryPlaces();
  struct stat stat;
  for (const std::string& place : places) {
    if (::stat(place.c_str(), &stat) == 0) return place;
  }
  return UnsupportedError("files behind a network need ", kFarLibrary,
                          ", which is not built here: run ./quickstart --far, or install the wheel, which has it; ",
                          "it was looked for at ", places.front());
}

absl::StatusOr<Transport*> LoadTransport() {
  HEADRACE_ASSIGN_OR_RETURN(const std::string place, FindLibrary());
  // Never closed: its thread runs as long as the process.
  void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return UnsupportedError(kFarLibrary, " cannot be loaded; run ./quickstart --far, which builds it anew: ",
                            reason == nullptr ? place.c_str() : reason);
  }
  const auto make = reinterpret_cast<MakeTransport>(dlsym(library, kMakeTransport));
  if (make == nullptr) {
    return UnsupportedError(place, " is not a library of Headrace for files behind a network; run ./quickstart --far");
  }
  WatchForks();
  Transport* const transport = make(kTransportVersion);
  if (transport != nullptr) return transport;
  return UnsupportedError(place, " is of another version of Headrace, or this process may have no more threads or ",
                          "descriptors; run ./quickstart --far, which builds it anew");
}

}  // namespace

absl::StatusOr<Transport*> LoadedTransport() {
  if (LostInFork()) {
    return UnsupportedError(
        "this process was forked after files behind a network or Headrace's threads had been used, which a fork does "
        "not copy: start workers with the 'spawn' method, or fork before the first iteration");
  }
  TransportSlot& slot = Slot();
  const std::lock_guard<std::mutex> lock(slot.mutex);
  if (slot.given != nullptr) return slot.given;
  if (slot.loaded == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(slot.loaded, LoadTransport());
  }
  return slot.loaded;
}

void SetTransportForTest(Transport* transport) {
  TransportSlot& slot = Slot();
  const std::lock_guard<std::mutex> lock(slot.mutex);
  slot.given = transport;
}

}  // namespace headrace::http
