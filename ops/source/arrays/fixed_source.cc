#include "ops/source/arrays/fixed_source.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "ops/source/column_choice.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/read_one.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

absl::StatusOr<std::vector<FixedPlace>> PlacesOf(const ir::Schema& columns, const FixedTable& table) {
  std::unordered_map<std::string_view, FixedPlace, SeededHash> by_name;
  for (size_t part = 0; part < table.parts().size(); ++part) {
    const std::vector<FixedField>& fields = table.parts()[part].fields;
    for (size_t field = 0; field < fields.size(); ++field) by_name.emplace(fields[field].name, FixedPlace{part, field});
  }
  std::vector<FixedPlace> places;
  for (const ir::Column& column : columns.columns) {
    const auto found = by_name.find(column.name);
    const bool there = found != by_name.end();
    ir::ColumnType type;
    if (there) type = TypeOfFixedField(table.parts()[found->second.part].fields[found->second.field]);
    if (!there || type != column.type) {
      return DataError(there ? Cat("the field \"", column.name, "\" is ", ir::TypeName(type))
                             : Cat("there is no field \"", column.name, "\""),
                       ", and it was ", ir::TypeName(column.type),
                       " when the pipeline was made; make the pipeline again");
    }
    places.push_back(found->second);
  }
  return places;
}

}  // namespace

FixedSource::FixedSource(const FileSystem* files, std::shared_ptr<const FixedTable> table,
                         std::vector<FixedPlace> places, Fingerprint fingerprint)
    : reader_(files, table), columns_(table, std::move(places)), fingerprint_(std::move(fingerprint)) {}

absl::Status FixedSource::Read(const RowPosition& wanted, Block& block) const { return ReadOne(*this, wanted, block); }

Provenance FixedSource::ProvenanceOf(uint64_t row) const {
  const RandomAccessReader::Location location = reader_.LocationOf(reader_.ItemOf(columns_.parts()[0], row));
  return {reader_.Path(location.file), location.record, location.offset};
}

// All rows of a part, then all of the next one: neighbours are read together.
std::vector<uint64_t> FixedSource::ItemsOf(absl::Span<const uint64_t> rows) const {
  std::vector<uint64_t> items;
  items.reserve(columns_.parts().size() * rows.size());
  for (const size_t part : columns_.parts()) {
    for (const uint64_t row : rows) items.push_back(reader_.ItemOf(part, row));
  }
  return items;
}

void FixedSource::StartRows(const RowPositions& wanted) const { reader_.Start(ItemsOf(wanted.positions)); }

size_t FixedSource::ReadParts(absl::Span<const uint64_t> rows, Contents& contents, absl::Status& wrong) const {
  size_t count = rows.size();
  while (count > 0) {
    const std::vector<uint64_t> items = ItemsOf(rows.first(count));
    contents.assign(items.size(), {});
    absl::Status failed;
    const size_t read = reader_.Read(items, absl::MakeSpan(contents), failed);
    if (read == items.size()) return count;
    // Of the rows before it, later parts were not read.
    wrong = std::move(failed);
    count = read % count;
  }
  return 0;
}

absl::Status FixedSource::ReadRows(const RowPositions& wanted, Block& block) const {
  absl::Status wrong;
  Contents contents;
  const size_t read = ReadParts(wanted.positions, contents, wrong);
  if (read == 0) return wrong;
  std::vector<std::string_view> bytes(contents.size());
  for (size_t i = 0; i < contents.size(); ++i) bytes[i] = contents[i].bytes;
  absl::Status damage;
  const size_t good = columns_.Make(bytes, read, block.columns, damage);
  if (!damage.ok()) {
    AddErrorField(damage, ErrorField::kFile, DescribeProvenance(ProvenanceOf(wanted.positions[good])));
    wrong = std::move(damage);
  }
  for (size_t i = 0; i < good; ++i) {
    bool changed = false;
    for (size_t at = i; at < contents.size(); at += read) changed = changed || contents[at].changed;
    block.ids.push_back({wanted.epoch, wanted.positions[i], false, changed});
    block.provenances.push_back(ProvenanceOf(wanted.positions[i]));
  }
  return wrong;
}

void FixedSource::Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const {
  id = {epoch, position};
  provenance = ProvenanceOf(position);
}

absl::StatusOr<ir::Schema> InferFixedColumns(const ir::Attributes& attributes) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::Columns fields, TypedFieldsOf(attributes));
  if (fields.empty()) return GraphError("fields is empty; name at least one");
  return ColumnChoice(fields, fields.size()).Infer(attributes);
}

ir::Attribute DeclareFixedFields() {
  return {.name = "fields",
          .type = ir::AttributeType::kStrings,
          .doc = "The fields that the rows have, each as its name, its type and its shape.",
          .length = ir::ListLength{.least = 0},
          .hidden = true};
}

ir::Attribute DeclareFixedColumns(std::string_view doc) {
  return {.name = "columns",
          .type = ir::AttributeType::kStrings,
          .doc = std::string(doc),
          .default_value = "None",
          .nullable = true,
          .length = ir::ListLength{.least = 0},
          .chooses_columns = true};
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeFixedSource(const OpArguments& arguments, std::string_view op,
                                                               std::shared_ptr<const FixedTable> table) {
  const FileSystem* const files = arguments.run->files;
  absl::StatusOr<std::vector<FixedPlace>> places = PlacesOf(arguments.output, *table);
  if (!places.ok()) {
    absl::Status error = std::move(places).status();
    AddErrorField(error, ErrorField::kFile, table->files()[0].path);
    return error;
  }
  PathArena paths;
  std::vector<std::string> texts;
  for (const FixedTable::File& file : table->files()) {
    paths.Add(file.path);
    texts.push_back(file.path);
  }
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles matched, Measure(*files, op, std::move(paths), texts));
  CoverTable(*table, matched.fingerprint);
  return std::make_unique<FixedSource>(files, std::move(table), *std::move(places), std::move(matched.fingerprint));
}

}  // namespace headrace
