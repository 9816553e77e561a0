// OpenCV's traces, for everything that is linked with these kernels: nothing is traced. Each function of OpenCV opens a
// region of a trace, which would be linked with the files and threads that write one.
#include <climits>

#include "opencv2/core.hpp"
#include "opencv2/core/utils/trace.hpp"

namespace cv::utils::trace::details {

Region::Region(const LocationStaticStorage&) : pImpl(nullptr), implFlags(0) {}

// Not called: without a flag there is nothing to close.
void Region::destroy() {}

}  // namespace cv::utils::trace::details
