#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/tar/indexed_samples.h"
#include "io/formats/tar/tar_format.h"
#include "io/formats/tar/tar_table.h"
#include "ir/graph.pb.h"
#include "ops/source/column_source.h"
#include "ops/source/file_patterns.h"
#include "ops/source/split_signature.h"
#include "ops/source/split_source.h"
#include "ops/source/table_reading.h"
#include "ops/source/tar/shard_list.h"
#include "ops/source/tar/tar_columns.h"
#include "ops/source/tar/tar_field.h"

namespace headrace {
namespace {

constexpr int64_t kTarBlockBytes = int64_t{1} << 20;

absl::StatusOr<ir::Schema> InferWebDataset(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  for (const std::string_view list : {"paths", "index"}) {
    if (!attributes.IsNone(list)) HEADRACE_RETURN_IF_ERROR(CheckShards(attributes.Paths(list)));
  }
  HEADRACE_RETURN_IF_ERROR(SplitReading::CheckBesideIndex(attributes));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<TarField> fields, TarFieldsOf(attributes));
  return ChosenTarFields(attributes, fields);
}

// ---- how the archives are read ----

absl::StatusOr<MakeColumns> ColumnsOfSamples(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<TarField> fields, TarFieldsOf(arguments.attributes));
  ir::Columns all;
  for (const TarField& field : fields) all.push_back(field.column);
  std::vector<TarField> chosen;
  for (const ir::Column& column : arguments.output.columns) {
    chosen.push_back(std::move(fields[static_cast<size_t>(all.IndexOf(column.name))]));
  }
  return MakeColumns([chosen] { return MakeTarColumns(chosen); });
}

absl::StatusOr<MatchedFiles> Shards(const OpArguments& arguments) {
  const std::vector<std::string> texts = arguments.attributes.Paths("paths");
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(PathArena paths, MatchShards(files, texts));
  return Measure(files, arguments.node->op(), std::move(paths), texts);
}

// The paths of the indices; none: they are built.
absl::StatusOr<std::vector<std::string>> WdsIndicesOf(const OpArguments& arguments, size_t shards) {
  if (BuildsIndex(arguments.attributes)) return std::vector<std::string>();
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched,
                            MatchShardIndices(*arguments.run->files, arguments.attributes.Paths("index")));
  if (static_cast<size_t>(matched.size()) != shards) {
    return GraphError("index names ", matched.size(), matched.size() == 1 ? " file" : " files", " and paths ", shards,
                      "; give an index for each, in the order of paths, or index=\"build\"");
  }
  return TextsOf(matched);
}

absl::StatusOr<std::shared_ptr<const ItemTable>> TableOfSamples(const OpArguments& arguments,
                                                                const std::vector<std::string>& paths) {
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> indices, WdsIndicesOf(arguments, paths.size()));
  const bool writes = arguments.run->writes;
  // A run that may write does not take a table whose indices were not written.
  const std::string_view how = !indices.empty() ? "named" : writes ? "build" : "build unwritten";
  const std::string name = Cat("samples ", how, "\n", absl::StrJoin(paths, "\n"), "\n", absl::StrJoin(indices, "\n"));
  std::vector<std::string> read = paths;
  read.insert(read.end(), indices.begin(), indices.end());
  return KeptTable<ItemTable>(files, name, std::move(read), [&]() -> absl::StatusOr<ItemTable> {
    return indices.empty() ? BuildTarTable(files, paths, writes) : ReadTarTable(files, paths, indices);
  });
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeIndexedWebDataset(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(MakeColumns make, ColumnsOfSamples(arguments));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, Shards(arguments));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const ItemTable> table, TableOfSamples(arguments, TextsOf(files.paths)));
  CoverTable(*table, files.fingerprint);
  return std::make_unique<ColumnSource>(std::make_unique<IndexedSamples>(arguments.run->files, std::move(table)),
                                        std::move(make), std::move(files.fingerprint));
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeStreamWebDataset(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(const MakeColumns make, ColumnsOfSamples(arguments));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, Shards(arguments));
  return SplitSource::Make(std::make_unique<TarFormat>(), std::move(files), make(), arguments, kTarBlockBytes,
                           SplitTable::kWholeFiles);
}

// ---- the declaration ----

std::vector<ir::Attribute> AttributesWebDataset() {
  std::vector<ir::Attribute> attributes = {
      {.name = "paths",
       .type = ir::AttributeType::kStrings,
       .doc = "Tar archives: paths, with braces (`s-{000..999}.tar`), `*`, `?`, `[abc]` and `**`, several of them in a "
              "list, between `::` or between semicolons; a folder stands for the archives in it.",
       .length = ir::ListLength{},
       .path = true}};
  for (ir::Attribute& attribute : DeclareTarFields()) attributes.push_back(std::move(attribute));
  attributes.push_back({.name = "missing",
                        .type = ir::AttributeType::kPairs,
                        .doc = "What stands for a field that a sample lacks, by column: {\"txt\": \"\", \"cls\": -1, "
                               "\"jpg\": b\"\"}; of keys of JSON also for null.",
                        .default_value = "None",
                        .nullable = true});
  attributes.push_back(DeclareNamedIndex(
      "An index of each archive, in the order of paths, as DALI's wds2idx writes it, or \"build\": one that is made of "
      "the headers of the members and kept beside the archive."));
  for (ir::Attribute& attribute : SplitReading::DeclareWholeFilesBesideIndex()) {
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

ir::PythonSignature SignatureWebDataset() {
  constexpr std::string_view kPaths = "str | PathLike[str] | Sequence[str | PathLike[str]]";
  return SplitSignature(
      {.first =
           {{"paths", Cat("paths: ", kPaths)},
            {"columns", "columns: Sequence[str] | None = None",
             "The fields that are read, such as [\"jpg\", \"cls\"]; \"jpg;png\" is the first of the two that a sample "
             "has, "
             "\"__key__\" the sample's key, \"__url__\" the path of its archive, and \"__fields__\" the names of its "
             "fields. "
             "None: the fields that the first samples have."},
            {"decode", "decode: Mapping[str, Any] | None = None",
             "What fields hold, which are bytes otherwise: a dtype for a number, a bool or a text (\"int64\", str), "
             "(dtype, shape) for arrays in .npy and JSON, or for an object in JSON a dict from its keys to their "
             "types, "
             "which gives a column for each: {\"cls\": \"int64\", \"json\": {\"caption\": str}} gives cls and "
             "json.caption."},
            {"missing", "missing: Mapping[str, Any] | None = None"},
            {"index", Cat("index: ", kPaths, " | None = None")},
            ShuffleParameter()},
       .window = "1024",
       .window_doc = "With `shuffle` and without an index: rows are then mixed by shuffle(window); 0: they are not.",
       .last = {{"look", "look: int = 100", "How many samples are looked at for columns that are not given."}},
       .whole_files = true});
}

const OpRegistration web_dataset_registration(
    {
        .name = "WebDataset",
        .role = ir::Role::kSource,
        .summary = "Gives the samples of WebDataset's tar archives, one row each.",
        .doc =
            "A sample is a run of members of one key: of the path up to the first dot of its last part. What follows "
            "that dot, in lower case, is the name of a field, and a column has the field's bytes unless `decode` says "
            "what they hold. Members that are no files, that have no such dot, or whose path begins with a name in "
            "double underscores are left out. Archives may be compressed by gzip, zstd, bzip2 or xz, as their first "
            "bytes show.\n"
            "Files come in the order in which they are named, each once, and each is read from its start on. With "
            "`index` rows are read by their numbers: they can be shuffled as a whole, chosen by number and sharded "
            "evenly, and a row's key is its index. Without, a row's key is its file's number mixed with its byte "
            "offset; in a compressed archive, that of the bytes that it holds.\n"
            "Errors of a row, which name the file, the byte and the sample: a sample without a column's field, unless "
            "`missing` says what stands for it, or with a field twice; a field that does not hold what `decode` says. "
            "An "
            "archive that is cut off, or has a damaged header, is an error after the samples before it.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesWebDataset(),
        .traits = {.random = true, .file_io = true},
        .python = SignatureWebDataset(),
        .example = "hr.WebDataset(\"train-{000..127}.tar\", [\"jpg\", \"cls\"], {\"cls\": \"int64\"}, index=\"build\", "
                   "shuffle=True)",
        .sample = {.attributes = {{"fields", "['jpg bytes ()']"}, {"readings", "['bytes']"}}},
        .infer = InferWebDataset,
        .writes = WrittenIndices,
    },
    TableFactories(MakeStreamWebDataset, MakeIndexedWebDataset));

}  // namespace
}  // namespace headrace
