// `BlobFrames` finds the fields in the blob of a MindRecord row: one field is the whole blob, each of several has its
// length in front of it.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_BLOB_FRAMES_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_BLOB_FRAMES_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace headrace {

// Puts the bytes of each field, in the order of the header's blob_fields, into `fields`, of which there is one at
// least. kData: the blob is not as long as its lengths say.
absl::Status BlobFrames(std::string_view blob, absl::Span<std::string_view> fields);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_BLOB_FRAMES_H_
