#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/fixed/fixed_table.h"
#include "ops/order/permute.h"
#include "ops/source/arrays/fixed_source.h"
#include "ops/source/declared_fields.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

constexpr int64_t kMostHeadBytes = int64_t{1} << 40;
constexpr int64_t kMostRowBytes = int64_t{1} << 40;

absl::Status CheckParts(const std::vector<int64_t>& numbers, size_t parts, std::string_view what) {
  for (const int64_t number : numbers) {
    if (number < 0 || number >= static_cast<int64_t>(parts)) {
      return GraphError(what, " names the part ", number, " of ", parts);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<FixedField> FieldOfText(std::string_view text, int64_t offset, bool big_endian) {
  HEADRACE_ASSIGN_OR_RETURN(std::optional<ir::Column> column, ParseTypedName(text));
  if (!column.has_value() || ItemSize(column->type.dtype) == 0 || !column->type.shape.has_value()) {
    return GraphError("the field \"", text, "\" is not a bool or a number of a shape");
  }
  FixedField field;
  field.name = column->name;
  field.dtype = column->type.dtype;
  field.shape = *column->type.shape;
  field.offset = offset;
  field.value_bytes = static_cast<int64_t>(ItemSize(field.dtype));
  field.swapped = big_endian && field.value_bytes > 1;
  int64_t bytes = field.value_bytes;
  for (const int64_t size : field.shape) {
    if (size < 1 || bytes > kMostRowBytes / size) return GraphError("the field \"", text, "\" has no fixed size");
    bytes *= size;
  }
  if (offset < 0 || offset > kMostRowBytes) return GraphError("the field \"", text, "\" begins at byte ", offset);
  return field;
}

absl::StatusOr<FixedLayout> LayoutOf(const ir::Attributes& attributes) {
  const std::vector<int64_t> head_bytes = attributes.Ints("head_bytes");
  const std::vector<int64_t> row_bytes = attributes.Ints("row_bytes");
  const std::vector<std::string> paths = attributes.Paths("paths");
  const std::vector<int64_t> path_parts = attributes.Ints("path_parts");
  const std::vector<std::string> fields = attributes.Strings("fields");
  const std::vector<int64_t> field_parts = attributes.Ints("field_parts");
  const std::vector<int64_t> offsets = attributes.Ints("field_offsets");
  if (head_bytes.size() != row_bytes.size() || paths.size() != path_parts.size() ||
      fields.size() != field_parts.size() || fields.size() != offsets.size()) {
    return GraphError("the lists of parts, of paths or of fields differ in length");
  }
  HEADRACE_RETURN_IF_ERROR(CheckParts(path_parts, row_bytes.size(), "path_parts"));
  HEADRACE_RETURN_IF_ERROR(CheckParts(field_parts, row_bytes.size(), "field_parts"));
  FixedLayout layout;
  for (size_t i = 0; i < row_bytes.size(); ++i) {
    if (head_bytes[i] < 0 || head_bytes[i] > kMostHeadBytes || row_bytes[i] < 1 || row_bytes[i] > kMostRowBytes) {
      return GraphError("the part ", i, " has a header of ", head_bytes[i], " bytes and rows of ", row_bytes[i]);
    }
    layout.parts.push_back({head_bytes[i], row_bytes[i]});
  }
  const bool big_endian = attributes.Bool("big_endian");
  for (size_t i = 0; i < fields.size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(FixedField field, FieldOfText(fields[i], offsets[i], big_endian));
    FixedLayout::Part& part = layout.parts[static_cast<size_t>(field_parts[i])];
    if (field.bytes() > part.row_bytes - field.offset) {
      return GraphError("the field \"", field.name, "\" reaches over the row's ", part.row_bytes, " bytes");
    }
    part.fields.push_back(std::move(field));
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", paths[i]));
    layout.parts[static_cast<size_t>(path_parts[i])].paths.push_back(paths[i]);
  }
  const bool some_empty = std::any_of(layout.parts.begin(), layout.parts.end(),
                                      [](const FixedLayout::Part& part) { return part.paths.empty(); });
  if (layout.parts.empty() || some_empty) return GraphError("a part has no file; each part has one at least");
  return layout;
}

absl::StatusOr<ir::Schema> InferFixedRows(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(LayoutOf(attributes).status());
  return InferFixedColumns(attributes);
}

// What tells two tables of the same files apart.
std::string NameOfLayout(const ir::Attributes& attributes) {
  const auto numbers = [&](const char* name) { return absl::StrJoin(attributes.Ints(name), ","); };
  return Cat("fixed\n", absl::StrJoin(attributes.Paths("paths"), "\n"), "\n", numbers("path_parts"), "\n",
             numbers("head_bytes"), "\n", numbers("row_bytes"), "\n", absl::StrJoin(attributes.Strings("fields"), "\n"),
             "\n", numbers("field_parts"), "\n", numbers("field_offsets"), "\n", attributes.Bool("big_endian") ? 1 : 0);
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeFixedRows(const OpArguments& arguments) {
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const FixedLayout layout, LayoutOf(arguments.attributes));
  HEADRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<const FixedTable> table,
      KeptTable<FixedTable>(files, NameOfLayout(arguments.attributes), arguments.attributes.Paths("paths"),
                            [&] { return MakeFixedTable(files, layout); }));
  return MakeFixedSource(arguments, "FixedRows", std::move(table));
}

ir::Attribute NumbersOfParts(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ir::AttributeType::kInts, .doc = std::move(doc), .length = ir::ListLength{}};
}

const OpRegistration fixed_rows_registration(
    {
        .name = "FixedRows",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of files without a description, whose rows all have equally many bytes.",
        .doc = "The files are in parts, with fields of their own: a row is one row of each part, as an image and its "
               "label in two files. Files that are compressed by gzip are unpacked into memory when a run begins.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "paths",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The files, those of each part in the order of their rows.",
                        .length = ir::ListLength{},
                        .path = true},
                       NumbersOfParts("path_parts", "The part of each file."),
                       NumbersOfParts("head_bytes",
                                      "Of each part: bytes at the beginning of its files that are no row."),
                       NumbersOfParts("row_bytes", "Of each part: bytes of a row."),
                       {.name = "fields",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The fields, each as its name, its dtype and its shape.",
                        .length = ir::ListLength{}},
                       NumbersOfParts("field_parts", "The part of each field."),
                       NumbersOfParts("field_offsets", "Where each field begins in a row of its part, in bytes."),
                       {.name = "big_endian",
                        .type = ir::AttributeType::kBool,
                        .doc = "Whether numbers are big-endian in the files.",
                        .default_value = "False"},
                       DeclareFixedColumns("The fields to give, in this order; None: all."),
                       DeclareShuffle()},
        .traits = {.indexed = true, .file_io = true},
        .python_module = "internal",
        .sample = {.attributes = {{"paths", "['x.bin']"},
                                  {"path_parts", "[0]"},
                                  {"head_bytes", "[0]"},
                                  {"row_bytes", "[1]"},
                                  {"fields", "['x uint8 ()']"},
                                  {"field_parts", "[0]"},
                                  {"field_offsets", "[0]"}}},
        .infer = InferFixedRows,
    },
    {.indexed_source = MakeFixedRows});

}  // namespace
}  // namespace headrace
