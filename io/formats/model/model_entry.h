// `ModelEntry` is a text under a key, as files of models hold texts beside their weights, and `ModelChange` one that is
// set or removed.
// Threads: plain values.
#ifndef HEADRACE_IO_FORMATS_MODEL_MODEL_ENTRY_H_
#define HEADRACE_IO_FORMATS_MODEL_MODEL_ENTRY_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "core/printable.h"

namespace headrace {

using ModelEntry = std::pair<std::string, std::string>;
// nullopt: the entry is removed.
using ModelChange = std::pair<std::string, std::optional<std::string>>;
inline bool HasKeyOf(absl::Span<const ModelChange> changes, std::string_view key) {
  return std::any_of(changes.begin(), changes.end(), [&](const ModelChange& change) { return change.first == key; });
}

// The one key whose entry is read; nullopt: all entries are.
using WantedKey = std::optional<std::string_view>;

// What is read of a file's entries, in all.
inline constexpr int64_t kMostEntryBytes = int64_t{512} << 20;

// For messages: a key may be as long as a file.
inline std::string ShownKey(std::string_view key) { return PrintableStart(key, 100); }

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_MODEL_ENTRY_H_
