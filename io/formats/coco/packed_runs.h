// `UnpackRuns` reads run lengths in the packed form that pycocotools writes: texts of characters from '0' to 'o'.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_IO_FORMATS_COCO_PACKED_RUNS_H_
#define HEADRACE_IO_FORMATS_COCO_PACKED_RUNS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace {

// Appends the lengths of the runs; false: the text is damaged.
bool UnpackRuns(std::string_view text, std::vector<uint64_t>& runs);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COCO_PACKED_RUNS_H_
