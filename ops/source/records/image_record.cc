#include "io/formats/recordio/image_record.h"

#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/recordio/face_set.h"
#include "ops/source/column_choice.h"
#include "ops/source/image_labels.h"
#include "ops/source/records/record_reading.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

enum Field { kImage, kLabel, kId };

const ColumnChoice& Choice() {
  static const auto* const choice = new ColumnChoice({{"image", ir::ColumnType::Of(DType::kBytes, {})},
                                                      {"label", ir::ColumnType::Of(DType::kFloat32, {})},
                                                      {"id", ir::ColumnType::Of(DType::kInt64, {})}},
                                                     3);
  return *choice;
}

// Of bytes that Check found to be an image record.
ImageRecord RecordOf(std::string_view bytes) { return *ParseImageRecord(bytes); }

class ImageRecordColumns : public ItemColumns {
 public:
  // `list`: whose labels take the place of those in the records; null: there is none.
  ImageRecordColumns(const OpArguments& arguments, std::shared_ptr<const LabelList> list)
      : label_width_(arguments.attributes.Int("label_width")),
        gives_label_(arguments.output.Find("label") != nullptr),
        gives_id_(arguments.output.Find("id") != nullptr),
        list_path_(list == nullptr ? "" : arguments.attributes.Path("path_imglist")),
        list_(std::move(list)) {}

  bool NeedsBytes(int /*field*/) const override { return true; }

  absl::Status Check(const Item& item) const override {
    HEADRACE_ASSIGN_OR_RETURN(const ImageRecord record, ParseImageRecord(item.bytes));
    if (gives_id_ && record.header.id > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return DataError("the record's id is ", record.header.id, ", and ids are int64");
    }
    if (!gives_label_) return absl::OkStatus();
    if (list_ == nullptr) return CheckLabels(record.labels(), label_width_);
    const std::optional<size_t> line = list_->Find(record.header.id);
    if (!line.has_value()) return DataError(list_path_, " has no line for the record's id ", record.header.id);
    return CheckLabels(list_->list().labels(*line).size(), label_width_);
  }

  absl::StatusOr<BlockColumn> Make(int field, absl::Span<const Item> items) const override {
    switch (field) {
      case kImage:
        return BytesColumn(items, [](std::string_view bytes) { return RecordOf(bytes).image; });
      case kLabel:
        return list_ == nullptr ? OwnLabels(items) : ListedLabels(items);
      case kId:
        return NumberColumn<int64_t>(
            items, [](const Item& item) { return static_cast<int64_t>(RecordOf(item.bytes).header.id); });
    }
    return InternalError("ImageRecord has no column number ", field);
  }

 private:
  absl::StatusOr<BlockColumn> OwnLabels(absl::Span<const Item> items) const {
    return LabelColumn(
        items.size(), label_width_, [&](size_t i) { return RecordOf(items[i].bytes).labels(); },
        [&](size_t i, float* target) { RecordOf(items[i].bytes).CopyLabels(target); });
  }

  absl::StatusOr<BlockColumn> ListedLabels(absl::Span<const Item> items) const {
    const auto labels_of = [&](size_t i) {
      return list_->list().labels(*list_->Find(RecordOf(items[i].bytes).header.id));
    };
    return LabelColumn(
        items.size(), label_width_, [&](size_t i) { return labels_of(i).size(); },
        [&](size_t i, float* target) {
          const absl::Span<const float> labels = labels_of(i);
          std::copy(labels.begin(), labels.end(), target);
        });
  }

  const int64_t label_width_;
  const bool gives_label_;
  const bool gives_id_;
  const std::string list_path_;
  const std::shared_ptr<const LabelList> list_;
};

// Whether a record is an image, and not what face-recognition sets have beside them.
bool IsImage(std::string_view bytes) {
  const absl::StatusOr<ImageRecord> record = ParseImageRecord(bytes);
  return !record.ok() || !FaceSetHeaderOf(*record).has_value();
}

absl::StatusOr<RecordRows> MakeImageRecordRows(const OpArguments& arguments) {
  std::shared_ptr<const LabelList> list;
  if (!arguments.attributes.IsNone("path_imglist")) {
    HEADRACE_ASSIGN_OR_RETURN(list, ReadLabelList(*arguments.run->files, arguments.attributes.Path("path_imglist")));
  }
  return RecordRows{std::make_unique<ImageRecordColumns>(arguments, std::move(list)), Choice().Fields(arguments.output),
                    ChooseImages, IsImage};
}

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = DeclareRecordReading();
  attributes.push_back(DeclareLabelWidth());
  attributes.push_back({.name = "path_imglist",
                        .type = ir::AttributeType::kString,
                        .doc = "An image list (.lst) whose labels take the place of those in the records, by id; a "
                               "record that it does not name is an error.",
                        .default_value = "None",
                        .nullable = true,
                        .path = true});
  attributes.push_back(Choice().Declare());
  return attributes;
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckRecordReading(attributes));
  if (!attributes.IsNone("path_imglist")) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("path_imglist", attributes.Path("path_imglist")));
  }
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema schema, Choice().Infer(attributes));
  HEADRACE_RETURN_IF_ERROR(SetLabelType(attributes, schema));
  return schema;
}

const OpRegistration image_record_registration(
    {
        .name = "ImageRecord",
        .role = ir::Role::kSource,
        .summary = "Gives the images of MXNet's image records, as im2rec packs them.",
        .doc = "Columns: `image` (bytes: the encoded image), `label` (float32: shape (), or (label_width,)) and `id` "
               "(int64: the record's, which im2rec takes from its list). Files, order and keys are those of "
               "RecordFile. The header and the identities of face-recognition sets are no rows: with an index these "
               "are the records that the one of key 0 says, without all that have no image and two labels which are "
               "whole numbers in order.\n"
               "Errors of a row: a record that is no image record, another number of labels than label_width.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = Attributes(),
        .traits = {.random = true, .file_io = true},
        .python = RecordSignature({{"label_width", "label_width: int = 1"},
                                   {"path_imglist", "path_imglist: str | PathLike[str] | None = None"},
                                   {"columns", "columns: Sequence[str] | None = None"}}),
        .example = "hr.ImageRecord(\"train.rec\", index=\"train.idx\", shuffle=True)",
        .infer = Infer,
        .writes = WrittenIndices,
    },
    RecordFactories(MakeImageRecordRows));

}  // namespace
}  // namespace headrace
