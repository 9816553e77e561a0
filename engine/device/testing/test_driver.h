// The test driver is a CUDA driver for tests, found as libcuda.so.1; these functions are what a test may tell it.
// Streams are lists of deferred work, run as late as the API allows, as early, or in any legal order drawn from a seed.
// It says of every access to memory whether work that is not ordered before it uses the same memory, whatever the order
// that this run happens to have; it finds use after free, sources that change under a pending copy, memory freed under
// pending work, and leaks.
//
// Modelled: primary contexts, current contexts by thread, streams (the legacy default stream and streams that wait for
// it), events, device and page-locked memory, copies between host and device, the product's kernels, captures and what
// breaks them, forks. Not modelled: other kernels and copies, the per-thread default stream, time.
//
// Threads: any thread; SetUp while nothing else calls.
#ifndef HEADRACE_ENGINE_DEVICE_TESTING_TEST_DRIVER_H_
#define HEADRACE_ENGINE_DEVICE_TESTING_TEST_DRIVER_H_

#include <cuda.h>

#include <cstdint>

extern "C" {

enum TestDriverOrder { kRunLate = 0, kRunEarly = 1, kRunRandom = 2 };

struct TestDriverOptions {
  int order;
  uint64_t seed;
  int devices;
  int version;  // of cuDriverGetVersion
  uint64_t device_bytes;
  uint64_t host_bytes;  // that may be page-locked
  int64_t fail_at;      // the number of the call that fails; below 0: none
  int fail_code;        // its CUresult
  int sticky;           // whether every later call fails, too
};

// Forgets everything but that cuInit was called, with a new set-up.
void TestDriverSetUp(const struct TestDriverOptions* given);
// Calls since, without those that only name errors.
int64_t TestDriverCalls();
// What was found, one line each: violations, and what was not given back. Returns the length without the final zero.
uint64_t TestDriverFindings(char* text, uint64_t room);
// How often device memory was taken.
int64_t TestDriverAllocations();

// Work of a user, like a kernel: reads the memory when it runs, and says if it holds other bytes than `expected`, which
// is copied.
CUresult TestDriverExpect(CUstream stream, CUdeviceptr memory, const void* expected, uint64_t bytes);
// Work of a user that writes the memory.
CUresult TestDriverWrite(CUstream stream, CUdeviceptr memory, int value, uint64_t bytes);
// For users without the driver's headers: as cuInit, makes a device's context this thread's, and makes and ends a
// stream there.
void TestDriverEnter(int device);
CUstream TestDriverMakeStream();
void TestDriverEndStream(CUstream stream);
// As a capture into a graph that begins or ends on the stream: no work of ours may be queued there meanwhile. Returns
// whether the capture is whole: a wait for all work of its context breaks it.
int TestDriverCapture(CUstream stream, int begins);

}  // extern "C"

#endif  // HEADRACE_ENGINE_DEVICE_TESTING_TEST_DRIVER_H_
