#include "io/formats/recordio/image_list.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "engine/operator/operator.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/image_labels.h"
#include "ops/source/item_source.h"
#include "ops/source/pictures/named_files.h"

namespace headrace {
namespace {

enum ImageListField { kListImage, kListLabel, kListId, kListPath };

const ColumnChoice& ChoiceImageList() {
  static const auto* const choice = new ColumnChoice({{"image", ir::ColumnType::Of(DType::kBytes, {})},
                                                      {"label", ir::ColumnType::Of(DType::kFloat32, {})},
                                                      {"id", ir::ColumnType::Of(DType::kInt64, {})},
                                                      {"path", ir::ColumnType::Of(DType::kString, {})}},
                                                     2);
  return *choice;
}

using Lines = std::shared_ptr<const LabelList>;

class NamedImageColumns : public ItemColumns {
 public:
  NamedImageColumns(Lines lines, int64_t label_width) : lines_(std::move(lines)), label_width_(label_width) {}

  bool NeedsBytes(int field) const override { return field == kListImage; }

  absl::StatusOr<BlockColumn> Make(int field, absl::Span<const Item> items) const override {
    const ImageList& list = lines_->list();
    switch (field) {
      case kListImage:
        return BytesColumn(items);
      case kListLabel:
        return LabelColumn(
            items.size(), label_width_, [&](size_t i) { return list.labels(items[i].number).size(); },
            [&](size_t i, float* target) {
              const absl::Span<const float> labels = list.labels(items[i].number);
              std::copy(labels.begin(), labels.end(), target);
            });
      case kListId:
        return NumberColumn<int64_t>(items,
                                     [&](const Item& item) { return static_cast<int64_t>(list.index(item.number)); });
      case kListPath:
        return PathColumn(items);
    }
    return InternalError("ImageList has no column number ", field);
  }

 private:
  const Lines lines_;
  const int64_t label_width_;
};

absl::Status CheckLines(const ImageList& list, const std::string& listing, int64_t label_width) {
  if (list.size() == 0) return DataError(listing, ": it names no image: the list is empty");
  for (size_t i = 0; i < list.size(); ++i) {
    if (list.index(i) > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return DataError(listing, ": the index of ", list.path(i), " is ", list.index(i), ", and ids are int64");
    }
    absl::Status labels = CheckLabels(list.labels(i).size(), label_width);
    if (labels.ok()) continue;
    AddErrorField(labels, ErrorField::kFile, Cat(listing, ", index ", list.index(i), ", ", list.path(i)));
    return labels;
  }
  return absl::OkStatus();
}

uint64_t HashOf(const ImageList& list, uint64_t hash) {
  for (size_t i = 0; i < list.size(); ++i) {
    const absl::Span<const float> labels = list.labels(i);
    hash = MixKey(HashBytes(list.path(i), hash), list.index(i));
    hash = HashBytes({reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(float)}, hash);
  }
  return hash;
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeImageList(const OpArguments& arguments) {
  const FileSystem* const files = arguments.run->files;
  const std::string listing = arguments.attributes.Path("listing");
  const int64_t label_width = arguments.attributes.Int("label_width");
  HEADRACE_ASSIGN_OR_RETURN(const Lines lines, ReadLabelList(*files, listing));
  HEADRACE_RETURN_IF_ERROR(CheckLines(lines->list(), listing, label_width));
  const std::string root = arguments.attributes.Path("root");
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<NamedFiles> images,
                            NamedFiles::Make(files, {.count = lines->list().size(),
                                                     .path = [lines](size_t i) { return lines->list().path(i); },
                                                     .root = root,
                                                     .key = Cat(listing, "\n", root),
                                                     .listing = listing}));
  const uint64_t hash = HashOf(lines->list(), images->HashOfSizes());
  return std::make_unique<ItemSource>(std::move(images), std::make_unique<NamedImageColumns>(lines, label_width),
                                      ChoiceImageList().Fields(arguments.output),
                                      Fingerprint{Cat("ImageList ", listing), lines->list().size(), hash});
}

absl::StatusOr<ir::Schema> InferImageList(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  for (const std::string_view name : {"listing", "root"}) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul(name, attributes.Path(name)));
  }
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema schema, ChoiceImageList().Infer(attributes));
  HEADRACE_RETURN_IF_ERROR(SetLabelType(attributes, schema));
  return schema;
}

const OpRegistration image_list_registration(
    {
        .name = "ImageList",
        .role = ir::Role::kSource,
        .summary = "Gives the images that an image list of MXNet names.",
        .doc = "A list (.lst) has a line for each image: index, labels and path, between tabs. Columns: `image` (the "
               "bytes of the file) and `label` (float32: shape (), or (label_width,)); on request `id` (int64: the "
               "line's index) and `path` (string). Rows come in the order of the lines; a row's key is its line's "
               "number, from 0.\n"
               "Errors: a list without a line, lines that are not as the format says, an index that comes twice, "
               "another number of labels "
               "than label_width. A file that cannot be read is an error of its row.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "listing", .type = ir::AttributeType::kString, .doc = "The list.", .path = true},
                       {.name = "root",
                        .type = ir::AttributeType::kString,
                        .doc = "The folder to which paths in the list are relative; empty: the working folder.",
                        .default_value = "''",
                        .path = true},
                       DeclareShuffle(),
                       DeclareLabelWidth(),
                       ChoiceImageList().Declare()},
        .traits = {.indexed = true, .file_io = true},
        .example = "hr.ImageList(\"train.lst\", \"photos\", shuffle=True)",
        .infer = InferImageList,
    },
    {.indexed_source = MakeImageList});

}  // namespace
}  // namespace headrace
