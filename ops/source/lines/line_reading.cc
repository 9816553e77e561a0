#include "ops/source/lines/line_reading.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "io/formats/text/indexed_lines.h"
#include "io/formats/text/line_format.h"
#include "io/formats/text/line_table.h"
#include "ir/graph.pb.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

absl::StatusOr<std::shared_ptr<const ItemTable>> TableOf(const OpArguments& arguments, const LineRows& rows,
                                                         const PathArena& matched) {
  const std::vector<std::string> paths = TextsOf(matched);
  const std::string name = Cat(arguments.node->op(), " ", rows.rule, "\n", absl::StrJoin(paths, "\n"));
  const FileSystem& files = *arguments.run->files;
  return KeptTable<ItemTable>(files, name, paths, [&] {
    const std::unique_ptr<const RecordColumns> columns = rows.columns();
    return BuildLineTable(files, paths, *rows.format, [&](RecordBlock& block) { columns->Choose(block); });
  });
}

absl::StatusOr<MatchedFiles> FilesOf(const OpArguments& arguments) {
  return MatchFiles(*arguments.run->files, arguments.node->op(), arguments.attributes);
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeStream(const OpArguments& arguments, const MakeLineRows& make) {
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, FilesOf(arguments));
  HEADRACE_ASSIGN_OR_RETURN(LineRows rows, make(arguments, files));
  return SplitSource::Make(std::move(rows.format), std::move(files), rows.columns(), arguments,
                           SplitSource::kBlockBytes, rows.quote.has_value() ? SplitTable::kWholeFiles : 0);
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeIndexed(const OpArguments& arguments, const MakeLineRows& make) {
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, FilesOf(arguments));
  HEADRACE_ASSIGN_OR_RETURN(LineRows rows, make(arguments, files));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const ItemTable> table, TableOf(arguments, rows, files.paths));
  CoverTable(*table, files.fingerprint);
  return std::make_unique<ColumnSource>(
      std::make_unique<IndexedLines>(arguments.run->files, std::move(table), IndexedText{rows.quote, rows.json}),
      std::move(rows.columns), std::move(files.fingerprint));
}

}  // namespace

std::vector<ir::Attribute> DeclareLineReading(std::vector<ir::Attribute> own) {
  std::vector<ir::Attribute> attributes = {DeclarePatterns()};
  for (ir::Attribute& attribute : own) attributes.push_back(std::move(attribute));
  attributes.push_back(DeclareBuiltIndex(
      "\"build\": read the files once, when a run begins, for where each line is; rows are then read by "
      "their numbers."));
  for (ir::Attribute& attribute : SplitReading::DeclareBesideIndex()) attributes.push_back(std::move(attribute));
  return attributes;
}

absl::Status CheckLineReading(const ir::Attributes& attributes) {
  HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
  return SplitReading::CheckBesideIndex(attributes);
}

OpFactories LineFactories(MakeLineRows make) {
  return TableFactories([make](const OpArguments& arguments) { return MakeStream(arguments, make); },
                        [make](const OpArguments& arguments) { return MakeIndexed(arguments, make); });
}

OpFactories LineFactories(MakeColumns (*make)(const OpArguments& arguments)) {
  return LineFactories([make](const OpArguments& arguments, const MatchedFiles& /*files*/) -> absl::StatusOr<LineRows> {
    return LineRows{std::make_unique<LineFormat>(), make(arguments)};
  });
}

SourceParameter ClassesParameter() {
  return {"classes", "classes: str | Mapping[str, Sequence[str] | None] | None = None",
          "Columns of texts that name classes; they become int32, the numbers of the names, which are "
          "ds.classes_of(column): "
          "{\"label\": [\"cat\", \"dog\"]}. A text that is no name is an error of its row. \"label\", or None in place "
          "of the "
          "names: those that occur, sorted, for which all files are read once more, when the source is made."};
}

ir::PythonSignature LineSignature(const std::vector<SourceParameter>& own, std::vector<SourceParameter> last,
                                  const std::vector<SourceParameter>& after_index) {
  std::vector<SourceParameter> first = {{"patterns", "patterns: str | PathLike[str] | Sequence[str | PathLike[str]]"}};
  first.insert(first.end(), own.begin(), own.end());
  first.push_back(ShuffleParameter());
  last.push_back({"index", "index: str | None = None"});
  last.insert(last.end(), after_index.begin(), after_index.end());
  return SplitSignature(
      {.first = std::move(first),
       .window = "16384",
       .window_doc = "With `shuffle` and without an index: rows are then mixed by shuffle(window); 0: they are not.",
       .last = std::move(last)});
}

}  // namespace headrace
