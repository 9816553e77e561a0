// `RandomAccessReader` reads items by number: the files of a listing, or the records of files that have an index.
// Indexed sources are built on it (ops/source/item_source.h).
// Threads: const; any thread.
#ifndef HEADRACE_IO_FORMATS_RANDOM_ACCESS_READER_H_
#define HEADRACE_IO_FORMATS_RANDOM_ACCESS_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/buffer.h"

namespace headrace {

class RandomAccessReader {
 public:
  // What was read of an item.
  struct Content {
    BufferRef buffer;  // holds `bytes`; items that were read together share it
    std::string_view bytes;
    bool changed = false;  // its file had another size than when it was listed
  };
  struct Location {
    uint64_t file = 0;    // a number for Path
    int64_t record = -1;  // see Provenance
    int64_t offset = -1;
  };

  virtual ~RandomAccessReader() = default;
  virtual uint64_t size() const = 0;
  virtual Location LocationOf(uint64_t item) const = 0;
  virtual std::shared_ptr<const std::string> Path(uint64_t file) const = 0;
  // Reads the items of these numbers, in any order, into as many `contents`. Returns how many it has read, from the
  // first on: fewer if the next one fails, for the reason in `wrong`, which names the file.
  virtual size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const = 0;
  // How many of its reads may be outstanding at once without a thread for each, because its files are far; 0: each
  // read holds its thread.
  virtual int most_outstanding() const { return 0; }
  // Begins to read the items, and may return before their bytes are there: Read of the same thread finds them, while
  // the thread's StartedReads lasts (io/files/started_reads.h). Without one it does nothing.
  virtual void Start(absl::Span<const uint64_t> /*items*/) const {}
  // kData, naming it: a far file that was read since the last call has changed since it was listed, and its store
  // refuses no reads of another version.
  virtual absl::Status CheckFiles() const { return absl::OkStatus(); }
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RANDOM_ACCESS_READER_H_
