#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/whole_files.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/file_patterns.h"
#include "ops/source/item_source.h"

namespace headrace {
namespace {

enum FilesField { kFilesPath, kFilesData };

const ColumnChoice& ChoiceFiles() {
  static const auto* const choice = new ColumnChoice(
      {{"path", ir::ColumnType::Of(DType::kString, {})}, {"data", ir::ColumnType::Of(DType::kBytes, {})}}, 2);
  return *choice;
}

class ListedFiles : public WholeFiles {
 public:
  ListedFiles(const FileSystem* system, PathArena paths, std::vector<int64_t> sizes, std::vector<uint64_t> versions)
      : WholeFiles(system), paths_(std::move(paths)), sizes_(std::move(sizes)), versions_(std::move(versions)) {}

  uint64_t size() const override { return sizes_.size(); }

 private:
  std::string PathOf(uint64_t file) const override { return std::string(paths_[static_cast<int64_t>(file)]); }
  ListedFile ListedAs(uint64_t file) const override { return {sizes_[file], versions_[file]}; }

  const PathArena paths_;
  const std::vector<int64_t> sizes_;
  const std::vector<uint64_t> versions_;
};

class FileColumns : public ItemColumns {
 public:
  bool NeedsBytes(int field) const override { return field == kFilesData; }
  absl::StatusOr<BlockColumn> Make(int field, absl::Span<const Item> items) const override {
    return field == kFilesPath ? PathColumn(items) : BytesColumn(items);
  }
};

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeFiles(const OpArguments& arguments) {
  const FileSystem* const system = arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, MatchFiles(*system, "Files", arguments.attributes, Unlisted::kLeave));
  return std::make_unique<ItemSource>(
      std::make_unique<ListedFiles>(system, std::move(files.paths), std::move(files.sizes), std::move(files.versions)),
      std::make_unique<FileColumns>(), ChoiceFiles().Fields(arguments.output), std::move(files.fingerprint));
}

const OpRegistration files_registration(
    {
        .name = "Files",
        .version = 2,
        .role = ir::Role::kSource,
        .summary = "Gives the files that match patterns, each as one row.",
        .doc =
            "Columns: `path` (string) and `data` (bytes: the whole file). Each file comes once, in byte order of the "
            "paths; a row's key is its index in that order.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {DeclarePatterns(), DeclareShuffle(), ChoiceFiles().Declare()},
        .traits = {.indexed = true, .file_io = true},
        .example = "hr.Files(\"photos/**/*.jpg\")",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
          return ChoiceFiles().Infer(attributes);
        },
    },
    {.indexed_source = MakeFiles});

}  // namespace
}  // namespace headrace
