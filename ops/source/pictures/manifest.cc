#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "engine/operator/operator.h"
#include "ir/suggestion.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/item_source.h"
#include "ops/source/memory/array_columns.h"
#include "ops/source/pictures/named_files.h"

namespace headrace {
namespace {

// The columns of the table, and that of the files' bytes, which stands in place of the paths where it has their name.
absl::StatusOr<ir::Columns> AllColumns(const ir::Attributes& attributes) {
  const ir::Schema table = attributes.Columns("types");
  const std::string& paths = attributes.String("path_column");
  const std::string& output = attributes.String("output");
  HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(table, paths));
  if (column->type.dtype != DType::kString && column->type.dtype != DType::kBytes) {
    return GraphError("path_column \"", paths, "\" is ", ir::TypeName(column->type), "; paths are texts, or bytes");
  }
  if (!column->type.shape.has_value() || !column->type.shape->empty()) {
    return GraphError("path_column \"", paths, "\" is ", ir::TypeName(column->type), "; a row names one file");
  }
  const ir::ColumnType bytes = ir::ColumnType::Of(DType::kBytes, {});
  if (output != paths && table.Find(output) != nullptr) {
    return GraphError("the table has a column \"", output, "\" already; name another output for the files' bytes");
  }
  ir::Columns all;
  for (const ir::Column& each : table.columns) {
    all.push_back(each.name == output ? ir::Column{output, bytes} : each);
  }
  if (output != paths) all.push_back({output, bytes});
  return all;
}

// All of them unless `columns` says otherwise.
absl::StatusOr<ColumnChoice> ChoiceOf(const ir::Attributes& attributes) {
  HEADRACE_ASSIGN_OR_RETURN(ir::Columns all, AllColumns(attributes));
  const size_t count = all.size();
  return ColumnChoice(std::move(all), count);
}

class TableColumns : public ItemColumns {
 public:
  // `bytes_field`: the number of the column that holds the files' bytes.
  TableColumns(std::shared_ptr<const ArrayColumns> table, int bytes_field)
      : table_(std::move(table)), bytes_field_(bytes_field) {}

  bool NeedsBytes(int field) const override { return field == bytes_field_; }

  absl::StatusOr<BlockColumn> Make(int field, absl::Span<const Item> items) const override {
    if (field == bytes_field_) return BytesColumn(items);
    absl::InlinedVector<uint64_t, 8> rows;
    for (const Item& item : items) rows.push_back(item.number);
    return table_->Rows(static_cast<size_t>(field), rows, ArrayColumns::AreSideBySide(rows));
  }

 private:
  const std::shared_ptr<const ArrayColumns> table_;
  const int bytes_field_;
};

absl::Status CheckPath(std::string_view path, uint64_t row, const std::string& root) {
  if (path.empty()) return GraphError("the path of row ", row, " is empty");
  HEADRACE_RETURN_IF_ERROR(CheckNoNul(Cat("the path of row ", row), path));
  if (root.empty() && RootOf(path).empty()) {
    return GraphError("the path of row ", row, ", ", path, ", is relative: say with root= to which folder");
  }
  return absl::OkStatus();
}

uint64_t HashOf(const Tensor& paths) {
  uint64_t hash = 0;
  for (int64_t row = 0; row < paths.elements(); ++row) hash = HashBytes(paths.bytes_at(row), hash);
  return hash;
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeManifest(const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  const ir::Schema types = attributes.Columns("types");
  HEADRACE_ASSIGN_OR_RETURN(ArrayColumns bound, ArrayColumns::Bind(arguments, types.columns));
  const auto table = std::make_shared<const ArrayColumns>(std::move(bound));
  const Tensor paths = table->array(static_cast<size_t>(types.IndexOf(attributes.String("path_column"))));
  const std::string root = attributes.Path("root");
  for (uint64_t row = 0; row < table->rows(); ++row) {
    HEADRACE_RETURN_IF_ERROR(CheckPath(paths.bytes_at(static_cast<int64_t>(row)), row, root));
  }
  const uint64_t hash = HashOf(paths);
  HEADRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<NamedFiles> files,
      NamedFiles::Make(arguments.run->files,
                       {.count = static_cast<size_t>(table->rows()),
                        .path = [paths](size_t row) { return paths.bytes_at(static_cast<int64_t>(row)); },
                        .root = root,
                        .key = Cat("table\n", table->rows(), " ", hash, "\n", root),
                        .listing = {},
                        .rows = true}));
  HEADRACE_ASSIGN_OR_RETURN(const ColumnChoice choice, ChoiceOf(attributes));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Columns all, AllColumns(attributes));
  Fingerprint fingerprint{Cat("Manifest ", attributes.ReferenceName("arrays")), table->rows(),
                          MixKey(MixKey(table->Hash(), hash), files->HashOfSizes())};
  return std::make_unique<ItemSource>(std::move(files),
                                      std::make_unique<TableColumns>(table, all.IndexOf(attributes.String("output"))),
                                      choice.Fields(arguments.output), std::move(fingerprint));
}

absl::StatusOr<ir::Schema> InferManifest(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("root", attributes.Path("root")));
  HEADRACE_ASSIGN_OR_RETURN(const ColumnChoice choice, ChoiceOf(attributes));
  return choice.Infer(attributes);
}

const OpRegistration manifest_registration(
    {
        .name = "Manifest",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of a table, each with the bytes of the file that it names.",
        .doc =
            "Columns: those of the table, and `output` (bytes: the whole file). Files are read ahead, and only where a "
            "column of theirs is used. A row's key is its index in the table. A file that is missing or cannot be read "
            "is an error of its row, which names the row and the path. Sizes are looked up when a run begins: states "
            "and caches notice files that changed.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "arrays",
                        .type = ir::AttributeType::kReference,
                        .doc = "The table, by name.",
                        .referenced = ir::Referenced::kArrays},
                       {.name = "types", .type = ir::AttributeType::kColumns, .doc = "Types of the table's rows."},
                       {.name = "path_column",
                        .type = ir::AttributeType::kString,
                        .doc = "The column of paths, or of file:// URIs."},
                       {.name = "root",
                        .type = ir::AttributeType::kString,
                        .doc = "The folder to which relative paths are; empty: all are absolute.",
                        .default_value = "''",
                        .path = true},
                       {.name = "output",
                        .type = ir::AttributeType::kString,
                        .doc = "The column of the files' bytes; where it is `path_column`, in place of the paths.",
                        .default_value = "'data'"},
                       DeclareShuffle(),
                       {.name = "columns",
                        .type = ir::AttributeType::kStrings,
                        .doc = "Columns to give; None: all.",
                        .default_value = "None",
                        .nullable = true,
                        .length = ir::ListLength{.least = 0},
                        .chooses_columns = true},
                       // Rows follow from the arrays, wherever they came from.
                       {.name = "table_file",
                        .type = ir::AttributeType::kString,
                        .doc = "The file that the table was read from; empty: it was no file.",
                        .default_value = "''",
                        .tuning = true,
                        .path = true,
                        .hidden = true},
                       {.name = "table_version",
                        .type = ir::AttributeType::kString,
                        .doc = "How long that file was, and its checksum.",
                        .default_value = "''",
                        .tuning = true,
                        .hidden = true},
                       {.name = "table_missing",
                        .type = ir::AttributeType::kString,
                        .doc = "The values that stood for missing ones when it was read, in JSON.",
                        .default_value = "''",
                        .tuning = true,
                        .hidden = true},
                       {.name = "set_call",
                        .type = ir::AttributeType::kString,
                        .doc = "The data set whose table it is, how it was asked for and how its files were, in JSON; "
                               "empty: of none.",
                        .default_value = "''",
                        .tuning = true,
                        .hidden = true}},
        .traits = {.indexed = true, .file_io = true},
        .python = {.parameters = "table: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Any, path_column: str, "
                                 "root: str | PathLike[str] | None = None, *, output: str = \"data\", "
                                 "missing: Mapping[str, Any] | None = None, shuffle: bool = False, "
                                 "seed: int | None = None, name: str | None = None",
                   .docs = {{"table",
                             "A dict from column to values; a list of rows, which are dicts with the same keys; a "
                             "pandas DataFrame; a pyarrow Table. Columns hold numbers, texts, bytes, or arrays of one "
                             "shape; rows that differ in their first axis are declared, by hr.ragged(values, splits) "
                             "or a list type of pyarrow or polars. Their memory is shared where they are arrays: do "
                             "not change them while a pipeline runs."},
                            {"path_column", "The column that names a file in each row: paths, or file:// URIs."},
                            {"root", "The folder to which relative paths are; None: all paths are absolute."},
                            {"output"},
                            {"missing",
                             "Values for what is missing, by column: {\"age\": -1} puts -1 in place of None, NaN, NA, "
                             "nulls, masked values and empty fields, and [] an empty list in place of a missing one. "
                             "Elsewhere a value that is missing is an error that names its row; NaN among floats is a "
                             "value."},
                            {"shuffle"},
                            {"seed"},
                            {"name"}}},
        .example = "hr.Manifest({\"path\": [\"cat/1.jpg\"], \"label\": [3]}, \"path\", root=\"photos\")",
        .infer = InferManifest,
    },
    {.indexed_source = MakeManifest});

}  // namespace
}  // namespace headrace
