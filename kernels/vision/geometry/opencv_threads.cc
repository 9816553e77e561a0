// OpenCV's functions for threads, for everything that is linked with these kernels: a loop of OpenCV runs on the thread
// that called it, as the engine owns the threads. They stand in for OpenCV's own, which would look for libraries of
// threads that the environment names, load them, and start a pool; the linker leaves those out.
#include "opencv2/core/utility.hpp"

namespace cv {

ParallelLoopBody::~ParallelLoopBody() = default;

void parallel_for_(const Range& range, const ParallelLoopBody& body, double) {
  if (!range.empty()) body(range);
}

void setNumThreads(int) {}
int getNumThreads() { return 1; }
int getThreadNum() { return 0; }
int getNumberOfCPUs() { return 1; }

}  // namespace cv
