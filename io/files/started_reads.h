// `StartedReads` holds reads that a task began before it needs them. While one exists on a thread, readers put there
// what RandomAccessReader::Start began, and their Read takes it from there: so all rows of a task are outstanding at
// once, with one thread that waits for them in turn. What was not taken is dropped with it.
// Threads: made, used and destroyed by one thread.
#ifndef HEADRACE_IO_FILES_STARTED_READS_H_
#define HEADRACE_IO_FILES_STARTED_READS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace headrace {

// A read that was begun. Dropping it waits for nothing.
class StartedRead {
 public:
  virtual ~StartedRead() = default;
};

class StartedReads {
 public:
  struct Entry {
    std::shared_ptr<StartedRead> read;  // null: there is none
    size_t at = 0;                      // the item's place among those that were read together
  };

  StartedReads();
  ~StartedReads();
  StartedReads(const StartedReads&) = delete;

  // That of this thread; null: there is none.
  static StartedReads* Current();
  // `reader` tells the items of one reader from those of others. An item that is read several times is added as often.
  void Add(const void* reader, uint64_t item, Entry entry);
  // The read of the item that was added first, which is then forgotten.
  Entry Take(const void* reader, uint64_t item);

 private:
  StartedReads* const outer_;
  std::multimap<std::pair<const void*, uint64_t>, Entry> entries_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_STARTED_READS_H_
