#include "engine/device/nvjpeg/nv_jpeg_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

// The first to interpolate chromas as libjpeg does.
constexpr int kLeastMajor = 12;
constexpr int kLeastMinor = 1;

// A version of the library, newest first, and where PyPI's package puts it.
struct Release {
  int cuda;  // the least of the driver
  std::string_view file;
  std::string_view folder;
  std::string_view package;
};
constexpr Release kReleases[] = {
    {13000, "libnvjpeg.so.13", "nvidia/cu13/lib", "nvidia-nvjpeg"},
    {12000, "libnvjpeg.so.12", "nvidia/nvjpeg/lib", "nvidia-nvjpeg-cu12"},
};

struct Loading {
  std::mutex mutex;
  std::vector<std::string> folders;       // under mutex
  const NvJpegLibrary* loaded = nullptr;  // under mutex
};

Loading& TheLoading() {
  static auto* const loading = new Loading;
  return *loading;
}

// Never closed, as calls may come as late as the process ends. Null, with `reason`, if it cannot be loaded.
void* Open(const std::string& name, std::string& reason) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* const words = library == nullptr ? dlerror() : nullptr;
  if (words != nullptr) reason = words;
  return library;
}

void* OpenAnywhere(const Release& release, const std::vector<std::string>& folders, std::string& reason) {
  void* library = Open(std::string(release.file), reason);
  for (size_t i = 0; i < folders.size() && library == nullptr; ++i) {
    const std::string path = Cat(folders[i], "/", release.folder, "/", release.file);
    if (access(path.c_str(), F_OK) == 0) library = Open(path, reason);
  }
  return library;
}

absl::StatusOr<void*> Find(int driver_version, const std::vector<std::string>& folders) {
  const Release* newest = nullptr;
  std::string reasons;
  for (const Release& release : kReleases) {
    if (driver_version < release.cuda) continue;
    if (newest == nullptr) newest = &release;
    std::string reason;
    if (void* const library = OpenAnywhere(release, folders, reason)) return library;
    Append(reasons, reasons.empty() ? "" : "; ", reason);
  }
  return UnsupportedError("NVIDIA's nvJPEG is not installed here: pip install ", newest->package, " (", reasons, ")");
}

absl::Status Fill(void* library, NvJpegLibrary& functions) {
  std::string_view missing;
  const auto fill = [&](const char* name, auto& function) {
    void* const found = dlsym(library, name);
    if (found == nullptr) missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
  };
#define HEADRACE_USE(name, parameters) fill("nvjpeg" #name, functions.name);
  HEADRACE_NVJPEG_FUNCTIONS(HEADRACE_USE)
#undef HEADRACE_USE
  if (missing.empty()) return absl::OkStatus();
  return UnsupportedError("NVIDIA's nvJPEG has no ", missing, ": install a newer one");
}

absl::Status CheckVersion(const NvJpegLibrary& functions) {
  int major = 0;
  int minor = 0;
  HEADRACE_RETURN_IF_ERROR(CheckNvJpeg(functions.GetProperty(kNvJpegMajorVersion, &major), "nvjpegGetProperty"));
  HEADRACE_RETURN_IF_ERROR(CheckNvJpeg(functions.GetProperty(kNvJpegMinorVersion, &minor), "nvjpegGetProperty"));
  if (std::pair(major, minor) >= std::pair(kLeastMajor, kLeastMinor)) return absl::OkStatus();
  return UnsupportedError("NVIDIA's nvJPEG is of version ", major, ".", minor, ", and this needs ", kLeastMajor, ".",
                          kLeastMinor, " or newer: install a newer one");
}

std::string_view NameOf(NvJpegStatus status) {
  constexpr std::string_view kNames[] = {"SUCCESS",
                                         "NOT_INITIALIZED",
                                         "INVALID_PARAMETER",
                                         "BAD_JPEG",
                                         "JPEG_NOT_SUPPORTED",
                                         "ALLOCATOR_FAILURE",
                                         "EXECUTION_FAILED",
                                         "ARCH_MISMATCH",
                                         "INTERNAL_ERROR",
                                         "IMPLEMENTATION_NOT_SUPPORTED",
                                         "INCOMPLETE_BITSTREAM"};
  const auto number = static_cast<size_t>(status);
  return number < std::size(kNames) ? kNames[number] : "an unknown status";
}

}  // namespace

absl::StatusOr<const NvJpegLibrary*> NvJpegLibrary::Load(const CudaDriver& driver) {
  Loading& loading = TheLoading();
  const std::lock_guard<std::mutex> lock(loading.mutex);
  if (loading.loaded != nullptr) return loading.loaded;
  int version = 0;
  HEADRACE_RETURN_IF_ERROR(driver.Check(driver.DriverGetVersion(&version), "cuDriverGetVersion"));
  HEADRACE_ASSIGN_OR_RETURN(void* const library, Find(version, loading.folders));
  auto functions = std::make_unique<NvJpegLibrary>();
  HEADRACE_RETURN_IF_ERROR(Fill(library, *functions));
  HEADRACE_RETURN_IF_ERROR(CheckVersion(*functions));
  loading.loaded = functions.release();
  return loading.loaded;
}

void SetPackageFolders(std::vector<std::string> folders) {
  Loading& loading = TheLoading();
  const std::lock_guard<std::mutex> lock(loading.mutex);
  loading.folders = std::move(folders);
}

absl::Status CheckNvJpeg(NvJpegStatus status, std::string_view call) {
  if (status == kNvJpegSuccess) return absl::OkStatus();
  const std::string_view advice =
      status == kNvJpegAllocatorFailure ? ": the GPU or the host has no memory left: let fewer workers decode" : "";
  return ResourceError(call, " failed (NVJPEG_STATUS_", NameOf(status), ")", advice);
}

}  // namespace headrace
