// `Part` is the piece of an object that the cache keeps in one file: the whole object, or 8 MiB of one that is larger
// than 64 MiB. `PartKey` names its bytes: another version, size or address of the object is another part.
// Threads: values and pure functions.
#ifndef HEADRACE_IO_FILES_OBJECT_CACHE_PART_H_
#define HEADRACE_IO_FILES_OBJECT_CACHE_PART_H_

#include <cstdint>
#include <string>

namespace headrace::object_cache {

inline constexpr int64_t kWholeBytes = int64_t{64} << 20;  // objects up to this size are one part
inline constexpr int64_t kPartBytes = int64_t{8} << 20;    // of larger ones

struct Object {
  std::string url;
  int64_t size = 0;
  uint64_t version = 0;  // VersionHash; not 0
};

struct Part {
  int64_t offset = 0;
  int64_t bytes = 0;
};

int64_t PartsOf(int64_t size);
Part PartAt(int64_t size, int64_t number);
// The number of the part that holds a byte of an object that is not empty.
int64_t PartOfByte(int64_t size, int64_t offset);

struct PartKey {
  // All that tells the bytes apart. It is compared when the part is read: hashes of two of them may be equal.
  std::string text;
  int64_t bytes = 0;  // of the part
  uint64_t high = 0;  // hashes of the text, which name its file
  uint64_t low = 0;
};

// `store` tells stores apart that have equal URLs: the endpoint.
PartKey KeyOf(const std::string& store, const Object& object, const Part& part);

}  // namespace headrace::object_cache

#endif  // HEADRACE_IO_FILES_OBJECT_CACHE_PART_H_
