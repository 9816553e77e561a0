// The test nvJPEG is an nvJPEG for tests, found as libnvjpeg.so.13; these functions are what a test may tell it. It
// decodes by libjpeg on the host, changes the lowest bit of each value so that its pixels are known, and copies them on
// the stream that it is given, over the driver for tests, which finds memory that is used too early or freed too late.
// It refuses damaged data, finds JPEGs that the real one does not decode, objects that two threads use at once or after
// a failure, wrong pitches, and what is not given back.
//
// Threads: any thread; SetUp while nothing else calls.
#ifndef HEADRACE_ENGINE_DEVICE_TESTING_TEST_NV_JPEG_H_
#define HEADRACE_ENGINE_DEVICE_TESTING_TEST_NV_JPEG_H_

#include <cstdint>

extern "C" {

struct TestNvJpegOptions {
  int major;
  int minor;
  int64_t fail_at;  // the number of the call that fails; below 0: none
  int fail_status;
};

void TestNvJpegSetUp(const struct TestNvJpegOptions* given);
// Calls since.
int64_t TestNvJpegCalls();
// Images that were queued for the device since.
int64_t TestNvJpegImages();
// What was found, one line each. Returns the length without the final zero.
uint64_t TestNvJpegFindings(char* text, uint64_t room);

}  // extern "C"

#endif  // HEADRACE_ENGINE_DEVICE_TESTING_TEST_NV_JPEG_H_
