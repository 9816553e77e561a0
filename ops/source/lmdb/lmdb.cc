#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/lmdb/lmdb_table.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/file_patterns.h"
#include "ops/source/lmdb/lmdb_source.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

const ColumnChoice& LmdbColumns() {
  static const auto* const columns = new ColumnChoice(
      {{"key", ir::ColumnType::Of(DType::kBytes, {})}, {"value", ir::ColumnType::Of(DType::kBytes, {})}}, 2);
  return *columns;
}

absl::StatusOr<ir::Schema> InferLmdb(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", attributes.Path("path")));
  if (!attributes.IsNone("database") && attributes.String("database").empty()) {
    return GraphError("database is empty; give the name of one, or None for the main one");
  }
  return LmdbColumns().Infer(attributes);
}

// The times of a file say nothing of what a memory map wrote to it: the last transaction is part of the name.
absl::StatusOr<std::shared_ptr<const LmdbTable>> TableOfLmdb(const FileSystem& files, const std::string& path,
                                                             const std::string& database) {
  HEADRACE_ASSIGN_OR_RETURN(const LmdbMeta meta, ReadLmdbMeta(files, path));
  return KeptTable<LmdbTable>(files, Cat(path, "\n", database, "\n", meta.transaction), {path},
                              [&] { return MakeLmdbTable(files, path, database); });
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeLmdb(const OpArguments& arguments) {
  const FileSystem* const files = arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const std::string path, FindLmdbFile(*files, arguments.attributes.Path("path")));
  const std::string database = arguments.attributes.IsNone("database") ? "" : arguments.attributes.String("database");
  PathArena paths;
  paths.Add(path);
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles matched, Measure(*files, "Lmdb", std::move(paths), {path, database}));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const LmdbTable> table, TableOfLmdb(*files, path, database));
  CoverTable(*table, matched.fingerprint);
  std::vector<LmdbColumn> columns;
  for (const int field : LmdbColumns().Fields(arguments.output)) columns.push_back(static_cast<LmdbColumn>(field));
  return std::make_unique<LmdbSource>(files, std::move(table), std::move(columns), std::move(matched.fingerprint));
}

const OpRegistration lmdb_registration(
    {
        .name = "Lmdb",
        .role = ir::Role::kSource,
        .summary = "Gives the entries of an LMDB file, in the order of their keys.",
        .doc =
            "Columns: `key` and `value`, bytes as they were put in; what they mean is a matter of whoever wrote them. "
            "The pages of the file are read without LMDB's library, its lock file and memory maps, so that the file "
            "may be on a medium that cannot be written to, and processes may fork. A row's key is its number in the "
            "order of the keys, in which `10` comes before `2`.\n"
            "Nothing may be committed to the file during a run: it is an error of the run. Errors, which name the "
            "byte: pages that are damaged, a file that was cut off. Databases that hold several values of a key "
            "(dupsort), files of machines of 32 bits and of other versions of the format are refused.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "path",
                        .type = ir::AttributeType::kString,
                        .doc = "The folder that has data.mdb, or the file itself.",
                        .path = true},
                       LmdbColumns().Declare(),
                       DeclareShuffle(),
                       {.name = "database",
                        .type = ir::AttributeType::kString,
                        .doc = "The name of a database in the file; None: the main one, which then has no named ones.",
                        .default_value = "None",
                        .nullable = true}},
        .traits = {.indexed = true, .file_io = true},
        .example = "hr.Lmdb(\"bedroom_train_lmdb\", columns=[\"value\"], shuffle=True)",
        .infer = InferLmdb,
    },
    {.indexed_source = MakeLmdb});

}  // namespace
}  // namespace headrace
