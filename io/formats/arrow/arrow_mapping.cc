#include "io/formats/arrow/arrow_mapping.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/arrow/arrow_metadata.h"
#include "io/formats/arrow/dictionary_texts.h"

namespace headrace {
namespace {

constexpr size_t kMostDepth = 64;
constexpr size_t kMostLists = 16;
constexpr int64_t kMostFixedElements = int64_t{1} << 40;
constexpr std::string_view kAlone = "data";  // the column of an array that is not a batch

std::string_view FieldName(const ArrowSchema& schema) { return schema.name == nullptr ? "" : schema.name; }

bool IsNull(const ArrowSchema& schema) { return std::string_view(schema.format) == "n"; }

bool IsStruct(const ArrowSchema& schema) {
  return schema.dictionary == nullptr && std::string_view(schema.format) == "+s";
}

absl::Status CheckSchema(const ArrowSchema* schema, std::string_view name) {
  const auto damaged = [&](std::string_view what) {
    return DataError("the Arrow schema is damaged: the field \"", name, "\" ", what);
  };
  if (schema == nullptr) return damaged("is not there");
  if (schema->release == nullptr) return damaged("was released");
  if (schema->format == nullptr) return damaged("has no format");
  if (schema->n_children < 0) return damaged("has a negative number of children");
  if (schema->n_children > 0 && schema->children == nullptr) return damaged("has no children");
  return absl::OkStatus();
}

// A field that is no struct, or a struct of a file.
struct MappedField {
  const ArrowSchema* schema;
  std::string name;
  std::vector<int> path;
};

// Whether a field of a struct of a file has this name and type, or the type null, which libraries give to what they
// find in no row.
bool IsFileField(const ArrowSchema* field, std::string_view name, DType dtype) {
  if (field == nullptr || field->format == nullptr || field->dictionary != nullptr) return false;
  if (FieldName(*field) != name) return false;
  if (IsNull(*field)) return true;
  const absl::StatusOr<ArrowFormat> format = ParseArrowFormat(field->format);
  return format.ok() && format->dtype == dtype;
}

// The children `bytes` and `path` of a struct of a file, as ArrowColumn::files.
std::optional<std::array<int, 2>> FileFields(const ArrowSchema& schema) {
  if (schema.n_children != 2) return std::nullopt;
  const int bytes = IsFileField(schema.children[0], "bytes", DType::kBytes) ? 0 : 1;
  std::array<int, 2> found = {bytes, 1 - bytes};
  if (!IsFileField(schema.children[found[0]], "bytes", DType::kBytes)) return std::nullopt;
  if (!IsFileField(schema.children[found[1]], "path", DType::kString)) return std::nullopt;
  for (int& child : found) {
    if (IsNull(*schema.children[child])) child = -1;
  }
  return found[0] >= 0 || found[1] >= 0 ? std::make_optional(found) : std::nullopt;
}

// Pushes the fields of a struct so that the first one is taken first.
absl::Status PushFields(const MappedField& of, std::vector<MappedField>& open) {
  for (int64_t i = of.schema->n_children - 1; i >= 0; --i) {
    const ArrowSchema* const child = of.schema->children[i];
    HEADRACE_RETURN_IF_ERROR(CheckSchema(child, of.name));
    MappedField field{child, std::string(FieldName(*child)), of.path};
    if (!of.name.empty()) field.name = Cat(of.name, ".", field.name);
    field.path.push_back(static_cast<int>(i));
    open.push_back(std::move(field));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MappedField>> FieldsOf(const ArrowSchema& schema) {
  HEADRACE_RETURN_IF_ERROR(CheckSchema(&schema, FieldName(schema)));
  std::vector<MappedField> found, open;
  if (!IsStruct(schema)) return std::vector<MappedField>{{&schema, std::string(kAlone), {}}};
  HEADRACE_RETURN_IF_ERROR(PushFields({&schema, "", {}}, open));
  while (!open.empty()) {
    const MappedField field = std::move(open.back());
    open.pop_back();
    if (!IsStruct(*field.schema) || FileFields(*field.schema).has_value()) {
      found.push_back(field);
      continue;
    }
    if (field.path.size() >= kMostDepth) {
      return UnsupportedError(ColumnText(field.name), "lies in more than ", kMostDepth, " structs");
    }
    HEADRACE_RETURN_IF_ERROR(PushFields(field, open));
  }
  for (const MappedField& field : found) {
    if (!IsUtf8(field.name)) {
      return DataError("the Arrow schema is damaged: the name of a column is not UTF-8: ", field.name);
    }
  }
  return found;
}

// Fields that are not chosen may have equal names, as a column `a.b` beside a struct `a` with a field `b`.
absl::Status CheckNames(const std::vector<MappedField>& chosen) {
  std::set<std::string_view> names;
  for (const MappedField& field : chosen) {
    if (names.insert(field.name).second) continue;
    return GraphError("the Arrow schema has two columns \"", field.name, "\"; rename one");
  }
  return absl::OkStatus();
}

absl::Status ForColumn(const std::string& name, const absl::Status& error) {
  return Reworded(error, Cat(ColumnText(name), ToStd(error.message())));
}

// Goes through list types to the type of their values.
absl::StatusOr<const ArrowSchema*> ReadLists(const ArrowSchema* schema, ArrowColumn& column) {
  int64_t elements = 1;
  while (true) {
    HEADRACE_RETURN_IF_ERROR(CheckSchema(schema, column.name));
    absl::StatusOr<ArrowFormat> format = ParseArrowFormat(schema->format);
    if (!format.ok()) return ForColumn(column.name, format.status());
    const bool fixed = format->layout == ArrowLayout::kFixedList;
    if (!fixed && !IsList(format->layout)) {
      column.values = *std::move(format);
      return schema;
    }
    if (schema->n_children != 1) {
      return DataError("the Arrow schema is damaged: the list \"", column.name, "\" has ", schema->n_children,
                       " types of elements");
    }
    if (column.lists.size() >= kMostLists) {
      return UnsupportedError(ColumnText(column.name), "nests more than ", kMostLists, " lists");
    }
    const int64_t width = fixed ? std::max<int64_t>(format->width, 1) : 1;
    if (width > kMostFixedElements / elements) {
      return UnsupportedError(ColumnText(column.name), "has lists of more than ", kMostFixedElements, " values");
    }
    elements *= width;
    column.shape.push_back(fixed ? format->width : ArrowColumn::kAnyLength);
    column.lists.push_back(*std::move(format));
    schema = schema->children[0];
  }
}

absl::Status ReadDictionary(const ArrowSchema& schema, ArrowColumn& column) {
  HEADRACE_RETURN_IF_ERROR(CheckSchema(schema.dictionary, column.name));
  if (column.values.layout != ArrowLayout::kNumbers || !IsInteger(column.values.dtype)) {
    return DataError("the Arrow schema is damaged: the indices of the dictionary \"", column.name,
                     "\" are no whole numbers: ", schema.format);
  }
  absl::StatusOr<ArrowFormat> format = ParseArrowFormat(schema.dictionary->format);
  if (!format.ok()) return ForColumn(column.name, format.status());
  if (format->dtype != DType::kString) {
    return UnsupportedError(ColumnText(column.name),
                            "is a dictionary whose values are not texts; cast the column to "
                            "the type of its values");
  }
  column.kind = ArrowKind::kDictionary;
  column.dictionary = *std::move(format);
  column.dtype = DType::kInt64;
  return absl::OkStatus();
}

// Arrays, and those in lists, have the axes that their type names in place of that of the innermost list.
absl::Status ReadShape(const ArrowChoices& choices, ArrowColumn& column) {
  const auto found = choices.shapes.find(column.name);
  if (found == choices.shapes.end()) return absl::OkStatus();
  if (column.lists.empty() || column.lists.back().layout != ArrowLayout::kFixedList) {
    return UnsupportedError(ColumnText(column.name),
                            "is an array of fixed shape, but not stored as a list of one length");
  }
  const int64_t width = column.lists.back().width;
  // The product of the axes that are not 0 is kept small, too.
  int64_t count = 1;
  bool empty = false;
  bool fits = true;
  for (const int64_t axis : found->second) {
    empty |= axis == 0;
    if (axis == 0) continue;
    fits = fits && axis > 0 && axis <= kMostFixedElements / count;
    if (fits) count *= axis;
  }
  if (!fits || (empty ? 0 : count) != width) {
    return DataError("the Arrow schema is damaged: ", ColumnText(column.name), "holds arrays ",
                     ShapeName(found->second), " in lists of ", width, " values");
  }
  column.shape.pop_back();
  column.shape.insert(column.shape.end(), found->second.begin(), found->second.end());
  return absl::OkStatus();
}

absl::StatusOr<ArrowColumn> FileColumn(const MappedField& field, const std::array<int, 2>& files) {
  ArrowColumn column;
  column.name = field.name;
  column.path = field.path;
  column.kind = ArrowKind::kFiles;
  column.dtype = DType::kBytes;
  column.files = files;
  if (files[0] >= 0) {
    HEADRACE_ASSIGN_OR_RETURN(column.values, ParseArrowFormat(field.schema->children[files[0]]->format));
  }
  if (files[1] >= 0) {
    HEADRACE_ASSIGN_OR_RETURN(column.paths, ParseArrowFormat(field.schema->children[files[1]]->format));
  }
  return column;
}

absl::Status ReadClasses(const ArrowChoices& choices, ArrowColumn& column) {
  const auto given = choices.classes.find(column.name);
  if (given == choices.classes.end()) return absl::OkStatus();
  const bool texts = column.kind == ArrowKind::kValues && column.dtype == DType::kString;
  if (!texts && column.kind != ArrowKind::kDictionary) {
    return GraphError(ColumnText(column.name), "is given classes, and holds neither texts nor a dictionary of texts");
  }
  if (texts) column.kind = ArrowKind::kClassTexts;
  column.dtype = DType::kInt64;
  column.classes = std::make_shared<const ArrowClasses>(given->second);
  return absl::OkStatus();
}

absl::Status ReadFill(const ArrowChoices& choices, ArrowColumn& column) {
  const auto given = choices.fills.find(column.name);
  if (given == choices.fills.end()) return absl::OkStatus();
  const bool fits = column.ragged() ? given->second.empty()
                                    : IsVariableLength(column.dtype) || given->second.size() == ItemSize(column.dtype);
  if (!fits) {
    return GraphError("missing has a value for ", ColumnText(column.name), "that the column does not hold; give ",
                      column.ragged() ? "[], an empty list" : DTypeName(column.dtype));
  }
  column.fill = given->second;
  return absl::OkStatus();
}

absl::StatusOr<ArrowColumn> ValueColumn(const MappedField& field, const ArrowChoices& choices) {
  ArrowColumn column;
  column.name = field.name;
  column.path = field.path;
  HEADRACE_ASSIGN_OR_RETURN(const ArrowSchema* const values, ReadLists(field.schema, column));
  if (column.values.layout == ArrowLayout::kStruct) {
    return UnsupportedError(ColumnText(column.name), "holds lists of structs; give a column of lists for each field");
  }
  column.dtype = column.values.dtype;
  column.unit = column.values.unit;
  if (values->dictionary != nullptr) HEADRACE_RETURN_IF_ERROR(ReadDictionary(*values, column));
  HEADRACE_RETURN_IF_ERROR(ReadShape(choices, column));
  return column;
}

absl::StatusOr<ArrowColumn> ColumnOf(const MappedField& field, const ArrowChoices& choices) {
  const auto files = IsStruct(*field.schema) ? FileFields(*field.schema) : std::nullopt;
  HEADRACE_ASSIGN_OR_RETURN(ArrowColumn column,
                            files.has_value() ? FileColumn(field, *files) : ValueColumn(field, choices));
  HEADRACE_RETURN_IF_ERROR(ReadClasses(choices, column));
  HEADRACE_RETURN_IF_ERROR(ReadFill(choices, column));
  return column;
}

std::string ListedNames(const std::vector<MappedField>& fields) {
  return absl::StrJoin(fields, ", ", [](std::string* text, const MappedField& each) { text->append(each.name); });
}

// Whether the field lies in the struct of that name.
bool IsWithin(const MappedField& field, std::string_view name) {
  const std::string_view own = field.name;
  return own.size() > name.size() && own.substr(0, name.size()) == name && own[name.size()] == '.';
}

absl::StatusOr<std::vector<MappedField>> ChosenFields(std::vector<MappedField> fields, const ArrowChoices& choices) {
  if (!choices.columns.has_value()) return fields;
  std::vector<MappedField> chosen;
  std::set<std::vector<int>> taken;
  for (const std::string& name : *choices.columns) {
    bool found = false;
    // The name of a column may be that of a struct, too, where it has a dot.
    const bool whole =
        std::any_of(fields.begin(), fields.end(), [&](const MappedField& field) { return field.name == name; });
    for (const MappedField& field : fields) {
      if (whole ? field.name != name : !IsWithin(field, name)) continue;
      found = true;
      if (!taken.insert(field.path).second) return GraphError("columns names \"", field.name, "\" twice");
      chosen.push_back(field);
    }
    if (!found) {
      return GraphError("columns names \"", name, "\", and there is no such column (", ListedNames(fields), ")");
    }
  }
  return chosen;
}

absl::Status CheckNamed(std::string_view argument, const std::string& name, const std::vector<ArrowColumn>& columns) {
  for (const ArrowColumn& column : columns) {
    if (column.name == name) return absl::OkStatus();
  }
  const std::string listed =
      absl::StrJoin(columns, ", ", [](std::string* text, const ArrowColumn& each) { text->append(each.name); });
  return GraphError(argument, " names \"", name, "\", and there is no such column (", listed, ")");
}

// Of the field, or of the elements of its lists, as there are lists of arrays.
absl::Status ReadExtension(const ArrowSchema& schema, ArrowField& field) {
  const ArrowSchema* at = &schema;
  for (size_t depth = 0; depth <= kMostLists && CheckSchema(at, field.name).ok(); ++depth) {
    HEADRACE_ASSIGN_OR_RETURN(const auto metadata, ArrowMetadata(at->metadata));
    for (const auto& [key, value] : metadata) {
      if (key == "ARROW:extension:name") field.extension = value;
      if (key == "ARROW:extension:metadata") field.extension_metadata = value;
    }
    const bool list = std::string_view(at->format).substr(0, 2) == "+l" || std::string_view(at->format) == "+L";
    if (!field.extension.empty() || !list || at->n_children != 1) return absl::OkStatus();
    at = at->children[0];
  }
  return absl::OkStatus();
}

// The array at the end of a column's path; null: it is not there.
const ArrowArray* ArrayAt(const ArrowArray& root, const ArrowColumn& column) {
  const ArrowArray* array = &root;
  for (size_t step = 0; step < column.path.size() + column.lists.size(); ++step) {
    const int64_t child = step < column.path.size() ? column.path[step] : 0;
    if (array == nullptr || array->children == nullptr || child >= array->n_children) return nullptr;
    array = array->children[child];
  }
  return array;
}

}  // namespace

std::string ColumnText(std::string_view name) { return Cat("column \"", name, "\" "); }

bool ArrowColumn::fixed_shape() const { return std::find(shape.begin(), shape.end(), kAnyLength) == shape.end(); }

absl::StatusOr<ArrowMapping> ArrowMapping::Of(const ArrowSchema& schema, const ArrowChoices& choices) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<MappedField> fields, FieldsOf(schema));
  HEADRACE_ASSIGN_OR_RETURN(fields, ChosenFields(std::move(fields), choices));
  HEADRACE_RETURN_IF_ERROR(CheckNames(fields));
  if (fields.empty()) return GraphError("there are no columns; give a table with at least one");
  ArrowMapping mapping;
  if (IsStruct(schema)) mapping.root_children_ = schema.n_children;
  for (const MappedField& field : fields) {
    HEADRACE_ASSIGN_OR_RETURN(ArrowColumn column, ColumnOf(field, choices));
    mapping.columns_.push_back(std::move(column));
  }
  for (const auto& [name, fill] : choices.fills)
    HEADRACE_RETURN_IF_ERROR(CheckNamed("missing", name, mapping.columns_));
  for (const auto& [name, names] : choices.classes) {
    HEADRACE_RETURN_IF_ERROR(CheckNamed("classes", name, mapping.columns_));
  }
  return mapping;
}

bool ArrowMapping::lacks_classes() const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const ArrowColumn& each) { return each.has_classes() && each.classes == nullptr; });
}

absl::Status ArrowMapping::AdoptDictionaries(const ArrowArray& first) {
  for (ArrowColumn& column : columns_) {
    if (!column.has_classes() || column.classes != nullptr) continue;
    const ArrowArray* const array = ArrayAt(first, column);
    if (array == nullptr || array->dictionary == nullptr) {
      return DataError("the Arrow array is damaged: ", ColumnText(column.name), "has no dictionary");
    }
    HEADRACE_ASSIGN_OR_RETURN(std::vector<std::string> names,
                              DictionaryTexts(column.name, column.dictionary, *array->dictionary));
    column.classes = std::make_shared<const ArrowClasses>(std::move(names));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ArrowField>> ArrowFields(const ArrowSchema& schema) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<MappedField> fields, FieldsOf(schema));
  std::vector<ArrowField> found;
  for (const MappedField& field : fields) {
    ArrowField each;
    each.name = field.name;
    // What is refused is refused where the column is read.
    const absl::StatusOr<ArrowColumn> column = ColumnOf(field, {});
    if (column.ok()) {
      each.dtype = column->dtype;
      each.list = !column->lists.empty();
      each.dictionary = column->kind == ArrowKind::kDictionary;
    }
    HEADRACE_RETURN_IF_ERROR(ReadExtension(*field.schema, each));
    found.push_back(std::move(each));
  }
  return found;
}

}  // namespace headrace
