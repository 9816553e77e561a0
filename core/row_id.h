// `RowId` is the identity of a row: its epoch and a 64-bit key. Randomness may depend on nothing else of the row.
// Provenance (file, record, offset) is separate and serves only errors.
// Threads: plain values.
#ifndef HEADRACE_CORE_ROW_ID_H_
#define HEADRACE_CORE_ROW_ID_H_

#include <cstdint>
#include <memory>
#include <string>

namespace headrace {

struct RowId {
  uint64_t epoch = 0;
  uint64_t key = 0;
  bool pad = false;  // repeats another row so that all ranks take the same number of steps; becomes the column `_pad`
  // Its file had another size than listed: the row is given out, but no cache keeps it.
  bool changed = false;

  friend bool operator==(const RowId&, const RowId&) = default;
};

// Scrambles 64 bits (the finalizer of SplitMix64, Steele et al. 2014): a bijection.
inline uint64_t Scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Mixes a second number into a key; not symmetric. The same bits in every version of Headrace, because random streams
// depend on it.
inline uint64_t MixKey(uint64_t key, uint64_t with) { return Scramble(Scramble(key) ^ (with + 0x632be59bd9b4e019ULL)); }

// For two rows joined side by side: the first one's epoch, both keys, and the flags of either.
inline RowId JoinIds(const RowId& a, const RowId& b) {
  return {a.epoch, MixKey(a.key, b.key), a.pad || b.pad, a.changed || b.changed};
}

struct Provenance {
  std::shared_ptr<const std::string> file;  // null if rows come from no file
  int64_t record = -1;                      // number within the file or source; -1: none
  int64_t offset = -1;                      // bytes from the file's start; -1: none
};

// "photos/cat/1.jpg, record 3, byte 1024"; "" if nothing is known.
std::string DescribeProvenance(const Provenance& provenance);
// "epoch 0, key 17".
std::string DescribeRowId(const RowId& id);

}  // namespace headrace

#endif  // HEADRACE_CORE_ROW_ID_H_
