#include "engine/device/testing/test_driver.h"

#include <cudaTypedefs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/device/byte_mapping.h"
#include "engine/device/byte_passes.h"

namespace {

constexpr uint64_t kPoison = 0xDB;
constexpr uint64_t kPage = 4096;

// From stream to the number of its work that comes before.
using Clock = std::map<int, uint64_t>;

void Join(Clock& clock, const Clock& other) {
  for (const auto& [stream, number] : other) clock[stream] = std::max(clock[stream], number);
}

struct Memory {
  uint64_t bytes = 0;
  bool on_device = false;
  bool freed = false;
  int device = 0;
  // The last accesses, by stream: what comes next must be ordered after them.
  Clock writes, reads;
};

struct Work {
  int stream = 0;
  uint64_t number = 0;
  Clock before;  // all that comes before it, and itself
  std::function<void()> run;
  std::vector<uintptr_t> memories;  // that it uses
};

struct Stream {
  int id = 0;
  int device = 0;
  bool blocking = false;
  bool captures = false;
  bool broken = false;  // its capture
  uint64_t queued = 0;
  Clock clock;
  std::deque<Work> work;
};

struct Event {
  bool recorded = false;
  Clock clock;
  int device = 0;
};

struct Context {
  int device = 0;
  int retained = 0;
  Stream legacy;
  Clock ended;  // of streams that were destroyed
};

uint64_t Scramble(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

uint64_t HashOf(const void* data, uint64_t bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint64_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001B3;
  return hash;
}

class TestDriverDriver {
 public:
  std::mutex mutex;

  void SetUp(const struct TestDriverOptions& given) {
    given_ = given;
    random_ = Scramble(given.seed);
    for (auto& [address, memory] : memories_) std::free(reinterpret_cast<void*>(address));
    memories_.clear();
    streams_.clear();
    events_.clear();
    contexts_.clear();
    for (int i = 0; i < given.devices; ++i) {
      auto& context = contexts_.emplace_back(std::make_unique<Context>());
      context->device = i;
      context->legacy.id = next_id_++;
      context->legacy.device = i;
      context->legacy.blocking = true;
    }
    host_ = {};
    findings_.clear();
    modules_ = 0;
    calls_ = 0;
    broken_ = CUDA_SUCCESS;
    // Of this thread.
    delete std::exchange(current_, nullptr);
    mode_ = CU_STREAM_CAPTURE_MODE_GLOBAL;
  }

  void Find(const std::string& finding) { findings_.insert(finding); }

  // Of the process that begins: one that is forked from it cannot use the driver.
  CUresult Begin() {
    if (begun_by_ != 0 && begun_by_ != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
    if (given_.devices == 0) return CUDA_ERROR_NO_DEVICE;
    begun_by_ = getpid();
    return CUDA_SUCCESS;
  }

  bool Begun() {
    const std::lock_guard<std::mutex> lock(mutex);
    return begun_by_ == getpid();
  }

  // Counts a call; the code with which it must fail.
  CUresult Enter() {
    if (begun_by_ != getpid()) {
      Find("a call before cuInit");
      return CUDA_ERROR_NOT_INITIALIZED;
    }
    return Fails();
  }
  CUresult Fails() {
    const int64_t call = calls_++;
    if (broken_ != CUDA_SUCCESS) return broken_;
    if (call == given_.fail_at) {
      const auto code = static_cast<CUresult>(given_.fail_code);
      if (given_.sticky != 0) broken_ = code;
      return code;
    }
    if (given_.order == kRunRandom) RunSome();
    return CUDA_SUCCESS;
  }

  Context* Current() { return current_ == nullptr || current_->empty() ? nullptr : current_->back(); }

  Stream* Find(CUstream handle) {
    Context* const context = Current();
    if (handle == CU_STREAM_LEGACY || handle == nullptr) return context == nullptr ? nullptr : &context->legacy;
    const auto found = streams_.find(handle);
    return found == streams_.end() ? nullptr : found->second.get();
  }

  Memory* MemoryAt(uintptr_t address, uint64_t bytes, uintptr_t* base = nullptr) {
    auto after = memories_.upper_bound(address);
    if (after == memories_.begin()) return nullptr;
    --after;
    if (address + bytes > after->first + after->second.bytes) return nullptr;
    if (base != nullptr) *base = after->first;
    return &after->second;
  }

  // Work that comes before what is queued next on the stream.
  Clock Before(Stream& stream) {
    Clock before = stream.clock;
    Join(before, host_);
    // The legacy stream and the streams that are not NON_BLOCKING wait for each other.
    if (!stream.blocking) return before;
    Context& context = *contexts_[static_cast<size_t>(stream.device)];
    if (&stream != &context.legacy) {
      Join(before, context.legacy.clock);
      return before;
    }
    for (auto& [handle, other] : streams_) {
      if (other->blocking && other->device == stream.device) Join(before, other->clock);
    }
    return before;
  }

  // Of the streams that the legacy stream waits for, whether one is captured.
  bool LegacyCaptured(int device) {
    return std::any_of(streams_.begin(), streams_.end(), [device](const auto& each) {
      return each.second->device == device && each.second->blocking && each.second->captures;
    });
  }
  bool IsLegacy(const Stream& stream) { return &stream == &contexts_[static_cast<size_t>(stream.device)]->legacy; }
  // Breaks the captures of the device; whether there are any.
  bool BreakCaptures(int device) {
    bool any = false;
    for (auto& [handle, stream] : streams_) {
      if (stream->device != device || !stream->captures) continue;
      stream->broken = any = true;
    }
    return any;
  }

  void Queue(Stream& stream, std::vector<std::pair<uintptr_t, bool>> uses, std::function<void()> run) {
    if (stream.captures) Find("work was queued on a stream under capture");
    if (IsLegacy(stream) && LegacyCaptured(stream.device)) {
      Find("work was queued on the legacy stream, which waits for a stream under capture");
    }
    Work work;
    work.stream = stream.id;
    work.before = Before(stream);
    work.number = work.before[stream.id] = ++stream.queued;
    for (const auto& [base, writes] : uses) {
      Memory& memory = memories_.at(base);
      if (memory.freed) Find("freed memory is used");
      CheckOrdered(memory, writes, work.before);
      (writes ? memory.writes : memory.reads)[stream.id] = work.number;
      work.memories.push_back(base);
    }
    work.run = std::move(run);
    stream.clock = work.before;
    stream.work.push_back(std::move(work));
    if (given_.order == kRunEarly) Drain(stream.clock);
  }

  void CheckOrdered(const Memory& memory, bool writes, const Clock& before) {
    const auto unordered = [&](const Clock& accesses) {
      return std::any_of(accesses.begin(), accesses.end(), [&](const auto& access) {
        const auto known = before.find(access.first);
        return known == before.end() || known->second < access.second;
      });
    };
    if (unordered(memory.writes)) {
      Find(writes ? "memory is written while other work may write it" : "memory is read while other work may write it");
    }
    if (writes && unordered(memory.reads)) Find("memory is written while other work may read it");
  }

  // Runs all work up to the clock.
  void Drain(const Clock& clock) {
    for (const auto& [id, number] : clock) {
      Stream* const stream = ById(id);
      while (stream != nullptr && !stream->work.empty() && stream->work.front().number <= number) RunFirst(*stream);
    }
  }

  void RunFirst(Stream& stream) {
    Work work = std::move(stream.work.front());
    stream.work.pop_front();
    Clock others = work.before;
    others.erase(stream.id);
    Drain(others);
    if (work.run) work.run();
  }

  void RunSome() {
    std::vector<Stream*> busy;
    for (auto& context : contexts_) {
      if (!context->legacy.work.empty()) busy.push_back(&context->legacy);
    }
    for (auto& [handle, stream] : streams_) {
      if (!stream->work.empty()) busy.push_back(stream.get());
    }
    while (!busy.empty() && Draw(3) == 0) {
      Stream& stream = *busy[Draw(busy.size())];
      if (stream.work.empty()) break;
      RunFirst(stream);
    }
  }

  // The host has waited for it.
  void Synchronize(const Clock& clock) {
    Drain(clock);
    Join(host_, clock);
  }
  void SynchronizeDevice(int device) {
    Clock all = contexts_[static_cast<size_t>(device)]->legacy.clock;
    Join(all, contexts_[static_cast<size_t>(device)]->ended);
    for (auto& [handle, stream] : streams_) {
      if (stream->device == device) Join(all, stream->clock);
    }
    Synchronize(all);
  }

  bool Pending(uintptr_t base) {
    const auto uses = [base](const Stream& stream) {
      return std::any_of(stream.work.begin(), stream.work.end(), [base](const Work& work) {
        return std::find(work.memories.begin(), work.memories.end(), base) != work.memories.end();
      });
    };
    // In the order in which the host knows of it, not in which it happened to run.
    const Memory& memory = memories_.at(base);
    const auto unknown = [this](const Clock& accesses) {
      return std::any_of(accesses.begin(), accesses.end(), [this](const auto& access) {
        const auto known = host_.find(access.first);
        return known == host_.end() || known->second < access.second;
      });
    };
    return unknown(memory.writes) || unknown(memory.reads) ||
           std::any_of(streams_.begin(), streams_.end(), [&](const auto& each) { return uses(*each.second); });
  }

  Stream* ById(int id) {
    for (auto& context : contexts_) {
      if (context->legacy.id == id) return &context->legacy;
    }
    for (auto& [handle, stream] : streams_) {
      if (stream->id == id) return stream.get();
    }
    return nullptr;
  }

  // Freed memory is kept, so that all of it can be counted.
  int64_t Allocations() const {
    return std::count_if(memories_.begin(), memories_.end(), [](const auto& each) { return each.second.on_device; });
  }

  uint64_t Bytes(bool on_device, int device) const {
    uint64_t bytes = 0;
    for (const auto& [address, memory] : memories_) {
      if (!memory.freed && memory.on_device == on_device && (!on_device || memory.device == device))
        bytes += memory.bytes;
    }
    return bytes;
  }

  CUresult Take(uint64_t bytes, bool on_device, int device, uintptr_t& address) {
    const uint64_t most = on_device ? given_.device_bytes : given_.host_bytes;
    if (Bytes(on_device, device) + bytes > most) return CUDA_ERROR_OUT_OF_MEMORY;
    const uint64_t rounded = std::max<uint64_t>(kPage, (bytes + kPage - 1) / kPage * kPage);
    void* const memory = std::aligned_alloc(kPage, rounded);
    std::memset(memory, static_cast<int>(kPoison), rounded);
    address = reinterpret_cast<uintptr_t>(memory);
    memories_[address] = {
        .bytes = bytes, .on_device = on_device, .freed = false, .device = device, .writes = {}, .reads = {}};
    return CUDA_SUCCESS;
  }

  // Freed memory is kept, poisoned, so that its use is found.
  CUresult GiveBack(uintptr_t address, bool on_device) {
    const auto found = memories_.find(address);
    if (found == memories_.end() || found->second.on_device != on_device || found->second.freed) {
      Find("memory is freed that was not taken");
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (Pending(address))
      Find(on_device ? "device memory is freed under pending work"
                     : "page-locked memory is freed under a pending copy");
    found->second.freed = true;
    std::memset(reinterpret_cast<void*>(address), static_cast<int>(kPoison), found->second.bytes);
    return CUDA_SUCCESS;
  }

  // Whether a capture forbids the call on this thread.
  void CheckCapture() {
    const auto captures = [](const auto& each) { return each.second->captures; };
    if (mode_ != CU_STREAM_CAPTURE_MODE_RELAXED && std::any_of(streams_.begin(), streams_.end(), captures)) {
      Find("a call that a capture forbids");
    }
  }

  std::string Findings() {
    std::string text;
    for (const std::string& finding : findings_) text += finding + "\n";
    int device = 0;
    int host = 0;
    for (const auto& [address, memory] : memories_) (memory.on_device ? device : host) += memory.freed ? 0 : 1;
    const auto count = [&text](size_t number, const char* what) {
      if (number > 0) text += std::to_string(number) + " " + what + " were not given back\n";
    };
    count(static_cast<size_t>(device), "pieces of device memory");
    count(static_cast<size_t>(host), "pieces of page-locked memory");
    count(streams_.size(), "streams");
    count(events_.size(), "events");
    count(static_cast<size_t>(std::max(modules_, 0)), "modules of kernels");
    int retained = 0;
    for (const auto& context : contexts_) retained += context->retained;
    count(static_cast<size_t>(retained), "contexts");
    return text;
  }

  uint64_t Draw(uint64_t bound) { return (random_ = Scramble(random_)) % bound; }

  struct TestDriverOptions given_ = {};
  std::map<uintptr_t, Memory> memories_;
  std::map<CUstream, std::unique_ptr<Stream>> streams_;
  std::map<CUevent, std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Context>> contexts_;
  Clock host_;
  std::set<std::string> findings_;
  int modules_ = 0;  // that are loaded
  int64_t calls_ = 0;
  CUresult broken_ = CUDA_SUCCESS;
  pid_t begun_by_ = 0;  // 0: not begun
  int next_id_ = 1;
  uint64_t random_ = 0;
  uintptr_t next_handle_ = 0x1000;
  static thread_local std::vector<Context*>* current_;
  static thread_local CUstreamCaptureMode mode_;
};
thread_local std::vector<Context*>* TestDriverDriver::current_ = nullptr;
thread_local CUstreamCaptureMode TestDriverDriver::mode_ = CU_STREAM_CAPTURE_MODE_GLOBAL;

TestDriverDriver& ItTestDriver() {
  static auto* const driver = [] {
    auto* made = new TestDriverDriver;
    // As a small machine with one device, for those who say nothing.
    made->SetUp({.order = kRunLate,
                 .seed = 0,
                 .devices = 1,
                 .version = 13000,
                 .device_bytes = uint64_t{1} << 30,
                 .host_bytes = uint64_t{1} << 30,
                 .fail_at = -1,
                 .fail_code = 0,
                 .sticky = 0});
    return made;
  }();
  return *driver;
}

#define ENTER()                                     \
  TestDriverDriver& it = ItTestDriver();            \
  const std::lock_guard<std::mutex> lock(it.mutex); \
  if (const CUresult fails = it.Enter(); fails != CUDA_SUCCESS) return fails

#define ENTER_IN_CONTEXT()                       \
  ENTER();                                       \
  Context* const context = it.Current();         \
  if (context == nullptr) {                      \
    it.Find("a call without a current context"); \
    return CUDA_ERROR_INVALID_CONTEXT;           \
  }

CUresult Init(unsigned int) {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  if (const CUresult fails = it.Fails(); fails != CUDA_SUCCESS) return fails;
  return it.Begin();
}

CUresult DriverGetVersion(int* version) {
  ENTER();
  *version = it.given_.version;
  return CUDA_SUCCESS;
}

CUresult GetErrorName(CUresult code, const char** name) {
  static const std::map<CUresult, const char*> names = {
#define NAME(code) {code, #code}
      NAME(CUDA_ERROR_DEVICE_UNAVAILABLE), NAME(CUDA_ERROR_ILLEGAL_ADDRESS), NAME(CUDA_ERROR_LAUNCH_FAILED),
      NAME(CUDA_ERROR_NOT_INITIALIZED),    NAME(CUDA_ERROR_NO_DEVICE),       NAME(CUDA_ERROR_OUT_OF_MEMORY),
#undef NAME
  };
  const auto known = names.find(code);
  *name = known == names.end() ? "CUDA_ERROR_OTHER" : known->second;
  return CUDA_SUCCESS;
}

CUresult GetErrorString(CUresult code, const char** words) {
  *words = code == CUDA_ERROR_OUT_OF_MEMORY     ? "out of memory"
           : code == CUDA_ERROR_NO_DEVICE       ? "no CUDA-capable device is detected"
           : code == CUDA_ERROR_NOT_INITIALIZED ? "initialization error"
                                                : "as the test wants it";
  return CUDA_SUCCESS;
}

// Also asked by who wants to know whether the driver is in use.
CUresult DeviceGet(CUdevice* device, int number) {
  if (!ItTestDriver().Begun()) return CUDA_ERROR_NOT_INITIALIZED;
  ENTER();
  *device = number;
  return number < it.given_.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetCount(int* count) {
  ENTER();
  *count = it.given_.devices;
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  ENTER();
  Context* const context = it.contexts_[static_cast<size_t>(device)].get();
  ++context->retained;
  *handle = reinterpret_cast<CUcontext>(context);
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxRelease(CUdevice device) {
  ENTER();
  --it.contexts_[static_cast<size_t>(device)]->retained;
  return CUDA_SUCCESS;
}

CUresult DevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  ENTER();
  *flags = 0;
  *active = it.contexts_[static_cast<size_t>(device)]->retained > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult CtxPushCurrent(CUcontext handle) {
  ENTER();
  if (TestDriverDriver::current_ == nullptr) TestDriverDriver::current_ = new std::vector<Context*>;
  TestDriverDriver::current_->push_back(reinterpret_cast<Context*>(handle));
  return CUDA_SUCCESS;
}

// Done also where it fails: it may give the error of earlier work.
CUresult CtxPopCurrent(CUcontext* handle) {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  const CUresult fails = it.Enter();
  if (it.Current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *handle = reinterpret_cast<CUcontext>(it.Current());
  TestDriverDriver::current_->pop_back();
  if (TestDriverDriver::current_->empty()) delete std::exchange(TestDriverDriver::current_, nullptr);
  return fails;
}

CUresult CtxSynchronize() {
  ENTER_IN_CONTEXT();
  if (it.BreakCaptures(context->device)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  it.CheckCapture();
  it.SynchronizeDevice(context->device);
  return CUDA_SUCCESS;
}

CUresult ThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  ENTER();
  std::swap(*mode, TestDriverDriver::mode_);
  return CUDA_SUCCESS;
}

CUresult MemGetInfo(size_t* free, size_t* all) {
  ENTER_IN_CONTEXT();
  *all = it.given_.device_bytes;
  *free = *all - it.Bytes(true, context->device);
  return CUDA_SUCCESS;
}

CUresult MemAlloc(CUdeviceptr* memory, size_t bytes) {
  ENTER_IN_CONTEXT();
  it.CheckCapture();
  uintptr_t address = 0;
  const CUresult result = it.Take(bytes, true, context->device, address);
  *memory = address;
  return result;
}

CUresult MemFree(CUdeviceptr memory) {
  ENTER_IN_CONTEXT();
  it.CheckCapture();
  return it.GiveBack(memory, true);
}

CUresult MemHostAlloc(void** memory, size_t bytes, unsigned int) {
  ENTER_IN_CONTEXT();
  it.CheckCapture();
  uintptr_t address = 0;
  const CUresult result = it.Take(bytes, false, context->device, address);
  *memory = reinterpret_cast<void*>(address);
  return result;
}

CUresult MemFreeHost(void* memory) {
  ENTER_IN_CONTEXT();
  it.CheckCapture();
  return it.GiveBack(reinterpret_cast<uintptr_t>(memory), false);
}

CUresult MemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream handle) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  uintptr_t target = 0;
  uintptr_t source = 0;
  if (stream == nullptr || it.MemoryAt(to, bytes, &target) == nullptr) {
    it.Find("a copy to memory that was not taken, or on a stream that there is not");
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Memory* const host = it.MemoryAt(reinterpret_cast<uintptr_t>(from), bytes, &source);
  if (host == nullptr || host->on_device) {
    it.Find("a copy from memory that is not page-locked");
    return CUDA_ERROR_INVALID_VALUE;
  }
  it.Queue(*stream, {{target, true}, {source, false}}, [&it, to, from, bytes, hash = HashOf(from, bytes)] {
    if (HashOf(from, bytes) != hash) it.Find("the source of a pending copy was changed");
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  });
  return CUDA_SUCCESS;
}

CUresult MemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream handle) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  uintptr_t target = 0;
  uintptr_t source = 0;
  const Memory* const device = it.MemoryAt(from, bytes, &source);
  if (stream == nullptr || device == nullptr || !device->on_device) {
    it.Find("a copy from memory that was not taken, or on a stream that there is not");
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Memory* const host = it.MemoryAt(reinterpret_cast<uintptr_t>(to), bytes, &target);
  if (host == nullptr || host->on_device) {
    it.Find("a copy to memory that is not page-locked");
    return CUDA_ERROR_INVALID_VALUE;
  }
  it.Queue(*stream, {{target, true}, {source, false}},
           [to, from, bytes] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
  return CUDA_SUCCESS;
}

CUresult StreamCreateWithPriority(CUstream* handle, unsigned int flags, int) {
  ENTER_IN_CONTEXT();
  auto stream = std::make_unique<Stream>();
  stream->id = it.next_id_++;
  stream->device = context->device;
  stream->blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
  *handle = reinterpret_cast<CUstream>(it.next_handle_ += 16);
  it.streams_[*handle] = std::move(stream);
  return CUDA_SUCCESS;
}

CUresult StreamDestroy(CUstream handle) {
  ENTER_IN_CONTEXT();
  const auto found = it.streams_.find(handle);
  if (found == it.streams_.end()) return CUDA_ERROR_INVALID_HANDLE;
  // Its work goes on, and is done at some time.
  it.Drain(found->second->clock);
  Join(it.contexts_[static_cast<size_t>(found->second->device)]->ended, found->second->clock);
  it.streams_.erase(found);
  return CUDA_SUCCESS;
}

CUresult StreamSynchronize(CUstream handle) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  it.Synchronize(it.Before(*stream));
  return CUDA_SUCCESS;
}

CUresult StreamWaitEvent(CUstream handle, CUevent given, unsigned int) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  const auto event = it.events_.find(given);
  if (stream == nullptr || event == it.events_.end()) {
    it.Find("a wait of a stream or for an event that there is not");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!event->second->recorded) it.Find("a wait for an event that was not recorded");
  Join(stream->clock, event->second->clock);
  it.Queue(*stream, {}, nullptr);
  return CUDA_SUCCESS;
}

CUresult StreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  ENTER_IN_CONTEXT();
  const Stream* const stream = it.Find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (it.IsLegacy(*stream) && it.LegacyCaptured(stream->device)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = stream->captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult StreamGetCtx(CUstream handle, CUcontext* owner) {
  ENTER_IN_CONTEXT();
  const Stream* const stream = it.Find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *owner = reinterpret_cast<CUcontext>(it.contexts_[static_cast<size_t>(stream->device)].get());
  return CUDA_SUCCESS;
}

CUresult EventCreate(CUevent* handle, unsigned int) {
  ENTER_IN_CONTEXT();
  *handle = reinterpret_cast<CUevent>(it.next_handle_ += 16);
  auto event = std::make_unique<Event>();
  event->device = context->device;
  it.events_[*handle] = std::move(event);
  return CUDA_SUCCESS;
}

CUresult EventDestroy(CUevent handle) {
  ENTER_IN_CONTEXT();
  return it.events_.erase(handle) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult EventRecord(CUevent handle, CUstream given) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(given);
  const auto event = it.events_.find(handle);
  if (stream == nullptr || event == it.events_.end() || event->second->device != stream->device) {
    it.Find("an event was recorded on a stream that there is not, or of another device");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  it.Queue(*stream, {}, nullptr);
  event->second->recorded = true;
  event->second->clock = stream->clock;
  return CUDA_SUCCESS;
}

CUresult EventSynchronize(CUevent handle) {
  ENTER_IN_CONTEXT();
  it.CheckCapture();
  const auto event = it.events_.find(handle);
  if (event == it.events_.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (!event->second->recorded) it.Find("a wait for an event that was not recorded");
  it.Synchronize(event->second->clock);
  return CUDA_SUCCESS;
}

// What the kernels of the product do, compiled for the host.
struct HostKernel {
  const char* name;
  void (*run)(const headrace::ByteMapping& mapping);
  uint64_t value_bytes;
};
#define KERNELS(way)                                                                               \
  {"Headrace" #way "16", headrace::MapAll<uint16_t, headrace::way<uint16_t>>, sizeof(uint16_t)}, { \
    "Headrace" #way "32", headrace::MapAll<uint32_t, headrace::way<uint32_t>>, sizeof(uint32_t)    \
  }
const HostKernel kKernels[] = {KERNELS(MapInPlace),    KERNELS(MapFourPixels),  KERNELS(MapMixedFourPixels),
                               KERNELS(MapWords),      KERNELS(MapMixedWords),  KERNELS(MapFours),
                               KERNELS(MapMixedFours), KERNELS(MapResizedFours)};
#undef KERNELS

CUresult ModuleLoadData(CUmodule* module, const void* image) {
  ENTER_IN_CONTEXT();
  // Of a fat binary.
  constexpr uint32_t kMagic = 0xBA55ED50;
  if (std::memcmp(image, &kMagic, sizeof(kMagic)) != 0) return CUDA_ERROR_INVALID_IMAGE;
  ++it.modules_;
  *module = reinterpret_cast<CUmodule>(context);
  return CUDA_SUCCESS;
}

CUresult ModuleUnload(CUmodule) {
  ENTER_IN_CONTEXT();
  --it.modules_;
  return CUDA_SUCCESS;
}

CUresult ModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  ENTER_IN_CONTEXT();
  for (const HostKernel& kernel : kKernels) {
    if (std::string_view(kernel.name) != name) continue;
    *function = reinterpret_cast<CUfunction>(const_cast<HostKernel*>(&kernel));
    return CUDA_SUCCESS;
  }
  it.Find("a kernel that there is not");
  return CUDA_ERROR_NOT_FOUND;
}

// The one argument of a kernel, as `extra` gives it; null: its size is wrong.
const headrace::ByteMapping* ArgumentOf(void** extra) {
  if (extra == nullptr || extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != CU_LAUNCH_PARAM_BUFFER_SIZE ||
      *static_cast<const size_t*>(extra[3]) != sizeof(headrace::ByteMapping)) {
    return nullptr;
  }
  return static_cast<const headrace::ByteMapping*>(extra[1]);
}

CUresult LaunchKernel(CUfunction function, unsigned int blocks, unsigned int, unsigned int, unsigned int block,
                      unsigned int, unsigned int, unsigned int, CUstream handle, void**, void** extra) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  const headrace::ByteMapping* const argument = ArgumentOf(extra);
  if (stream == nullptr || argument == nullptr || blocks == 0 || block == 0 || block > 1024) {
    it.Find("a kernel with a wrong argument or grid, or on a stream that there is not");
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto& kernel = *reinterpret_cast<const HostKernel*>(function);
  const uint64_t values = argument->all_values();
  std::vector<std::pair<uintptr_t, bool>> uses;
  bool on_device = true;
  const auto uses_memory = [&](const void* memory, uint64_t size, bool writes) {
    if (memory == nullptr) return;
    uintptr_t base = 0;
    const Memory* const found = it.MemoryAt(reinterpret_cast<uintptr_t>(memory), size, &base);
    on_device &= found != nullptr && found->on_device;
    uses.emplace_back(base, writes);
  };
  uses_memory(argument->bytes, argument->images * argument->bytes_of_image(), false);
  uses_memory(argument->taps, argument->images * argument->numbers_of_taps() * sizeof(int32_t), false);
  uses_memory(argument->table, argument->channels * headrace::kTableValues * kernel.value_bytes, false);
  uses_memory(argument->marks, argument->images * headrace::kCorners, false);
  uses_memory(argument->erased, argument->images * sizeof(headrace::ImageBox), false);
  uses_memory(argument->mixed, argument->images * sizeof(headrace::MixedImage), false);
  uses_memory(argument->values, values * kernel.value_bytes, true);
  if (!on_device) {
    it.Find("a kernel on memory that was not taken");
    return CUDA_ERROR_INVALID_VALUE;
  }
  it.Queue(*stream, std::move(uses), [run = kernel.run, mapping = *argument] { run(mapping); });
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* found) {
  static const std::map<std::string_view, void*> functions = {
#define FUNCTION(name) {"cu" #name, reinterpret_cast<void*>(name)}
      FUNCTION(Init),
      FUNCTION(DriverGetVersion),
      FUNCTION(GetErrorName),
      FUNCTION(GetErrorString),
      FUNCTION(DeviceGet),
      FUNCTION(DeviceGetCount),
      FUNCTION(DevicePrimaryCtxRetain),
      FUNCTION(DevicePrimaryCtxRelease),
      FUNCTION(DevicePrimaryCtxGetState),
      FUNCTION(CtxPushCurrent),
      FUNCTION(CtxPopCurrent),
      FUNCTION(CtxSynchronize),
      FUNCTION(ThreadExchangeStreamCaptureMode),
      FUNCTION(MemGetInfo),
      FUNCTION(MemAlloc),
      FUNCTION(MemFree),
      FUNCTION(MemHostAlloc),
      FUNCTION(MemFreeHost),
      FUNCTION(MemcpyHtoDAsync),
      FUNCTION(MemcpyDtoHAsync),
      FUNCTION(StreamCreateWithPriority),
      FUNCTION(StreamDestroy),
      FUNCTION(StreamSynchronize),
      FUNCTION(StreamWaitEvent),
      FUNCTION(StreamIsCapturing),
      FUNCTION(StreamGetCtx),
      FUNCTION(EventCreate),
      FUNCTION(EventDestroy),
      FUNCTION(EventRecord),
      FUNCTION(EventSynchronize),
      FUNCTION(ModuleLoadData),
      FUNCTION(ModuleGetFunction),
      FUNCTION(ModuleUnload),
      FUNCTION(LaunchKernel),
#undef FUNCTION
  };
  const auto known = functions.find(symbol);
  *function = known == functions.end() ? nullptr : known->second;
  if (found != nullptr) {
    *found = known == functions.end() ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return CUDA_SUCCESS;
}

void TestDriverSetUp(const struct TestDriverOptions* given) {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  it.SetUp(*given);
}

int64_t TestDriverCalls() {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  return it.calls_;
}

uint64_t TestDriverFindings(char* text, uint64_t room) {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  const std::string findings = it.Findings();
  if (room > 0) std::snprintf(text, room, "%s", findings.c_str());
  return findings.size();
}

int64_t TestDriverAllocations() {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  return it.Allocations();
}

CUresult TestDriverExpect(CUstream handle, CUdeviceptr memory, const void* expected, uint64_t bytes) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  uintptr_t base = 0;
  if (stream == nullptr || it.MemoryAt(memory, bytes, &base) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  it.Queue(*stream, {{base, false}}, [&it, memory, bytes, hash = HashOf(expected, bytes)] {
    if (HashOf(reinterpret_cast<const void*>(memory), bytes) != hash) it.Find("a user's work read wrong bytes");
  });
  return CUDA_SUCCESS;
}

CUresult TestDriverWrite(CUstream handle, CUdeviceptr memory, int value, uint64_t bytes) {
  ENTER_IN_CONTEXT();
  Stream* const stream = it.Find(handle);
  uintptr_t base = 0;
  if (stream == nullptr || it.MemoryAt(memory, bytes, &base) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  it.Queue(*stream, {{base, true}},
           [memory, value, bytes] { std::memset(reinterpret_cast<void*>(memory), value, bytes); });
  return CUDA_SUCCESS;
}

void TestDriverEnter(int device) {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  it.Begin();
  if (TestDriverDriver::current_ == nullptr) TestDriverDriver::current_ = new std::vector<Context*>;
  TestDriverDriver::current_->push_back(it.contexts_[static_cast<size_t>(device)].get());
}

CUstream TestDriverMakeStream() {
  CUstream stream = nullptr;
  StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
  return stream;
}

void TestDriverEndStream(CUstream stream) { StreamDestroy(stream); }

int TestDriverCapture(CUstream handle, int begins) {
  TestDriverDriver& it = ItTestDriver();
  const std::lock_guard<std::mutex> lock(it.mutex);
  const auto found = it.streams_.find(handle);
  if (found == it.streams_.end()) return 0;
  Stream& stream = *found->second;
  stream.captures = begins != 0;
  return std::exchange(stream.broken, false) ? 0 : 1;
}

}  // extern "C"
