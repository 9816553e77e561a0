#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/text/headed_lines.h"
#include "io/formats/text/line_format.h"
#include "ir/suggestion.h"
#include "ops/source/class_names.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/lines/csv_columns.h"
#include "ops/source/lines/csv_field.h"
#include "ops/source/lines/csv_layout.h"
#include "ops/source/lines/line_reading.h"
#include "ops/source/lines/number_text.h"

namespace headrace {
namespace {

absl::StatusOr<CsvDialect> DialectOf(const ir::Attributes& attributes) {
  std::optional<std::string> quote;
  if (!attributes.IsNone("quote")) quote = attributes.String("quote");
  HEADRACE_ASSIGN_OR_RETURN(CsvDialect dialect, CsvDialect::Of(attributes.String("delimiter"), quote));
  dialect.newlines = attributes.Bool("newlines_in_values");
  return dialect;
}

// The quote within which line ends are part of a line.
std::optional<char> QuoteOfLines(const CsvDialect& dialect) { return dialect.newlines ? dialect.quote : std::nullopt; }

// Where a line begins follows from all bytes of the file before it.
absl::Status CheckNewlines(const ir::Attributes& attributes) {
  if (!attributes.Bool("newlines_in_values")) return absl::OkStatus();
  if (attributes.IsNone("quote")) {
    return GraphError(
        "newlines_in_values=True is for line ends in quotes, and quote=None says that there are none; "
        "leave out one of the two");
  }
  const bool contiguous = !attributes.IsNone("sharding") && attributes.String("sharding") == "contiguous";
  if (!contiguous && attributes.IsNone("split_bytes")) return absl::OkStatus();
  return GraphError(
      contiguous ? "sharding=\"contiguous\"" : "split_bytes=",
      " cuts files within, and with newlines_in_values=True each is read from its start on; leave it out, "
      "and write several files, or give index=\"build\"");
}

// The names that `names` gives, or without a header those of the fields; nullopt: the header gives them.
std::optional<std::vector<std::string>> GivenNames(const ir::Attributes& attributes, const ir::Schema& fields) {
  if (!attributes.IsNone("names")) return attributes.Strings("names");
  if (attributes.Bool("header")) return std::nullopt;
  return fields.Names();
}

absl::Status CheckMissingCsv(const ir::Attributes& attributes, const ir::Schema& fields) {
  if (attributes.IsNone("missing")) return absl::OkStatus();
  for (const auto& [name, text] : attributes.Pairs("missing")) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(fields, name));
    uint64_t number = 0;
    if (column->type.dtype == DType::kString || ReadNumber(text, column->type.dtype, &number)) continue;
    return GraphError("missing gives \"", name, "\" as ", text, "; the column's type is ", ir::TypeName(column->type));
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Schema> InferCsv(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckLineReading(attributes));
  HEADRACE_RETURN_IF_ERROR(DialectOf(attributes).status());
  HEADRACE_RETURN_IF_ERROR(CheckNewlines(attributes));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema fields, FieldsOf(attributes));
  for (const ir::Column& column : fields.columns) HEADRACE_RETURN_IF_ERROR(FieldsOfColumn(column).status());
  HEADRACE_RETURN_IF_ERROR(CheckMissingCsv(attributes, fields));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema chosen, ChosenFields(attributes, fields));
  const std::optional<std::vector<std::string>> names = GivenNames(attributes, fields);
  if (names.has_value()) HEADRACE_RETURN_IF_ERROR(RunsByNames(*names, fields, chosen.columns).status());
  HEADRACE_ASSIGN_OR_RETURN(const ClassTables classes, ClassTablesOf(attributes, fields, chosen.columns));
  return ir::Schema{WithClassNumbers(chosen.columns, classes)};
}

// The header of the files, and the file that it was found in.
struct Header {
  std::string line;
  std::string path;
};

absl::StatusOr<Header> FindHeader(const FileSystem& system, const MatchedFiles& files, std::optional<char> quote) {
  for (int64_t i = 0; i < files.paths.size(); ++i) {
    std::string path(files.paths[i]);
    HEADRACE_ASSIGN_OR_RETURN(std::optional<std::string> line, HeadedLines::HeaderOf(system, path, quote));
    if (line.has_value()) return Header{*std::move(line), std::move(path)};
  }
  return DataError("none of the ", files.paths.size(), " files has a header, as all are empty");
}

absl::StatusOr<std::vector<CsvRun>> RunsBelow(const Header& header, const CsvDialect& dialect, const ir::Schema& fields,
                                              const ir::Columns& columns) {
  absl::StatusOr<std::vector<std::string>> names = SplitLine(header.line, dialect);
  // A line that ends within a name does so by \n, whatever ends the lines of the file.
  if (names.ok()) {
    for (std::string& name : *names) absl::StrReplaceAll({{"\r\n", "\n"}}, &name);
  }
  absl::StatusOr<std::vector<CsvRun>> runs =
      names.ok() ? RunsByHeader(*names, fields, columns) : absl::StatusOr<std::vector<CsvRun>>(names.status());
  if (runs.ok()) return runs;
  absl::Status located = runs.status();
  AddErrorField(located, ErrorField::kFile, Cat(header.path, ", byte 0"));
  return located;
}

absl::StatusOr<LineRows> RowsOf(const OpArguments& arguments, const MatchedFiles& files) {
  const ir::Attributes& attributes = arguments.attributes;
  const FileSystem& system = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema fields, FieldsOf(attributes));
  const ir::Columns& columns = arguments.output.columns;
  CsvLines lines;
  LineRows rows;
  HEADRACE_ASSIGN_OR_RETURN(lines.dialect, DialectOf(attributes));
  rows.quote = QuoteOfLines(lines.dialect);
  rows.format = std::make_unique<LineFormat>(LineFormat::kLongest, rows.quote);
  const std::optional<std::vector<std::string>> names = GivenNames(attributes, fields);
  if (names.has_value()) {
    HEADRACE_ASSIGN_OR_RETURN(lines.runs, RunsByNames(*names, fields, columns));
  }
  if (attributes.Bool("header")) {
    HEADRACE_ASSIGN_OR_RETURN(Header header, FindHeader(system, files, rows.quote));
    absl::Status returns = CheckNoBareReturn(header.line, lines.dialect);
    if (!returns.ok()) AddErrorField(returns, ErrorField::kFile, Cat(header.path, ", byte 0"));
    HEADRACE_RETURN_IF_ERROR(returns);
    if (!names.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(lines.runs, RunsBelow(header, lines.dialect, fields, columns));
    }
    rows.rule = Cat("below ", header.line, "\n");
    rows.format = std::make_unique<HeadedLines>(std::move(header.line), std::move(header.path), rows.quote);
  }
  HEADRACE_ASSIGN_OR_RETURN(lines.classes, ClassTablesOf(attributes, fields, columns));
  lines.missing.resize(columns.size());
  if (!attributes.IsNone("missing")) {
    for (auto& [name, text] : attributes.Pairs("missing")) {
      const int column = arguments.output.IndexOf(name);
      if (column >= 0) lines.missing[static_cast<size_t>(column)] = text;
    }
  }
  const bool several = lines.runs.size() > 1 || lines.runs[0].fields > 1;
  Append(rows.rule, several ? "of several fields" : "of one field");
  if (rows.quote.has_value()) Append(rows.rule, " that goes on in ", std::string(1, *rows.quote));
  rows.columns = [columns, lines = std::move(lines)] { return MakeCsvColumns(columns, lines); };
  return rows;
}

std::vector<ir::Attribute> AttributesCsv() {
  std::vector<ir::Attribute> attributes = DeclareLineReading(
      {DeclareFields(),
       {.name = "header",
        .type = ir::AttributeType::kBool,
        .doc = "Whether each file begins with a line of names; it must be the same in all of them.",
        .default_value = "True"},
       {.name = "names",
        .type = ir::AttributeType::kStrings,
        .doc =
            "Names of the columns of a line, in order; None: those of the header, or without one those of the fields.",
        .default_value = "None",
        .nullable = true,
        .length = ir::ListLength{.least = 0},
        .hidden = true},
       {.name = "delimiter",
        .type = ir::AttributeType::kString,
        .doc = "The character between fields, such as \"\\t\" or \";\".",
        .default_value = "','"},
       {.name = "quote",
        .type = ir::AttributeType::kString,
        .doc = "The character around fields that hold a delimiter; it is doubled within them. None: there is none.",
        .default_value = "'\"'",
        .nullable = true},
       {.name = "missing",
        .type = ir::AttributeType::kPairs,
        .doc = "What empty fields stand for, by column: {\"age\": -1, \"height\": float(\"nan\")}; of numbers and "
               "bools also the fields NA, NaN, N/A and null.",
        .default_value = "None",
        .nullable = true},
       DeclareClassNames(),
       {.name = "newlines_in_values",
        .type = ir::AttributeType::kBool,
        .doc = "Whether text in quotes may have line ends. Each file is then read from its start on, as one split.",
        .default_value = "False"}});
  attributes.push_back(DeclareChosenFields());
  return attributes;
}

const OpRegistration csv_registration(
    {
        .name = "Csv",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of CSV files, one row each.",
        .doc =
            "A column has the values of one field of a line, or as a vector those of consecutive fields; other fields "
            "are left out. Fields are those of RFC 4180: text in quotes may have delimiters and doubled quotes, and "
            "with newlines_in_values line ends. Blank lines are left out, except in files of one column, where they "
            "are an empty field. "
            "Files, order, splits, index and keys are those of Text.\n"
            "Errors of a row, which name the file and the byte: another number of fields; quotes that are not closed "
            "in the line, or within a field without quotes; a field that is not of its column's type; an empty field "
            "of numbers or bools, unless `missing` says what it stands for. An empty text is a text. A header that "
            "differs from that of the first file is an error, too, and so is one with a carriage return in a field "
            "without quotes, as of files whose lines end with \\r alone.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesCsv(),
        .traits = {.random = true, .file_io = true},
        .python = LineSignature(
            {{"types", "types: FieldTypes | None = None",
              "A dict from name to dtype, or to (dtype, shape) for consecutive fields: {\"name\": str, \"pixels\": "
              "(\"float32\", (784,))}; a bool, an integer, float32, float64 or str. None: all columns, whose types are "
              "looked for, at once, in the first rows: int64 or uint64, float64, or str."},
             {"header", "header: bool = True"},
             {"columns", "columns: Sequence[str] | None = None",
              "The names of the columns in the order of their fields, in place of those of the header; names without a "
              "type stand for one field that is left out. None: those of the header, or without one those of `types`."},
             {"delimiter", "delimiter: str = \",\""},
             {"quote", "quote: str | None = '\"'"},
             {"missing", "missing: Mapping[str, Any] | None = None"}},
            {{"look", "look: int = 1000", "How many rows are looked at for types that are not given."},
             {"newlines_in_values", "newlines_in_values: bool = False"}},
            {ClassesParameter()}),
        .example = "hr.Csv(\"tables/*.csv\", {\"price\": \"float32\", \"city\": str})",
        .sample = {.attributes = {{"fields", "['value int64']"}, {"header", "False"}}},
        .infer = InferCsv,
    },
    LineFactories(RowsOf));

}  // namespace
}  // namespace headrace
