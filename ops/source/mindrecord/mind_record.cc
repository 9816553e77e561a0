#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/mindrecord/mind_table.h"
#include "ir/suggestion.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/file_patterns.h"
#include "ops/source/mindrecord/mind_fields.h"
#include "ops/source/mindrecord/mind_paths.h"
#include "ops/source/mindrecord/mind_record_source.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

absl::StatusOr<ir::Schema> SchemaOf(const ir::Attributes& attributes) {
  ir::Schema schema;
  for (const std::string& text : attributes.Strings("fields")) {
    HEADRACE_ASSIGN_OR_RETURN(const MindField field, ParseMindField(text));
    if (schema.Find(field.name) != nullptr) return GraphError("the field \"", field.name, "\" comes twice");
    schema.columns.push_back({field.name, TypeOfMindField(field)});
  }
  if (schema.columns.empty()) return GraphError("fields is empty; a MindRecord file has one field at least");
  return schema;
}

absl::StatusOr<ir::Schema> InferMindRecord(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  for (const std::string& text : attributes.Paths("paths")) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema schema, SchemaOf(attributes));
  return ColumnChoice(schema.columns, schema.columns.size()).Infer(attributes);
}

bool KeepsIndex(const ir::Attributes& attributes) { return !attributes.IsNone("index"); }

absl::StatusOr<std::shared_ptr<const MindTable>> TableOfMindFiles(const OpArguments& arguments,
                                                                  const MindPaths& found) {
  const FileSystem& files = *arguments.run->files;
  const bool keeps = KeepsIndex(arguments.attributes);
  const bool writes = keeps && arguments.run->writes;
  // A run that may write does not take a table whose indices were not written.
  const std::string name = Cat(found.naming == MindNaming::kSet ? "set" : "list", writes ? " written" : "", "\n",
                               absl::StrJoin(found.paths, "\n"));
  return KeptTable<MindTable>(files, name, found.paths,
                              [&] { return MakeMindTable(files, found.paths, found.naming, keeps, writes); });
}

// The numbers of the columns among the fields of the files. kData: the files have other fields by now.
absl::StatusOr<std::vector<int>> FieldsOfColumns(const ir::Schema& columns, const MindTable& table,
                                                 const std::string& path) {
  const std::vector<MindField>& fields = table.layout().fields;
  std::vector<int> numbers;
  for (const ir::Column& column : columns.columns) {
    const auto found =
        std::lower_bound(fields.begin(), fields.end(), column.name,
                         [](const MindField& field, const std::string& name) { return field.name < name; });
    const bool there = found != fields.end() && found->name == column.name;
    if (!there || TypeOfMindField(*found) != column.type) {
      return DataError(path,
                       there ? Cat(": the field \"", column.name, "\" is ", ir::TypeName(TypeOfMindField(*found)))
                             : Cat(": there is no field \"", column.name, "\""),
                       ", and it was ", ir::TypeName(column.type),
                       " when the pipeline was made; make the pipeline again");
    }
    numbers.push_back(static_cast<int>(found - fields.begin()));
  }
  return numbers;
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeMindRecord(const OpArguments& arguments) {
  const FileSystem* const files = arguments.run->files;
  const std::vector<std::string> texts = arguments.attributes.Paths("paths");
  HEADRACE_ASSIGN_OR_RETURN(MindPaths found, FindMindFiles(*files, texts, arguments.attributes.Bool("one")));
  PathArena paths;
  for (const std::string& path : found.paths) paths.Add(path);
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles matched, Measure(*files, "MindRecord", std::move(paths), texts));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const MindTable> table, TableOfMindFiles(arguments, found));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<int> fields, FieldsOfColumns(arguments.output, *table, found.paths[0]));
  CoverTable(*table, matched.fingerprint);
  return std::make_unique<MindRecordSource>(files, std::move(table), fields, std::move(matched.fingerprint));
}

std::vector<std::string> WrittenMindIndices(const ir::Attributes& attributes) {
  if (!KeepsIndex(attributes)) return {};
  return {Cat("indices beside ", absl::StrJoin(attributes.Paths("paths"), ", "))};
}

std::vector<ir::Attribute> AttributesMindRecord() {
  return {{.name = "paths",
           .type = ir::AttributeType::kStrings,
           .doc = "One file of a set, whose header names the others: the whole set is read, in its order. Or a list, a "
                  "pattern with `*`, `?`, `[abc]` and `**`, or a folder: exactly these files, in this order; indices "
                  "(.db) that a pattern or a folder matches are left out.",
           .length = ir::ListLength{},
           .path = true},
          {.name = "columns",
           .type = ir::AttributeType::kStrings,
           .doc = "The fields to give, in this order; None: all, by name. What no field of them needs is not read.",
           .default_value = "None",
           .nullable = true,
           .length = ir::ListLength{.least = 0},
           .chooses_columns = true},
          DeclareShuffle(),
          {.name = "index",
           .type = ir::AttributeType::kString,
           .doc = "\"build\": keep where each row is in a file beside each data file, `.hridx`, so that later runs "
                  "need not look at all rows before they begin. None: look, whenever a run begins in a new process.",
           .default_value = "None",
           .nullable = true,
           .choices = {std::string(kBuildIndex)}},
          {.name = "fields",
           .type = ir::AttributeType::kStrings,
           .doc = "The fields that the files have, each as its name and its type.",
           .length = ir::ListLength{.least = 0},
           .hidden = true},
          {.name = "one",
           .type = ir::AttributeType::kBool,
           .doc = "Whether `paths` is one text, so that a file stands for its set.",
           .default_value = "False",
           .hidden = true}};
}

const OpRegistration mind_record_registration(
    {
        .name = "MindRecord",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of MindRecord files, as MindSpore writes them.",
        .doc =
            "Columns: the fields of the schema, which the files' headers have. int32, int64, float32 and float64 are "
            "numbers of shape (), or arrays of the field's shape, in which None stands for -1; string is a text, "
            "and bytes are bytes. Versions 2.0 and 3.0 are read, without their indices (.db). A row's key is its "
            "number over all files.\n"
            "Errors: files that are encrypted, cut off, were never committed, are missing from their set, or were "
            "not written together. Errors of a row, which name file, row and byte: scalars that are no MessagePack, "
            "a missing value, a number that its type does not hold, an array of another shape.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesMindRecord(),
        .traits = {.indexed = true, .file_io = true},
        .python = {.parameters = "paths: str | PathLike[str] | Sequence[str | PathLike[str]], "
                                 "columns: Sequence[str] | None = None, shuffle: bool = False, "
                                 "index: str | None = None, *, seed: int | None = None, name: str | None = None",
                   .docs = {{"paths"}, {"columns"}, {"shuffle"}, {"index"}, {"seed"}, {"name"}}},
        .example = "hr.MindRecord(\"train.mindrecord0\", columns=[\"image\", \"label\"], shuffle=True)",
        .sample = {.attributes = {{"fields", "['value int64']"}}},
        .infer = InferMindRecord,
        .writes = WrittenMindIndices,
    },
    {.indexed_source = MakeMindRecord});

}  // namespace
}  // namespace headrace
