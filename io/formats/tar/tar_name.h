// `TarNameOf` says to which sample a member of a WebDataset archive belongs, and by which name: "a/000.seg.png" is the
// field "seg.png" of the sample "a/000".
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_TAR_TAR_NAME_H_
#define HEADRACE_IO_FORMATS_TAR_TAR_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

struct TarName {
  std::string_view key;    // the path up to the first dot of its last part
  std::string_view field;  // what follows that dot, in the case in which it is written
};

// nullopt: it belongs to none: its last part has no dot or begins with one, or its first part is in double underscores,
// as "__meta__" is.
std::optional<TarName> TarNameOf(std::string_view path);

// Fields are known by their lower case, of ASCII.
std::string LowerField(std::string_view field);
void MakeLower(std::string& field);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TAR_NAME_H_
