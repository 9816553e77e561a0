#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/npy/npy_table.h"
#include "ops/order/permute.h"
#include "ops/source/arrays/fixed_source.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

absl::StatusOr<ir::Schema> InferNpz(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", attributes.Path("path")));
  return InferFixedColumns(attributes);
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeNpz(const OpArguments& arguments) {
  const FileSystem& files = *arguments.run->files;
  const std::string path = arguments.attributes.Path("path");
  const NpzChoice choice{false, arguments.output.Names()};
  const std::string name = Cat("npz\n", path, "\n", absl::StrJoin(choice.columns, "\n"));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const FixedTable> table, KeptTable<FixedTable>(files, name, {path}, [&] {
                              return MakeNpzTable(files, path, choice);
                            }));
  return MakeFixedSource(arguments, "Npz", std::move(table));
}

const OpRegistration npz_registration(
    {
        .name = "Npz",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of the arrays in an .npz file, along their first axis.",
        .doc = "One column for each array, by its name; the fields of a structured array x are columns `x.field`. All "
               "arrays that are given have equally many rows. What numpy.savez stored is read by row; arrays that "
               "savez_compressed compressed are unpacked into memory when a run begins, and their checksums checked. "
               "Members that are not arrays are left out. Types are those of Npy. A row's key is its number.\n"
               "Errors, which name file and member: those of Npy; arrays of different lengths, of which columns may "
               "choose some; members that are encrypted, or compressed by anything but deflate; a damaged directory.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "path", .type = ir::AttributeType::kString, .doc = "The file.", .path = true},
                       DeclareFixedColumns("The columns to give, in this order; None: all, in the file's order. Arrays "
                                           "that no column needs are not looked at."),
                       DeclareShuffle(),
                       DeclareFixedFields()},
        .traits = {.indexed = true, .file_io = true},
        .python = {.parameters = "path: str | PathLike[str], columns: Sequence[str] | None = None, "
                                 "shuffle: bool = False, *, seed: int | None = None, name: str | None = None",
                   .docs = {{"path"}, {"columns"}, {"shuffle"}, {"seed"}, {"name"}}},
        .example = "hr.Npz(\"train.npz\", columns=[\"image\", \"label\"], shuffle=True)",
        .sample = {.attributes = {{"fields", "['x int64 ()']"}}},
        .infer = InferNpz,
    },
    {.indexed_source = MakeNpz});

}  // namespace
}  // namespace headrace
