// `ReadEveryWay` reads records of files and checks the properties of every format: any split size and any block size
// give the same records and lose the same bytes, and reading goes on from each. Use it in tests of formats.
// Threads: any thread.
#ifndef HEADRACE_IO_FORMATS_TESTING_READ_RECORDS_H_
#define HEADRACE_IO_FORMATS_TESTING_READ_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/formats/record_reader.h"

namespace headrace {

struct ReadRecord {
  int64_t offset = 0;
  std::string content;
  int64_t after = 0;  // where the next record begins

  friend bool operator==(const ReadRecord&, const ReadRecord&) = default;
};

struct ReadRecords {
  std::vector<ReadRecord> records;
  std::vector<LostBytes> lost;
  absl::Status error;   // OK: to the end
  int64_t failed = -1;  // the byte of the record that failed
};

ReadRecords ReadSplit(const Format& format, const FileSystem& files, const std::string& path, const Split& split,
                      int64_t from, size_t block_bytes);

// The records of a whole file of these bytes. gtest expectations check that they are the same whatever the size of
// splits and blocks, and from each of them on; so are the bytes that are lost, though splits may tell of them in
// several pieces; an error comes after the same records, at the same byte, from every split that reaches it.
ReadRecords ReadEveryWay(const Format& format, const std::string& bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TESTING_READ_RECORDS_H_
