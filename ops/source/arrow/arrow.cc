#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/arrow/arrow_stream.h"
#include "io/formats/arrow/arrow_table.h"
#include "ir/type.h"
#include "ops/order/permute.h"
#include "ops/source/arrow/arrow_stream_source.h"
#include "ops/source/arrow/arrow_table_source.h"
#include "ops/source/class_names.h"

namespace headrace {
namespace {

// What is bound to the graph's name; neither a table nor a stream: nothing.
HostArrow ArrowOf(const OpArguments& arguments) {
  const auto& bound = arguments.run->bindings->arrow;
  const auto found = bound.find(arguments.attributes.ReferenceName("data"));
  return found == bound.end() ? HostArrow() : found->second;
}

absl::Status CheckColumns(const OpArguments& arguments, const ArrowMapping& mapping) {
  const ir::Schema found = SchemaOfArrow(mapping);
  for (const ir::Column& column : arguments.output.columns) {
    const ir::Column* const given = found.Find(column.name);
    if (given == nullptr) return GraphError("the Arrow data has no column \"", column.name, "\", which the graph has");
    if (given->type == column.type) continue;
    return GraphError("column \"", column.name, "\" has rows of ", ir::TypeName(given->type),
                      "; the graph was built for ", ir::TypeName(column.type));
  }
  if (found.columns.size() == arguments.output.columns.size()) return absl::OkStatus();
  return GraphError("the Arrow data has ", found.columns.size(), " columns; the graph was built for ",
                    arguments.output.columns.size());
}

absl::Status NoArrowError(const OpArguments& arguments, std::string_view what) {
  return GraphError("the Arrow ", what, " ", arguments.attributes.ReferenceName("data"),
                    " is not here: a graph that holds one runs only where it was built");
}

ArrowFiles FilesOf(const OpArguments& arguments) { return {arguments.run->files, arguments.attributes.Path("root")}; }

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeArrowTable(const OpArguments& arguments) {
  const HostArrow bound = ArrowOf(arguments);
  if (bound.table == nullptr) return NoArrowError(arguments, "table");
  HEADRACE_RETURN_IF_ERROR(CheckColumns(arguments, bound.table->mapping()));
  return std::make_unique<ArrowTableSource>(arguments.attributes.ReferenceName("data"), bound.table,
                                            FilesOf(arguments));
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeArrowStream(const OpArguments& arguments) {
  const HostArrow bound = ArrowOf(arguments);
  if (bound.stream == nullptr) return NoArrowError(arguments, "stream");
  HEADRACE_RETURN_IF_ERROR(CheckColumns(arguments, bound.stream->mapping()));
  return std::make_unique<ArrowStreamSource>(arguments.attributes.ReferenceName("data"), bound.stream,
                                             FilesOf(arguments));
}

// Rows in memory need no threads that wait for files.
void DescribeArrow(const OpArguments& arguments, OperatorProperties& properties) {
  const HostArrow bound = ArrowOf(arguments);
  if (bound.table == nullptr && bound.stream == nullptr) return;
  const ArrowMapping& mapping = bound.table == nullptr ? bound.stream->mapping() : bound.table->mapping();
  for (const ArrowColumn& column : mapping.columns()) {
    properties.traits.file_io |= column.kind == ArrowKind::kFiles;
  }
  properties.traits.deterministic = bound.table != nullptr;
}

absl::StatusOr<ir::Schema> InferArrow(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  if (attributes.IsNone("rows") && attributes.Bool("shuffle")) {
    return GraphError(
        "shuffle needs rows by number, and a stream has none; give a table, or write shuffle(…) after it");
  }
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("root", attributes.Path("root")));
  ir::Schema schema = attributes.Columns("columns");
  if (schema.columns.empty()) return GraphError("columns is empty; give data with at least one");
  return schema;
}

const OpRegistration arrow_registration(
    {
        .name = "Arrow",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of a table or a stream of another library, by the Arrow C data interface.",
        .doc =
            "A table, which can be exported again and has a length, has rows by number; a stream gives its rows once, "
            "in order, and a second epoch is an error. Numbers, texts and bytes are shared where their layout allows; "
            "fields of structs have dotted names; lists are ragged; a struct of bytes and path is one column of "
            "bytes; dictionaries give int64 numbers of their classes; times are int64 in their unit. A value that is "
            "missing is an error that names its row, unless `missing` says what stands for it. A row's key is its "
            "number. docs/arrow.md has all types.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "data",
                        .type = ir::AttributeType::kReference,
                        .doc = "The table or stream, by name.",
                        .referenced = ir::Referenced::kArrow},
                       {.name = "columns",
                        .type = ir::AttributeType::kColumns,
                        .doc = "The columns of a row, with their types."},
                       {.name = "rows",
                        .type = ir::AttributeType::kInt,
                        .doc = "The number of rows of a table. None: it is a stream.",
                        .default_value = "None",
                        .nullable = true,
                        .minimum = 0,
                        .hidden = true,
                        .indexes = true},
                       {.name = "root",
                        .type = ir::AttributeType::kString,
                        .doc = "The folder to which relative paths of files are; empty: the current one.",
                        .default_value = "''",
                        .path = true},
                       {.name = "class_names",
                        .type = ir::AttributeType::kPairs,
                        .doc = "The names of classes of each column that has some, as a list in JSON.",
                        .default_value = "None",
                        .nullable = true,
                        .hidden = true},
                       {.name = "fills",
                        .type = ir::AttributeType::kPairs,
                        .doc = "What stands for missing values, by column: a text in JSON, of a character for each "
                               "byte.",
                        .default_value = "None",
                        .nullable = true,
                        .hidden = true},
                       {.name = "units",
                        .type = ir::AttributeType::kPairs,
                        .doc = "The units of times, by column: \"us\", \"days\", \"ns Europe/Berlin\".",
                        .default_value = "None",
                        .nullable = true,
                        .hidden = true},
                       DeclareShuffle()},
        .python =
            {.parameters =
                 "data: Any, columns: str | Sequence[str] | None = None, *, classes: Sequence[str] | Mapping[str, "
                 "Sequence[str] | None] | None = None, missing: Mapping[str, Any] | None = None, root: str | "
                 "PathLike[str] | None = None, shuffle: bool = False, seed: int | None = None, "
                 "name: str | None = None",
             .docs = {{"data",
                       "What has __arrow_c_stream__ or __arrow_c_array__: tables and readers of pyarrow, polars, "
                       "DuckDB, pandas, Lance and others; or an iterator of record batches. Its memory is shared: do "
                       "not change it while a pipeline runs."},
                      {"columns",
                       "The columns to give, in this order; a struct's name stands for all of its fields. None: all."},
                      {"classes", kArrowClassesDoc},
                      {"missing",
                       "Values for what is missing, by column: {\"age\": -1}, and [] for a list. Elsewhere a value "
                       "that is missing is an error that names its row; NaN is a value."},
                      {"root",
                       "The folder to which relative paths of files are that a struct of bytes and path names. None: "
                       "the current folder."},
                      {"shuffle"},
                      {"seed"},
                      {"name"}}},
        .example =
            "hr.Arrow(next(iter(hr.Numpy({\"x\": np.arange(10)}).batch(10).options(as_=\"arrow\"))), shuffle=True)",
        .infer = InferArrow,
    },
    {.indexed_source = MakeArrowTable, .stream_source = MakeArrowStream, .properties = DescribeArrow});

}  // namespace
}  // namespace headrace
