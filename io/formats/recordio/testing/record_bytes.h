// `RecordBytes` makes the bytes of RecordIO files in memory. Use it in tests.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_TESTING_RECORD_BYTES_H_
#define HEADRACE_IO_FORMATS_RECORDIO_TESTING_RECORD_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "core/text.h"
#include "io/formats/recordio/image_record.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {

// A file of these records.
inline std::string RecordBytes(const std::vector<std::string>& payloads) {
  std::string bytes;
  for (const std::string_view payload : payloads) Require(AppendRecord({payload}, bytes).ok(), "a record fits");
  return bytes;
}

// The .idx file of such a file, with the keys 0, 1, 2, …
inline std::string IndexBytes(const std::vector<std::string>& payloads) {
  std::string text, bytes;
  for (size_t i = 0; i < payloads.size(); ++i) {
    Append(text, i, "\t", bytes.size(), "\n");
    Require(AppendRecord({std::string_view(payloads[i])}, bytes).ok(), "a record fits");
  }
  return text;
}

// An image record. One label stands in the header; with `behind`, after it like several.
inline std::string ImagePayload(uint64_t id, const std::vector<float>& labels, std::string_view image,
                                bool behind = false) {
  ImageRecordHeader header;
  header.id = id;
  const bool in_header = labels.size() == 1 && !behind;
  if (in_header) {
    header.label = labels[0];
  } else {
    header.flag = static_cast<uint32_t>(labels.size());
  }
  std::string payload;
  AppendImageRecordHeader(header, in_header ? std::vector<float>() : labels, payload);
  payload += image;
  return payload;
}

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_TESTING_RECORD_BYTES_H_
