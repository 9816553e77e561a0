// `RecordIoFormat` reads RecordIO files, whole or cut into splits. A record's offset is that of its head; its content
// is its payload, joined where it was written in parts. Heads are at multiples of 4 bytes of the file. A record is
// valid only if the head of another or the end of the file follows it; a record whose length was overwritten is treated
// as damage, unless the length happens to lead to another head.
// Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_RECORD_IO_FORMAT_H_
#define HEADRACE_IO_FORMATS_RECORDIO_RECORD_IO_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/formats/record_reader.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {

class RecordIoFormat : public Format {
 public:
  explicit RecordIoFormat(OnDamage on_damage = OnDamage::kFail) : on_damage_(on_damage) {}

  PartBorders part_borders() const override { return {RecordFrame::kAlignment, false}; }
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  const OnDamage on_damage_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_RECORD_IO_FORMAT_H_
