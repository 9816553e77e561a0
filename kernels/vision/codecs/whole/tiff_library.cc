#include "kernels/vision/codecs/whole/tiff_library.h"

#include <dlfcn.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

// Of a wheel, which holds a copy of this name (tools/wheel/bundle.py); of the system.
constexpr const char* kNames[] = {"libtiff-headrace.so.6", "libtiff.so.6"};

absl::Status Fill(void* library, TiffLibrary& functions) {
  std::string_view missing;
  const auto fill = [&](const char* name, auto& function) {
    void* const found = dlsym(library, name);
    if (found == nullptr) missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
  };
#define HEADRACE_USE(name) fill("TIFF" #name, functions.name);
  HEADRACE_TIFF_FUNCTIONS(HEADRACE_USE)
#undef HEADRACE_USE
  if (missing.empty()) return absl::OkStatus();
  return BeyondRow(UnsupportedError("TIFFs are decoded by libtiff 4.5 or newer, and the one installed here has no ",
                                    missing, ": install the package libtiff6 of Debian 12"));
}

}  // namespace

absl::StatusOr<TiffLibrary> TiffLibrary::Open(absl::Span<const char* const> names) {
  std::string reasons;
  for (const char* const name : names) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      TiffLibrary functions;
      HEADRACE_RETURN_IF_ERROR(Fill(library, functions));
      return functions;
    }
    const char* const reason = dlerror();
    Append(reasons, reasons.empty() ? "" : "; ", reason == nullptr ? name : reason);
  }
  if (reasons.find("memory") != std::string::npos) return ResourceError("libtiff cannot be loaded: ", reasons);
  return BeyondRow(UnsupportedError(
      "TIFFs are decoded by libtiff, which is not installed here: install the package libtiff6 (", reasons, ")"));
}

absl::StatusOr<const TiffLibrary*> TiffLibrary::Load() {
  // Without a lock, which a fork might copy while it is held: of several threads that load it, one keeps its table.
  static std::atomic<const TiffLibrary*> loaded{nullptr};
  if (const TiffLibrary* const found = loaded.load(std::memory_order_acquire)) return found;
  HEADRACE_ASSIGN_OR_RETURN(const TiffLibrary opened, Open(kNames));
  auto made = std::make_unique<const TiffLibrary>(opened);
  const TiffLibrary* before = nullptr;
  if (!loaded.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel)) return before;
  return made.release();
}

}  // namespace headrace
