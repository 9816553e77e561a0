#include "engine/device/testing/test_nv_jpeg.h"

#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// clang-format off
#include <jpeglib.h>  // needs size_t and FILE from above
// clang-format on

#include "engine/device/nvjpeg/nv_jpeg_functions.h"

namespace headrace {

struct NvJpegHandle {};
struct NvJpegDecoder {
  NvJpegHandle* handle;
};
struct NvJpegDeviceBuffer {
  CUdeviceptr memory = 0;
  size_t room = 0;
};
struct NvJpegPinnedBuffer {
  void* memory = nullptr;
  size_t room = 0;
};
struct NvJpegStream {
  std::vector<unsigned char> copy;  // for the check that the caller keeps the bytes
  const unsigned char* data = nullptr;
  size_t length = 0;
  int components = 0;
};
struct NvJpegParams {
  NvJpegOutput output = kNvJpegLuma;
};
struct NvJpegState {
  std::atomic<bool> busy{false};
  NvJpegDeviceBuffer* device = nullptr;
  NvJpegPinnedBuffer* pinned = nullptr;
  size_t width = 0;
  size_t height = 0;
  size_t channels = 0;
  bool failed = false;
  bool read = false;         // on the host
  bool transferred = false;  // to the device
};

namespace {

struct TestNvJpegDriver {
  PFN_cuMemGetInfo_v3020 MemGetInfo;
  PFN_cuMemAlloc_v3020 MemAlloc;
  PFN_cuMemFree_v3020 MemFree;
  PFN_cuMemHostAlloc_v2020 MemHostAlloc;
  PFN_cuMemFreeHost_v2000 MemFreeHost;
  PFN_cuMemcpyHtoDAsync_v3020 MemcpyHtoDAsync;
};

const TestNvJpegDriver& TheDriver() {
  static const TestNvJpegDriver driver = [] {
    const auto find = reinterpret_cast<PFN_cuGetProcAddress_v12000>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cuGetProcAddress_v2"));
    TestNvJpegDriver made = {};
    const auto fill = [&](const char* name, auto& function) {
      void* found = nullptr;
      find(name, &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
      function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
    };
    fill("cuMemGetInfo", made.MemGetInfo);
    fill("cuMemAlloc", made.MemAlloc);
    fill("cuMemFree", made.MemFree);
    fill("cuMemHostAlloc", made.MemHostAlloc);
    fill("cuMemFreeHost", made.MemFreeHost);
    fill("cuMemcpyHtoDAsync", made.MemcpyHtoDAsync);
    return made;
  }();
  return driver;
}

class Library {
 public:
  void SetUp(const TestNvJpegOptions& given) {
    const std::lock_guard<std::mutex> lock(mutex_);
    given_ = given;
    calls_ = images_ = 0;
    findings_.clear();
    alive_.clear();
  }

  // Counts a call; the status with which it must fail.
  NvJpegStatus Enter() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool fails = calls_++ == given_.fail_at;
    return fails ? static_cast<NvJpegStatus>(given_.fail_status) : kNvJpegSuccess;
  }
  void Find(const std::string& finding) {
    const std::lock_guard<std::mutex> lock(mutex_);
    findings_.insert(finding);
  }
  void Count(const char* what, int change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    alive_[what] += change;
  }
  void CountImage() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++images_;
  }

  std::string Findings() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string text;
    for (const std::string& finding : findings_) text += finding + "\n";
    for (const auto& [what, count] : alive_) {
      if (count != 0) text += std::to_string(count) + " " + what + " were not given back\n";
    }
    return text;
  }
  int64_t calls() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }
  int64_t images() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return images_;
  }
  TestNvJpegOptions given() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return given_;
  }

 private:
  std::mutex mutex_;
  TestNvJpegOptions given_ = {.major = 13, .minor = 3, .fail_at = -1, .fail_status = 0};
  int64_t calls_ = 0;
  int64_t images_ = 0;
  std::set<std::string> findings_;
  std::map<std::string, int64_t> alive_;
};

Library& ItTestNvJpeg() {
  static auto* const library = new Library;
  return *library;
}

#define ENTER() \
  if (const NvJpegStatus fails = ItTestNvJpeg().Enter(); fails != kNvJpegSuccess) return fails

// Errors end the work; so do warnings, which the real library reports as a bad JPEG.
struct Session {
  jpeg_decompress_struct libjpeg;
  jpeg_error_mgr errors;
  std::jmp_buf jump;
};

void Stop(j_common_ptr libjpeg) { std::longjmp(static_cast<Session*>(libjpeg->client_data)->jump, 1); }

void Begin(Session& session, const unsigned char* data, size_t length) {
  session.libjpeg.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = Stop;
  session.errors.emit_message = [](j_common_ptr libjpeg, int level) {
    if (level < 0) Stop(libjpeg);
  };
  session.libjpeg.client_data = &session;
  jpeg_create_decompress(&session.libjpeg);
  session.libjpeg.client_data = &session;
  jpeg_mem_src(&session.libjpeg, data, length);
}

// Whether the header is good.
bool ReadHeader(Session& session, const unsigned char* data, size_t length, NvJpegStream& stream) {
  if (setjmp(session.jump) != 0) return false;
  Begin(session, data, length);
  jpeg_read_header(&session.libjpeg, TRUE);
  stream.components = session.libjpeg.num_components;
  const bool known = session.libjpeg.jpeg_color_space == JCS_YCbCr || session.libjpeg.jpeg_color_space == JCS_GRAYSCALE;
  if (session.libjpeg.arith_code || !known) ItTestNvJpeg().Find("a JPEG of a kind that it does not decode");
  return true;
}

bool ReadPixels(Session& session, const NvJpegStream& stream, NvJpegOutput output, NvJpegState& state,
                std::vector<unsigned char>& pixels) {
  if (setjmp(session.jump) != 0) return false;
  Begin(session, stream.data, stream.length);
  jpeg_read_header(&session.libjpeg, TRUE);
  session.libjpeg.out_color_space = output == kNvJpegLuma ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&session.libjpeg);
  state.width = session.libjpeg.output_width;
  state.height = session.libjpeg.output_height;
  state.channels = static_cast<size_t>(session.libjpeg.output_components);
  pixels.resize(state.width * state.height * state.channels);
  while (session.libjpeg.output_scanline < session.libjpeg.output_height) {
    JSAMPROW row = pixels.data() + session.libjpeg.output_scanline * state.width * state.channels;
    jpeg_read_scanlines(&session.libjpeg, &row, 1);
  }
  jpeg_finish_decompress(&session.libjpeg);
  return true;
}

NvJpegStatus MakeRoom(NvJpegPinnedBuffer& buffer, size_t bytes) {
  if (buffer.room >= bytes) return kNvJpegSuccess;
  if (buffer.room > 0) TheDriver().MemFreeHost(buffer.memory);
  buffer.room = 0;
  if (TheDriver().MemHostAlloc(&buffer.memory, bytes, 0) != CUDA_SUCCESS) return kNvJpegAllocatorFailure;
  buffer.room = bytes;
  return kNvJpegSuccess;
}

NvJpegStatus MakeRoom(NvJpegDeviceBuffer& buffer, size_t bytes) {
  if (buffer.room >= bytes) return kNvJpegSuccess;
  if (buffer.room > 0) TheDriver().MemFree(buffer.memory);
  buffer.room = 0;
  if (TheDriver().MemAlloc(&buffer.memory, bytes) != CUDA_SUCCESS) return kNvJpegAllocatorFailure;
  buffer.room = bytes;
  return kNvJpegSuccess;
}

template <typename Object>
NvJpegStatus Create(const char* what, Object** object, Object* made) {
  ItTestNvJpeg().Count(what, 1);
  *object = made;
  return kNvJpegSuccess;
}

// Done also where it fails.
template <typename Object>
NvJpegStatus Destroy(const char* what, Object* object) {
  ItTestNvJpeg().Count(what, -1);
  delete object;
  return ItTestNvJpeg().Enter();
}

// A phase of decoding with a state, which one thread at a time may use, and nobody after a failure.
template <typename Phase>
NvJpegStatus Use(NvJpegState& state, const Phase& phase) {
  const bool alone = !state.busy.exchange(true);
  if (!alone) ItTestNvJpeg().Find("a state that two threads use");
  if (state.failed) ItTestNvJpeg().Find("a state that is used after it failed");
  NvJpegStatus status = ItTestNvJpeg().Enter();
  if (status == kNvJpegSuccess) status = phase();
  state.failed = status != kNvJpegSuccess;
  if (alone) state.busy = false;
  return status;
}

NvJpegStatus ReadOnHost(NvJpegState& state, const NvJpegParams& params, const NvJpegStream& stream) {
  state.read = state.transferred = false;
  if ((params.output == kNvJpegLuma) != (stream.components == 1))
    ItTestNvJpeg().Find("colours of a grey JPEG, or its reverse");
  Session session = {};
  std::vector<unsigned char> pixels;
  const bool good = ReadPixels(session, stream, params.output, state, pixels);
  jpeg_destroy_decompress(&session.libjpeg);
  if (!good) return kNvJpegBadJpeg;
  if (const NvJpegStatus status = MakeRoom(*state.pinned, pixels.size()); status != kNvJpegSuccess) return status;
  for (size_t i = 0; i < pixels.size(); ++i) static_cast<unsigned char*>(state.pinned->memory)[i] = pixels[i] ^ 1;
  state.read = true;
  return kNvJpegSuccess;
}

NvJpegStatus Transfer(NvJpegState& state, const NvJpegStream& stream, CUstream queue) {
  if (!state.read) ItTestNvJpeg().Find("a transfer of what was not read");
  if (std::memcmp(stream.data, stream.copy.data(), stream.length) != 0) ItTestNvJpeg().Find("a file that changed");
  const size_t bytes = state.width * state.height * state.channels;
  if (const NvJpegStatus status = MakeRoom(*state.device, bytes); status != kNvJpegSuccess) return status;
  if (TheDriver().MemcpyHtoDAsync(state.device->memory, state.pinned->memory, bytes, queue) != CUDA_SUCCESS) {
    return kNvJpegExecutionFailed;
  }
  state.transferred = true;
  return kNvJpegSuccess;
}

NvJpegStatus DecodeOnDevice(const NvJpegState& state, const NvJpegImage& image, CUstream queue) {
  if (!state.transferred) ItTestNvJpeg().Find("decoding what was not transferred");
  const size_t row = state.width * state.channels;
  if (image.pitch[0] != row) ItTestNvJpeg().Find("another pitch");
  if (TheDriver().MemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(image.channel[0]), state.pinned->memory,
                                  row * state.height, queue) != CUDA_SUCCESS) {
    return kNvJpegExecutionFailed;
  }
  ItTestNvJpeg().CountImage();
  return kNvJpegSuccess;
}

}  // namespace

extern "C" {

NvJpegStatus nvjpegGetProperty(NvJpegProperty property, int* value) {
  ENTER();
  *value = property == kNvJpegMajorVersion ? ItTestNvJpeg().given().major : ItTestNvJpeg().given().minor;
  return kNvJpegSuccess;
}

NvJpegStatus nvjpegCreateEx(NvJpegBackend, void*, void*, unsigned flags, NvJpegHandle** handle) {
  ENTER();
  if (flags != (kNvJpegStrict | kNvJpegInterpolatedUpsampling)) ItTestNvJpeg().Find("other flags");
  size_t free = 0;
  size_t all = 0;
  // The runtime inside it makes the current context its own.
  if (TheDriver().MemGetInfo(&free, &all) != CUDA_SUCCESS) return kNvJpegExecutionFailed;
  return Create("handles", handle, new NvJpegHandle);
}
NvJpegStatus nvjpegDestroy(NvJpegHandle* handle) { return Destroy("handles", handle); }

NvJpegStatus nvjpegDecoderCreate(NvJpegHandle* handle, NvJpegBackend backend, NvJpegDecoder** decoder) {
  ENTER();
  if (backend != kNvJpegHybrid) ItTestNvJpeg().Find("a decoder of another kind");
  return Create("decoders", decoder, new NvJpegDecoder{handle});
}
NvJpegStatus nvjpegDecoderDestroy(NvJpegDecoder* decoder) { return Destroy("decoders", decoder); }

NvJpegStatus nvjpegDecoderStateCreate(NvJpegHandle*, NvJpegDecoder*, NvJpegState** state) {
  ENTER();
  return Create("states", state, new NvJpegState);
}
NvJpegStatus nvjpegJpegStateDestroy(NvJpegState* state) { return Destroy("states", state); }

NvJpegStatus nvjpegBufferDeviceCreate(NvJpegHandle*, void*, NvJpegDeviceBuffer** buffer) {
  ENTER();
  return Create("device buffers", buffer, new NvJpegDeviceBuffer);
}
NvJpegStatus nvjpegBufferDeviceDestroy(NvJpegDeviceBuffer* buffer) {
  if (buffer->room > 0) TheDriver().MemFree(buffer->memory);
  return Destroy("device buffers", buffer);
}

NvJpegStatus nvjpegBufferPinnedCreate(NvJpegHandle*, void*, NvJpegPinnedBuffer** buffer) {
  ENTER();
  return Create("pinned buffers", buffer, new NvJpegPinnedBuffer);
}
NvJpegStatus nvjpegBufferPinnedDestroy(NvJpegPinnedBuffer* buffer) {
  if (buffer->room > 0) TheDriver().MemFreeHost(buffer->memory);
  return Destroy("pinned buffers", buffer);
}

NvJpegStatus nvjpegStateAttachDeviceBuffer(NvJpegState* state, NvJpegDeviceBuffer* buffer) {
  ENTER();
  state->device = buffer;
  return kNvJpegSuccess;
}
NvJpegStatus nvjpegStateAttachPinnedBuffer(NvJpegState* state, NvJpegPinnedBuffer* buffer) {
  ENTER();
  state->pinned = buffer;
  return kNvJpegSuccess;
}

NvJpegStatus nvjpegJpegStreamCreate(NvJpegHandle*, NvJpegStream** stream) {
  ENTER();
  return Create("streams", stream, new NvJpegStream);
}
NvJpegStatus nvjpegJpegStreamDestroy(NvJpegStream* stream) { return Destroy("streams", stream); }

NvJpegStatus nvjpegJpegStreamParse(NvJpegHandle*, const unsigned char* data, size_t length, int, int,
                                   NvJpegStream* stream) {
  ENTER();
  Session session = {};
  const bool good = ReadHeader(session, data, length, *stream);
  jpeg_destroy_decompress(&session.libjpeg);
  if (!good) return kNvJpegBadJpeg;
  if (length < 2 || data[length - 2] != 0xFF || data[length - 1] != 0xD9)
    ItTestNvJpeg().Find("bytes after the end marker");
  stream->data = data;
  stream->length = length;
  stream->copy.assign(data, data + length);
  return kNvJpegSuccess;
}

NvJpegStatus nvjpegDecodeParamsCreate(NvJpegHandle*, NvJpegParams** params) {
  ENTER();
  return Create("parameters", params, new NvJpegParams);
}
NvJpegStatus nvjpegDecodeParamsDestroy(NvJpegParams* params) { return Destroy("parameters", params); }

NvJpegStatus nvjpegDecodeParamsSetOutputFormat(NvJpegParams* params, NvJpegOutput output) {
  ENTER();
  params->output = output;
  return kNvJpegSuccess;
}

NvJpegStatus nvjpegDecodeJpegHost(NvJpegHandle*, NvJpegDecoder*, NvJpegState* state, NvJpegParams* params,
                                  NvJpegStream* stream) {
  return Use(*state, [&] { return ReadOnHost(*state, *params, *stream); });
}

NvJpegStatus nvjpegDecodeJpegTransferToDevice(NvJpegHandle*, NvJpegDecoder*, NvJpegState* state, NvJpegStream* stream,
                                              CUstream queue) {
  return Use(*state, [&] { return Transfer(*state, *stream, queue); });
}

NvJpegStatus nvjpegDecodeJpegDevice(NvJpegHandle*, NvJpegDecoder*, NvJpegState* state, NvJpegImage* image,
                                    CUstream queue) {
  return Use(*state, [&] { return DecodeOnDevice(*state, *image, queue); });
}

void TestNvJpegSetUp(const struct TestNvJpegOptions* given) { ItTestNvJpeg().SetUp(*given); }
int64_t TestNvJpegCalls() { return ItTestNvJpeg().calls(); }
int64_t TestNvJpegImages() { return ItTestNvJpeg().images(); }

uint64_t TestNvJpegFindings(char* text, uint64_t room) {
  const std::string findings = ItTestNvJpeg().Findings();
  if (room > 0) std::snprintf(text, room, "%s", findings.c_str());
  return findings.size();
}

}  // extern "C"

}  // namespace headrace
