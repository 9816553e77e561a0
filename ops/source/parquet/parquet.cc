#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/source/class_names.h"
#include "ops/source/column_choice.h"
#include "ops/source/file_patterns.h"
#include "ops/source/parquet/parquet_choices.h"
#include "ops/source/parquet/parquet_rows.h"
#include "ops/source/parquet/parquet_stream.h"
#include "ops/source/parquet/read_footers.h"
#include "ops/source/split_signature.h"
#include "ops/source/split_source.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

// Of the budget, for row groups that are kept.
constexpr int64_t kKeptShare = 4;

absl::StatusOr<ir::Schema> InferParquet(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  for (const std::string& text : attributes.Paths("paths")) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
  HEADRACE_RETURN_IF_ERROR(SplitReading::CheckBesideIndex(attributes));
  const ir::Schema fields = attributes.Columns("fields");
  if (fields.columns.empty()) return GraphError("fields is empty; a Parquet file has one column at least");
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema schema, ColumnChoice(fields.columns, fields.columns.size()).Infer(attributes));
  HEADRACE_RETURN_IF_ERROR(ParquetFieldsOf(attributes, schema.columns).status());
  return schema;
}

// ---- how the files are read ----

struct FoundParquet {
  std::unique_ptr<ParquetFiles> files;
  Fingerprint fingerprint;
};

absl::StatusOr<FoundParquet> FindParquet(const OpArguments& arguments) {
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const ParquetLibrary* const library, FindParquetLibrary());
  HEADRACE_ASSIGN_OR_RETURN(ParquetFields fields, ParquetFieldsOf(arguments.attributes, arguments.output.columns));
  const std::vector<std::string> texts = arguments.attributes.Paths("paths");
  HEADRACE_ASSIGN_OR_RETURN(PathArena paths, MatchParquet(files, texts));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles matched, Measure(files, "Parquet", std::move(paths), texts));
  const std::vector<std::string> listed = TextsOf(matched.paths);
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const ParquetTable> table,
                            KeptTable<ParquetTable>(files, absl::StrJoin(listed, "\n"), listed,
                                                    [&] { return ReadFooters(files, *library, matched); }));
  CoverTable(*table, matched.fingerprint);
  return FoundParquet{std::make_unique<ParquetFiles>(&files, library, std::move(table), std::move(fields)),
                      std::move(matched.fingerprint)};
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeParquetRows(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(FoundParquet found, FindParquet(arguments));
  return std::make_unique<ParquetRows>(std::move(found.files), arguments.run->memory / kKeptShare,
                                       std::move(found.fingerprint));
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeParquetStream(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(FoundParquet found, FindParquet(arguments));
  return std::make_unique<ParquetStream>(std::move(found.files), arguments, std::move(found.fingerprint));
}

// ---- the declaration ----

// Splits are row groups here.
void DescribeSplits(std::vector<ir::Attribute>& attributes) {
  for (ir::Attribute& attribute : attributes) {
    if (attribute.name == "shuffle") {
      attribute.doc =
          "With an index: all orders of the rows are equally likely, and each epoch has a new one. Without: read the "
          "row groups in an order that differs in each epoch, several at once.";
    } else if (attribute.name == "interleave") {
      attribute.doc =
          "Without an index. The number of row groups that are read at once; each gives 16 rows in turn. None: 1, or 8 "
          "with shuffle.";
    } else if (attribute.name == "sharding") {
      attribute.doc =
          "Without an index. What is sharded: with \"splits\" a rank reads its own row groups alone, with \"rows\" all "
          "of them, and keeps its rows. None: rows, or splits with shuffle.";
    }
  }
}

std::vector<ir::Attribute> AttributesParquet() {
  std::vector<ir::Attribute> attributes = {
      {.name = "paths",
       .type = ir::AttributeType::kStrings,
       .doc = "Parquet files: paths, with `*`, `?`, `[abc]` and `**`, several of them in a list or between semicolons; "
              "a folder stands for all .parquet files below it, in byte order, but those whose names, or whose "
              "folders' names, begin with `_` or `.`.",
       .length = ir::ListLength{},
       .path = true},
      {.name = "columns",
       .type = ir::AttributeType::kStrings,
       .doc = "The columns to give, in this order; None: all. Others are not read.",
       .default_value = "None",
       .nullable = true,
       .length = ir::ListLength{.least = 0},
       .chooses_columns = true},
      DeclareBuiltIndex("\"build\": the rows are read by their numbers, which follow from the footers.")};
  std::vector<ir::Attribute> of_splits = SplitReading::DeclareWholeFilesBesideIndex();
  DescribeSplits(of_splits);
  for (ir::Attribute& attribute : of_splits) attributes.push_back(std::move(attribute));
  for (ir::Attribute& attribute : DeclareParquetFields()) attributes.push_back(std::move(attribute));
  return attributes;
}

ir::PythonSignature SignatureParquet() {
  return SplitSignature(
      {.first =
           {{"paths", "paths: str | PathLike[str] | Sequence[str | PathLike[str]]"},
            {"columns", "columns: Sequence[str] | None = None"},
            {"classes", "classes: Sequence[str] | Mapping[str, Sequence[str]] | None = None", kArrowClassesDoc},
            {"missing", "missing: Mapping[str, Any] | None = None",
             "Values for what is missing, by column: {\"age\": -1} puts -1 in place of nulls, and [] an empty list "
             "in place of a missing one. Elsewhere a null is an error that names its row."},
            {"index", "index: str | None = None"},
            {"shuffle", "shuffle: bool | Literal[\"files\"] = False",
             "True: with an index all orders of the rows are equally likely, and each epoch has a new one; without, "
             "the row groups are read in an order that differs in each epoch, several at once. \"files\", without "
             "an index: the row groups come in such an order, each whole, and its rows in theirs."}},
       .window = "1024",
       .window_doc = "With `shuffle` and without an index: rows are then mixed by shuffle(window); 0: they are not.",
       .whole_files = true});
}

const OpRegistration parquet_registration(
    {
        .name = "Parquet",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of Parquet files, which pyarrow decodes.",
        .doc =
            "Columns have the types of the files: numbers and bools as they are; texts; bytes; lists, whose first axis "
            "differs from row to row; times as int64 in their unit; fields of structs with dotted names, and structs "
            "of "
            "`bytes` and `path` as the bytes of a file, which is read where they have its path alone. Dictionaries "
            "give "
            "numbers of classes, whose names are in `classes`, by value: files and row groups may have them in any "
            "order. Folders named key=value give columns of their values: int64, or texts.\n"
            "Without `index` the files are read as a stream of row groups. With it rows are read by their numbers over "
            "all files: they can be shuffled as a whole, chosen by number and sharded evenly; a row group is decoded "
            "whole, and the latest are kept, in a quarter of the memory at most. A row's key is its number.\n"
            "Errors: a file that is damaged, cut off or encrypted; one without a column, or with a column of another "
            "type, than the first. Errors of a row: a null without a value in `missing`, an unknown class.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesParquet(),
        .traits = {.random = true, .file_io = true},
        .python = SignatureParquet(),
        .example = "hr.Parquet(\"train-*.parquet\", columns=[\"image\", \"label\"], shuffle=True)",
        .infer = InferParquet,
    },
    TableFactories(MakeParquetStream, MakeParquetRows));

}  // namespace
}  // namespace headrace
