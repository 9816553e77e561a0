#include <memory>
#include <utility>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/source/records/record_reading.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

class RecordBytes : public ItemColumns {
 public:
  bool NeedsBytes(int /*field*/) const override { return true; }
  absl::StatusOr<BlockColumn> Make(int /*field*/, absl::Span<const Item> items) const override {
    return BytesColumn(items);
  }
};

absl::StatusOr<RecordRows> MakeRecordFileRows(const OpArguments& /*arguments*/) {
  return RecordRows{std::make_unique<RecordBytes>(), {0}};
}

const OpRegistration record_file_registration(
    {
        .name = "RecordFile",
        .role = ir::Role::kSource,
        .summary = "Gives the records of RecordIO files, one row each.",
        .doc = "Column: `record` (bytes: the payload of a record of dmlc-core's RecordIO, as MXNet writes it). Files "
               "come in the order in which they are named, each once. With `index` rows are read by their numbers: "
               "they can be shuffled as a whole, chosen by number and sharded evenly, and a row's key is its index. "
               "Without, the files are read in splits, and a row's key is its file's number mixed with its byte "
               "offset.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = DeclareRecordReading(),
        .traits = {.random = true, .file_io = true},
        .python = RecordSignature({}),
        .example = "hr.RecordFile(\"train.rec\", index=\"build\", shuffle=True)",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckRecordReading(attributes));
          return ir::Schema{{{"record", ir::ColumnType::Of(DType::kBytes, {})}}};
        },
        .writes = WrittenIndices,
    },
    RecordFactories(MakeRecordFileRows));

}  // namespace
}  // namespace headrace
