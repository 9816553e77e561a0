// `FrameChains` remembers where the frames of damaged records lead, for a reader that goes on after damage. Many heads
// may lead to the same long row of frames, each of which would be followed again for each head: n bytes would cost n²
// steps. With it, a head costs no more than a few steps and the frames that no head led to before.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_FRAME_CHAINS_H_
#define HEADRACE_IO_FORMATS_RECORDIO_FRAME_CHAINS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/seeded_hash.h"

namespace headrace {

class FrameChains {
 public:
  // Where the frames of a record lead, from one of them or from its first.
  struct Way {
    int64_t to = 0;     // the byte of the file where the next head is, or after the last frame
    size_t length = 0;  // of the payload on the way, with a magic word in front of each frame but a record's first
    bool more = true;   // that head belongs to the record
  };

  // The frames of one record, as they are followed.
  class Walk {
   public:
    // `record`: the byte of its first head; those of a reader rise. Null `chains`: nothing is remembered.
    Walk(FrameChains* chains, int64_t record) : chains_(chains), record_(record) {}

    // Called at each frame but the first, before its head is looked at. `length`: the payload in front of it. The way
    // from there; null: follow it.
    const Way* At(int64_t frame, size_t length);
    // Remembers that this record's frames lead there.
    void Note(const Way& way);

   private:
    FrameChains* const chains_;
    const int64_t record_;
    size_t steps_ = 0;
    std::vector<std::pair<int64_t, size_t>> passed_;  // frames, with the payload in front of them
  };

  size_t size() const { return ways_.size(); }

 private:
  void ForgetBefore(int64_t record);

  std::unordered_map<int64_t, Way, SeededHash> ways_;  // by frame: of a chain, every 64th
  size_t most_ = size_t{1} << 12;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_FRAME_CHAINS_H_
