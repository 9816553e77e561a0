// `CreateS3Output` writes an object in parts: S3FileSystem's Create. Nothing is visible before Commit completes the
// upload; a stream that is dropped aborts it. What is short enough is one PUT. Threads: any thread; a stream belongs to
// one thread at a time.
#ifndef HEADRACE_IO_FILES_S3_S3_OUTPUT_H_
#define HEADRACE_IO_FILES_S3_S3_OUTPUT_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "io/files/output_stream.h"
#include "io/files/s3/s3_object.h"

namespace headrace::s3 {

struct PartLimits {
  size_t part_bytes = size_t{16} << 20;
  int at_once = 4;          // so many parts are in memory, beside the one that is filled
  int most_parts = 10'000;  // as S3 allows
};

// Flush does not make bytes outlive the process, and Keep is kUnsupported: parts that were sent are found by nobody.
// The first options.head bytes stay in memory until Seal.
std::unique_ptr<OutputStream> CreateS3Output(ObjectPlace place, const OutputOptions& options,
                                             const PartLimits& limits = {});

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_OUTPUT_H_
