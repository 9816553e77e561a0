#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/mds/mds_table.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/mds/mds_source.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

// Of the budget, for shards that are kept.
constexpr int64_t kUnpackedShare = 4;

absl::StatusOr<ir::Schema> InferMds(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", attributes.Path("path")));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Columns fields, TypedFieldsOf(attributes));
  if (fields.empty()) return GraphError("fields is empty; MDS samples have one column at least");
  return ColumnChoice(fields, fields.size()).Infer(attributes);
}

// Whether values of the encoding can be of the type.
bool FitsMdsType(const MdsEncoding& encoding, const ir::ColumnType& type) {
  if (encoding.dtype != DType::kUnknown && encoding.dtype != type.dtype) return false;
  const bool array = encoding.kind == MdsEncoding::Kind::kArray || encoding.kind == MdsEncoding::Kind::kPixels;
  if (!array || encoding.shaped) return ir::FitsType(type, type.dtype, encoding.shape);
  return true;
}

// Of the columns that are given. kData: the shards have other columns by now.
absl::StatusOr<std::vector<MdsField>> FieldsOfMds(const ir::Schema& output, const MdsTable& table) {
  std::vector<MdsField> fields;
  for (const ir::Column& wanted : output.columns) {
    const std::vector<MdsColumn>& columns = table.columns();
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const MdsColumn& column) { return column.name == wanted.name; });
    if (found == columns.end()) {
      return DataError("there is no column \"", wanted.name,
                       "\", and there was one when the pipeline was made; make the pipeline again");
    }
    absl::StatusOr<MdsEncoding> encoding = ParseMdsEncoding(found->encoding);
    if (!encoding.ok()) {
      return Reworded(encoding.status(), Cat("the column \"", wanted.name, "\": ", encoding.status().message()));
    }
    if (!FitsMdsType(*encoding, wanted.type)) {
      return DataError("the column \"", wanted.name, "\" has the encoding ", found->encoding, ", and it was ",
                       ir::TypeName(wanted.type), " when the pipeline was made; make the pipeline again");
    }
    fields.push_back({static_cast<size_t>(found - columns.begin()), *std::move(encoding), wanted.type});
  }
  return fields;
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeMds(const OpArguments& arguments) {
  const FileSystem* const files = arguments.run->files;
  const std::string folder = arguments.attributes.Path("path");
  const bool verify = arguments.attributes.Bool("verify");
  const std::string index = JoinPath(folder, kMdsIndexName);
  absl::StatusOr<MdsIndex> listed = ReadMdsIndex(*files, folder);
  if (!listed.ok()) return listed.status();
  std::vector<std::string> paths = {index};
  for (const MdsShard& shard : listed->shards) {
    for (const MdsFile* const form : {&shard.raw, &shard.packed}) {
      const std::string path = JoinPath(folder, form->name);
      if (!form->name.empty() && files->Stat(path).ok()) paths.push_back(path);
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const MdsTable> table,
                            KeptTable<MdsTable>(*files, Cat(folder, verify ? "\nverified" : ""), std::move(paths),
                                                [&] { return MakeMdsTable(*files, folder, verify); }));
  PathArena shards;
  for (const MdsTable::Shard& shard : table->shards()) shards.Add(shard.path);
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles matched, Measure(*files, "Mds", std::move(shards), {folder}));
  absl::StatusOr<std::vector<MdsField>> fields = FieldsOfMds(arguments.output, *table);
  if (!fields.ok()) {
    absl::Status error = std::move(fields).status();
    AddErrorField(error, ErrorField::kFile, index);
    return error;
  }
  CoverTable(*table, matched.fingerprint);
  const int64_t most_unpacked = std::min(UnpackedShards::kMostKept, arguments.run->memory / kUnpackedShare);
  return std::make_unique<MdsSource>(files, std::move(table), *std::move(fields), most_unpacked,
                                     std::move(matched.fingerprint));
}

const OpRegistration mds_registration(
    {
        .name = "Mds",
        .role = ir::Role::kSource,
        .summary = "Gives the samples of a folder of MDS shards, as MosaicML Streaming writes them.",
        .doc =
            "Columns: those of the folder's index.json. bytes, jpeg and png are bytes; str, json and str_decimal are "
            "texts; int, intN, uintN, floatN, str_int and str_float are numbers of shape (); arrays have the dtype and "
            "the rank of the first sample's, and pil is uint8 (height, width, channels) of the modes L, RGB and RGBA. "
            "The shards' names may lead to folders below this one, as those of a merged index do. A row's key is its "
            "number over all shards.\n"
            "A sample of a plain shard is read by its bytes. A shard that is compressed, by zstd, gz or bz2, is "
            "unpacked into memory where the unpacked one is not beside it; those that were read last are kept, up to "
            "256 MiB and a quarter of the memory, so that a shuffle over many of them unpacks a shard for almost each "
            "row.\n"
            "Errors: a shard that is missing, or of another size or number of samples than the index says; shards of "
            "different columns; pkl, which is pickled objects and never read, and other encodings, if `columns` does "
            "not leave them out. Errors of a row, which name shard, sample and column: sizes that do not make the "
            "sample, values that are not of their encoding.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "path",
                        .type = ir::AttributeType::kString,
                        .doc = "The folder that has index.json.",
                        .path = true},
                       {.name = "columns",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The columns to give, in this order; None: all, in the order of the index.",
                        .default_value = "None",
                        .nullable = true,
                        .length = ir::ListLength{.least = 0},
                        .chooses_columns = true},
                       DeclareShuffle(),
                       {.name = "verify",
                        .type = ir::AttributeType::kBool,
                        .doc = "Whether all shards are read when a run begins, and compared with the hashes that the "
                               "index has of them, sha1 or xxh64.",
                        .default_value = "False"},
                       {.name = "fields",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The columns that the samples have, each as its name and its type.",
                        .length = ir::ListLength{.least = 0},
                        .hidden = true}},
        .traits = {.indexed = true, .file_io = true},
        .python = {.parameters = "path: str | PathLike[str], columns: Sequence[str] | None = None, "
                                 "shuffle: bool = False, verify: bool = False, *, seed: int | None = None, "
                                 "name: str | None = None",
                   .docs = {{"path"}, {"columns"}, {"shuffle"}, {"verify"}, {"seed"}, {"name"}}},
        .example = "hr.Mds(\"mds/train\", columns=[\"image\", \"label\"], shuffle=True)",
        .sample = {.attributes = {{"fields", "['value int64 ()']"}}},
        .infer = InferMds,
    },
    {.indexed_source = MakeMds});

}  // namespace
}  // namespace headrace
