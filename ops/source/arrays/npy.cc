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
#include "ops/source/file_patterns.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

absl::StatusOr<ir::Schema> InferNpy(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  for (const std::string& text : attributes.Paths("paths")) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
  return InferFixedColumns(attributes);
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeNpy(const OpArguments& arguments) {
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, MatchInOrder(files, arguments.attributes.Paths("paths"), ".npy"));
  const std::vector<std::string> paths = TextsOf(matched);
  const std::string name = Cat("npy\n", absl::StrJoin(paths, "\n"));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const FixedTable> table,
                            KeptTable<FixedTable>(files, name, paths, [&] { return MakeNpyTable(files, paths); }));
  return MakeFixedSource(arguments, "Npy", std::move(table));
}

const OpRegistration npy_registration(
    {
        .name = "Npy",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of .npy files, as numpy.save writes them, along their first axis.",
        .doc =
            "One column, `data`, or one for each field of a structured array, by its name. Only the rows that are "
            "asked "
            "for are read. Numbers and bools of either byte order are given in the machine's; S and V are bytes, S "
            "without the zeros at its end; U is a text. Several files give their rows one after the other, and have "
            "one dtype and one row shape. A row's key is its number over all files.\n"
            "Errors, which name the file: pickled objects, which are never read; complex numbers and times; more than "
            "one axis in Fortran's order; no axis; a file that ends before its array does, or after it; another dtype "
            "or row shape than the first file's.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "paths",
                        .type = ir::AttributeType::kStrings,
                        .doc = "Files, patterns with `*`, `?`, `[abc]` and `**`, or folders, which stand for the files "
                               "in them that end with .npy: their rows come in this order.",
                        .length = ir::ListLength{},
                        .path = true},
                       DeclareFixedColumns("The columns to give, in this order; None: all."),
                       DeclareShuffle(),
                       DeclareFixedFields()},
        .traits = {.indexed = true, .file_io = true},
        .python = {.parameters = "paths: str | PathLike[str] | Sequence[str | PathLike[str]], "
                                 "columns: Sequence[str] | None = None, shuffle: bool = False, *, "
                                 "seed: int | None = None, name: str | None = None",
                   .docs = {{"paths"}, {"columns"}, {"shuffle"}, {"seed"}, {"name"}}},
        .example = "hr.Npy(\"images.npy\", shuffle=True)",
        .sample = {.attributes = {{"fields", "['data int64 ()']"}}},
        .infer = InferNpy,
    },
    {.indexed_source = MakeNpy});

}  // namespace
}  // namespace headrace
