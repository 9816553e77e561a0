// `KeptTable`, `CoverTable` and `TableFactories` make what the sources of files share whose rows may be read by number:
// a table of where the rows are is made when a run begins, and kept for the next one. Use them beside SplitReading,
// which reads the same files in splits. A table has `size()`, the number of its rows, and `fingerprint()`, as
// ItemTable. Threads: any thread; the sources have the contracts of their kinds.
#ifndef HEADRACE_OPS_SOURCE_TABLE_READING_H_
#define HEADRACE_OPS_SOURCE_TABLE_READING_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "io/files/path_arena.h"
#include "io/listings/kept_by_files.h"
#include "ops/source/split_source.h"

namespace headrace {

// The table of that name that was made of these files, if they have not changed, or what `make` makes. Names of tables
// of one type differ if the tables do.
template <typename Table>
absl::StatusOr<std::shared_ptr<const Table>> KeptTable(const FileSystem& files, const std::string& name,
                                                       std::vector<std::string> paths,
                                                       absl::FunctionRef<absl::StatusOr<Table>()> make) {
  static auto* const kept = new KeptByFiles<Table>;
  return kept->Get(files, name, std::move(paths), make);
}

// Adds the rows of the table to the fingerprint of its files.
template <typename Table>
void CoverTable(const Table& table, Fingerprint& fingerprint) {
  fingerprint.count = table.size();
  fingerprint.hash = MixKey(fingerprint.hash, table.fingerprint());
}

std::vector<std::string> TextsOf(const PathArena& paths);

using MakeIndexedSource = std::function<absl::StatusOr<std::unique_ptr<IndexedSource>>(const OpArguments& arguments)>;
// Of an operator with the attribute `index`: with an index, or in splits.
OpFactories TableFactories(MakeStreamSource stream, MakeIndexedSource indexed);

inline constexpr std::string_view kBuildIndex = "build";
// `index` of an operator that takes "build" alone; `doc` says what is built.
ir::Attribute DeclareBuiltIndex(std::string_view doc);
// `index` of an operator that takes "build", or the paths of indices; `doc` says of what kind they are.
ir::Attribute DeclareNamedIndex(std::string_view doc);
// Whether a DeclareNamedIndex is "build".
bool BuildsIndex(const ir::Attributes& attributes);
// What a source of `paths` may write that keeps the indices which it makes beside the files.
std::vector<std::string> WrittenIndices(const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TABLE_READING_H_
