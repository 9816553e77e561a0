// `RequireChangeable` holds a format of models to what its fuzz test says: entries that are read can be changed, and
// all others stay. Threads: used by one thread.
#ifndef HEADRACE_IO_FORMATS_MODEL_TESTING_CHANGED_ENTRIES_H_
#define HEADRACE_IO_FORMATS_MODEL_TESTING_CHANGED_ENTRIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/model/file_pieces.h"
#include "io/formats/model/model_entry.h"

namespace headrace::fixture {

// `read(file, size, wanted)` and `change(file, size, changes)` are those of the format, `name` one of its files.
template <typename Read, typename Change>
void RequireChangeable(const std::string& bytes, std::string_view name, const Read& read, const Change& change) {
  const OneFile files(bytes);
  const auto file = files.Open(std::string(name)).value();
  const auto whole = static_cast<int64_t>(bytes.size());
  auto found = read(*file, whole, {});
  const std::vector<ModelChange> changes = {{"k", "v"}};
  const auto changed = change(*file, whole, changes);
  Require(found.ok() == changed.ok(), "what is read is changed");
  if (!found.ok()) {
    Require(KindOf(found.status()) == ErrorKind::kData, "damage is the file's");
    return;
  }
  std::string text;
  for (const FilePiece& piece : (*changed)->pieces()) {
    text += bytes.substr(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.end - piece.begin)) + piece.text;
  }
  std::erase_if(*found, [](const ModelEntry& entry) { return entry.first == "k"; });
  found->emplace_back("k", "v");
  const OneFile written(text);
  const auto again = read(*written.Open(std::string(name)).value(), static_cast<int64_t>(text.size()), {});
  Require(again.ok() && *again == *found, "all other entries stay");
}

}  // namespace headrace::fixture

#endif  // HEADRACE_IO_FORMATS_MODEL_TESTING_CHANGED_ENTRIES_H_
