// `ChooseImages` tells which records of a face-recognition set (MS1MV3, Glint360K, WebFace42M) are images: those of
// the keys 1 to a - 1, where the record of key 0, its header, names a. The header, and the identities after the images,
// hold no image.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_FACE_SET_H_
#define HEADRACE_IO_FORMATS_RECORDIO_FACE_SET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/recordio/record_table.h"

namespace headrace {

// A ChooseRecords: leaves images alone. The index of any other file stays as it is.
absl::StatusOr<int64_t> ChooseImages(const FileSystem& files, const std::string& path, int64_t size,
                                     RecordIndex& index);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_FACE_SET_H_
