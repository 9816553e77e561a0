#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "engine/operator/row_warnings.h"
#include "io/formats/item_index.h"
#include "io/formats/tfrecord/indexed_tf_records.h"
#include "io/formats/tfrecord/tf_record_format.h"
#include "io/formats/tfrecord/tf_record_table.h"
#include "ir/graph.pb.h"
#include "ir/suggestion.h"
#include "ops/source/column_source.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/split_signature.h"
#include "ops/source/split_source.h"
#include "ops/source/table_reading.h"
#include "ops/source/tfrecord/feature_columns.h"

namespace headrace {
namespace {

constexpr int64_t kTfRecordBlockBytes = int64_t{1} << 20;
// Of the names of TFRecord files in a folder, which end in many ways: .tfrecord, .tfrecords, .tfrecord-00000-of-00010.
constexpr std::string_view kTfRecordEnding = ".tfrecord*";
// Of indices, as DALI's tfrecord2idx is mostly told to name them.
constexpr std::string_view kTfIndexEnding = ".idx";
// Of what lies beside TFRecord files, whatever pattern matches it: indices, and journals of sets that are written.
constexpr std::string_view kBesideEndings[] = {kTfIndexEnding, ".tfindex", kItemIndexEnding, ".journal"};

// ---- what the attributes say ----

const ir::Schema& PayloadSchema() {
  static const auto* const schema = new ir::Schema{{{"record", ir::ColumnType::Of(DType::kBytes, {})}}};
  return *schema;
}

ir::Schema FeaturesOf(const ir::Attributes& attributes) {
  return attributes.IsNone("fields") ? PayloadSchema() : attributes.Columns("fields");
}

OnDamage OnDamageOfTfRecord(const ir::Attributes& attributes) {
  return attributes.String("damage") == "skip" ? OnDamage::kSkip : OnDamage::kFail;
}

std::optional<Compression> CompressionOfTfRecord(const ir::Attributes& attributes) {
  const std::string& given = attributes.String("compression");
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kZlib, Compression::kZstd}) {
    if (given == CompressionName(compression)) return compression;
  }
  return std::nullopt;
}

// What stands for each of these columns, which are among the features.
absl::StatusOr<std::vector<std::optional<FeatureFill>>> FillsOf(const ir::Attributes& attributes,
                                                                const ir::Columns& columns) {
  std::vector<std::optional<FeatureFill>> fills(columns.size());
  if (attributes.IsNone("defaults")) return fills;
  for (const auto& [name, json] : attributes.Pairs("defaults")) {
    const int column = columns.IndexOf(name);
    if (column < 0) continue;
    HEADRACE_ASSIGN_OR_RETURN(fills[static_cast<size_t>(column)],
                              ParseFeatureFill(json, columns[static_cast<size_t>(column)]));
  }
  return fills;
}

absl::Status CheckFeatures(const ir::Attributes& attributes, const ir::Schema& features) {
  if (features.columns.empty()) return GraphError("features is empty; name at least one, with its type, or give None");
  if (!attributes.IsNone("fields")) HEADRACE_RETURN_IF_ERROR(CheckFeatureTypes(features.columns));
  if (attributes.IsNone("defaults")) return absl::OkStatus();
  if (attributes.IsNone("fields")) return GraphError("defaults stand for features, and features is None");
  for (const auto& [name, json] : attributes.Pairs("defaults")) {
    HEADRACE_RETURN_IF_ERROR(ir::FindColumn(features, name).status());
  }
  return FillsOf(attributes, features.columns).status();
}

absl::Status CheckIndexOfTfRecord(const ir::Attributes& attributes) {
  HEADRACE_RETURN_IF_ERROR(SplitReading::CheckBesideIndex(attributes));
  if (attributes.IsNone("index")) return absl::OkStatus();
  const std::string& compression = attributes.String("compression");
  if (compression != "auto" && compression != CompressionName(Compression::kNone)) {
    return GraphError(
        "compression=\"", compression,
        "\" is for files that are read from their start on, and with index= rows are read by their numbers; "
        "decompress the files, or leave out index=");
  }
  if (OnDamageOfTfRecord(attributes) == OnDamage::kFail || BuildsIndex(attributes)) return absl::OkStatus();
  return GraphError(
      "damage=\"skip\" finds what is damaged by reading all records, as index=\"build\" does, and an index is named; "
      "give "
      "index=\"build\", or leave out rows with on_error(\"skip\")");
}

absl::StatusOr<ir::Schema> InferTfRecord(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  for (const std::string_view list : {"paths", "index"}) {
    if (attributes.IsNone(list)) continue;
    for (const std::string& text : attributes.Paths(list)) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
  }
  HEADRACE_RETURN_IF_ERROR(CheckIndexOfTfRecord(attributes));
  const ir::Schema features = FeaturesOf(attributes);
  HEADRACE_RETURN_IF_ERROR(CheckFeatures(attributes, features));
  return ChosenFields(attributes, features);
}

// ---- how the files are read ----

absl::StatusOr<MakeColumns> ColumnsOfTfRecord(const OpArguments& arguments, PayloadCrc crc) {
  if (arguments.attributes.IsNone("fields")) return MakeColumns([crc] { return MakePayloadColumn(crc); });
  const ir::Columns& columns = arguments.output.columns;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::optional<FeatureFill>> fills,
                            FillsOf(arguments.attributes, columns));
  return MakeColumns([columns, fills, crc] { return MakeFeatureColumns(columns, fills, crc); });
}

bool IsBesideTfRecords(std::string_view path) {
  return std::any_of(std::begin(kBesideEndings), std::end(kBesideEndings),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

absl::StatusOr<MatchedFiles> FilesOfTfRecord(const OpArguments& arguments) {
  const std::vector<std::string> texts = arguments.attributes.Paths("paths");
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, MatchInOrder(files, texts, kTfRecordEnding));
  PathArena paths;
  for (int64_t i = 0; i < matched.size(); ++i) {
    if (!IsBesideTfRecords(matched[i])) paths.Add(matched[i]);
  }
  if (paths.empty()) {
    return GraphError("paths names only what lies beside TFRecord files, such as ", matched[0], "; name the files");
  }
  return Measure(files, arguments.node->op(), std::move(paths), texts);
}

// The paths of the indices; none: they are built.
absl::StatusOr<std::vector<std::string>> TfIndicesOf(const OpArguments& arguments, size_t files) {
  if (BuildsIndex(arguments.attributes)) return std::vector<std::string>();
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched,
                            MatchInOrder(*arguments.run->files, arguments.attributes.Paths("index"), kTfIndexEnding));
  if (static_cast<size_t>(matched.size()) != files) {
    return GraphError("index names ", matched.size(), matched.size() == 1 ? " file" : " files", " and paths ", files,
                      "; give an index for each, in the order of paths, or index=\"build\"");
  }
  return TextsOf(matched);
}

absl::StatusOr<std::shared_ptr<const TfRecordTable>> TableOfTfRecord(const OpArguments& arguments,
                                                                     const std::vector<std::string>& paths) {
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> indices, TfIndicesOf(arguments, paths.size()));
  const OnDamage on_damage = OnDamageOfTfRecord(arguments.attributes);
  const bool writes = arguments.run->writes;
  // A run that may write does not take a table whose indices were not written.
  const std::string_view how = !indices.empty() ? "named" : writes ? "build" : "build unwritten";
  const std::string name = Cat(how, on_damage == OnDamage::kSkip ? " skip" : "", "\n", absl::StrJoin(paths, "\n"), "\n",
                               absl::StrJoin(indices, "\n"));
  std::vector<std::string> read = paths;
  read.insert(read.end(), indices.begin(), indices.end());
  return KeptTable<TfRecordTable>(files, name, std::move(read), [&]() -> absl::StatusOr<TfRecordTable> {
    return indices.empty() ? BuildTfRecordTable(files, paths, on_damage, writes)
                           : ReadTfRecordTable(files, paths, indices);
  });
}

// Rows by number, with what was left out of their table.
class TfRecordSource : public ColumnSource {
 public:
  TfRecordSource(const OpArguments& arguments, std::shared_ptr<const TfRecordTable> table, MakeColumns make,
                 Fingerprint fingerprint)
      : ColumnSource(std::make_unique<IndexedTfRecords>(arguments.run->files, table), std::move(make),
                     std::move(fingerprint)),
        warnings_(std::make_shared<RowWarnings>(arguments.name, "position")) {
    for (const TfRecordTable::Note& note : table->notes) {
      warnings_->Add({}, {std::make_shared<const std::string>(note.path), -1, note.offset}, note.text);
    }
  }

  std::shared_ptr<const RowWarnings> warnings() const override { return warnings_; }

 private:
  const std::shared_ptr<RowWarnings> warnings_;
};

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeIndexedTfRecord(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(MakeColumns make, ColumnsOfTfRecord(arguments, PayloadCrc::kChecked));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, FilesOfTfRecord(arguments));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const TfRecordTable> table,
                            TableOfTfRecord(arguments, TextsOf(files.paths)));
  CoverTable(*table, files.fingerprint);
  return std::make_unique<TfRecordSource>(arguments, std::move(table), std::move(make), std::move(files.fingerprint));
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeStreamTfRecord(const OpArguments& arguments) {
  const OnDamage on_damage = OnDamageOfTfRecord(arguments.attributes);
  const PayloadCrc crc = on_damage == OnDamage::kSkip ? PayloadCrc::kChecked : PayloadCrc::kCheck;
  HEADRACE_ASSIGN_OR_RETURN(const MakeColumns make, ColumnsOfTfRecord(arguments, crc));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, FilesOfTfRecord(arguments));
  auto format = std::make_unique<TfRecordFormat>(on_damage, CompressionOfTfRecord(arguments.attributes));
  return SplitSource::Make(std::move(format), std::move(files), make(), arguments, kTfRecordBlockBytes,
                           SplitTable::kWholeFiles);
}

// ---- the declaration ----

std::vector<ir::Attribute> AttributesTfRecord() {
  std::vector<ir::Attribute> attributes = {
      {.name = "paths",
       .type = ir::AttributeType::kStrings,
       .doc =
           "TFRecord files: paths, with `*`, `?`, `[abc]` and `**`, several of them in a list or between semicolons; a "
           "folder stands for the files in it with .tfrecord in their names. Indices beside them are left out.",
       .length = ir::ListLength{},
       .path = true},
      {.name = "fields",
       .type = ir::AttributeType::kColumns,
       .doc = "The features that are read, with their types. None: the records' bytes.",
       .default_value = "None",
       .nullable = true,
       .hidden = true},
      {.name = "defaults",
       .type = ir::AttributeType::kPairs,
       .doc = "What stands for features that a record lacks, as JSON.",
       .default_value = "None",
       .nullable = true,
       .hidden = true},
      {.name = "compression",
       .type = ir::AttributeType::kString,
       .doc = "How the files are compressed as a whole; \"auto\": as the first bytes of each show.",
       .default_value = "'auto'",
       .choices = {"auto", "none", "gzip", "zlib", "zstd"}},
      DeclareNamedIndex(
          "An index of each file, in the order of paths, as DALI's tfrecord2idx or the package tfrecord "
          "(.tfindex) writes it, or \"build\": one that is made of the heads of the records and kept beside "
          "the file.")};
  for (ir::Attribute& attribute : SplitReading::DeclareWholeFilesBesideIndex()) {
    attributes.push_back(std::move(attribute));
  }
  attributes.push_back(
      {.name = "damage",
       .type = ir::AttributeType::kString,
       .doc = "What to do about a record whose checksum is wrong, or that the file's end cuts off: "
              "\"error\", or \"skip\" to leave it out; explain() names what was left out. Where a length is "
              "damaged, no record can be found after it: that is always an error.",
       .default_value = "'error'",
       .choices = {"error", "skip"}});
  attributes.push_back(DeclareChosenFields());
  return attributes;
}

ir::PythonSignature SignatureTfRecord() {
  constexpr std::string_view kPaths = "str | PathLike[str] | Sequence[str | PathLike[str]]";
  return SplitSignature(
      {.first =
           {{"paths", Cat("paths: ", kPaths)},
            {"features", "features: FeatureTypes | None = None",
             "A dict from a feature's name to its type: a dtype (int64, float32, bytes or str) for a single value, "
             "(dtype, shape) for several, with None for the length of an axis that differs from row to row, or "
             "(dtype, shape, default): {\"label\": \"int64\", \"box\": (\"float32\", (None, 4)), \"weight\": "
             "(\"float32\", (), 1.0)}. None: the records' bytes."},
            {"compression", "compression: str = \"auto\""},
            {"index", Cat("index: ", kPaths, " | None = None")},
            ShuffleParameter()},
       .window = "1024",
       .window_doc = "With `shuffle` and without an index: rows are then mixed by shuffle(window); 0: they are not.",
       .last = {{"damage", "damage: str = \"error\""}},
       .whole_files = true});
}

const OpRegistration tf_record_registration(
    {
        .name = "TFRecord",
        .role = ir::Role::kSource,
        .summary = "Gives the records of TFRecord files, one row each.",
        .doc =
            "With `features` a record is a tf.train.Example or tf.train.SequenceExample, and a column has the values "
            "of "
            "the feature of its name: all of them in row-major order, or those of the steps of a feature list, which "
            "are "
            "its first axis. A feature that a record lacks has no values where the first axis is None, and otherwise "
            "is "
            "an error of the row, unless a default stands for it. Other features are left out. Without `features` the "
            "column is `record` (bytes).\n"
            "Files come in the order in which they are named, each once, and each is read from its start on. With "
            "`index` "
            "rows are read by their numbers: they can be shuffled as a whole, chosen by number and sharded evenly, and "
            "a "
            "row's key is its index. Without, a row's key is its file's number mixed with its byte offset; in a "
            "compressed file, that of the bytes that it holds.\n"
            "Errors of a row, which name the file and the byte: a wrong checksum, bytes that are no such message, a "
            "feature of another kind or with another number of values, a str that is not UTF-8.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesTfRecord(),
        .traits = {.random = true, .file_io = true},
        .python = SignatureTfRecord(),
        .example = "hr.TFRecord(\"train-*.tfrecord\", {\"image\": \"bytes\", \"label\": \"int64\"}, index=\"build\", "
                   "shuffle=True)",
        .infer = InferTfRecord,
        .writes = WrittenIndices,
    },
    TableFactories(MakeStreamTfRecord, MakeIndexedTfRecord));

}  // namespace
}  // namespace headrace
