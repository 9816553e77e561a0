// Bytes as a file of notes: whatever its table says, a note that is found lies within the file.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "engine/cache/note_file.h"
#include "io/files/testing/one_file.h"

namespace headrace {
namespace {

// The first eight bytes are a key to look for.
void TryNoteFile(std::string_view bytes) {
  uint64_t key = 0;
  if (bytes.size() < sizeof(key)) return;
  std::memcpy(&key, bytes.data(), sizeof(key));
  bytes.remove_prefix(sizeof(key));
  const OneFile files{std::string(bytes)};
  const auto file = NoteFile::Open(files, "a.points");
  if (!file.ok()) return;
  Require((*file)->notes() <= bytes.size(), "counts notes that the file has room for");
  uint64_t keys = 0;
  (*file)->ForEachKey([&keys](uint64_t) { ++keys; });
  Require(keys == (*file)->notes(), "gives the key of each note");
  std::string found;
  if (!(*file)->Find(key, bytes.size(), found)) return;
  Require(bytes.find(found) != std::string_view::npos, "gives bytes of the file");
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::TryNoteFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
