#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/files/glob.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/file_patterns.h"
#include "ops/source/listed_file.h"

namespace headrace {
namespace {

enum Field { kPath, kData };

const ColumnChoice& Choice() {
  static const auto* const choice = new ColumnChoice(
      {{"path", ir::ColumnType::Of(DType::kString, {})}, {"data", ir::ColumnType::Of(DType::kBytes, {})}}, 2);
  return *choice;
}

class FilesSource : public IndexedSource {
 public:
  FilesSource(MatchedFiles files, const OpArguments& arguments)
      : system_(arguments.run->files), files_(std::move(files)), fields_(Choice().Fields(arguments.output)) {}

  uint64_t size() const override { return static_cast<uint64_t>(files_.paths.size()); }

  absl::Status Read(uint64_t epoch, uint64_t index, Block& block) const override {
    auto path = std::make_shared<const std::string>(files_.paths[static_cast<int64_t>(index)]);
    absl::InlinedVector<Tensor, 2> columns;
    RowId id{epoch, index};
    for (int field : fields_) {
      absl::StatusOr<Tensor> value = field == kPath ? Tensor::CopyBytes(DType::kString, *path)
                                                    : ReadListed(*system_, *path, files_.sizes[index], id.changed);
      if (!value.ok()) {
        absl::Status status = std::move(value).status();
        AddErrorField(status, ErrorField::kFile, *path);
        return status;
      }
      columns.push_back(*std::move(value));
    }
    AppendRow(block, id, {std::move(path), static_cast<int64_t>(index), -1}, columns);
    return absl::OkStatus();
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    id = {epoch, position};
    const auto index = static_cast<int64_t>(position);
    provenance = {std::make_shared<const std::string>(files_.paths[index]), index, -1};
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back(files_.fingerprint);
  }

 private:
  const FileSystem* const system_;
  const MatchedFiles files_;
  const std::vector<int> fields_;
};

const OpRegistration registration(
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
        .attributes = {DeclarePatterns(), DeclareShuffle(), Choice().Declare()},
        .traits = {.indexed = true, .file_io = true},
        .example = "hr.Files(\"photos/**/*.jpg\")",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
          return Choice().Infer(attributes);
        },
    },
    {.indexed_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
      HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, MatchFiles(*arguments.run->files, "Files", arguments.attributes));
      return std::make_unique<FilesSource>(std::move(files), arguments);
    }});

}  // namespace
}  // namespace headrace
