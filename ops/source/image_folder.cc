#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/listings/image_listing.h"
#include "io/listings/kept_listings.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/listed_file.h"

namespace headrace {
namespace {

enum Field { kImage, kLabel, kPath, kIndex };

const ColumnChoice& Choice() {
  static const auto* const choice = new ColumnChoice({{"image", ir::ColumnType::Of(DType::kBytes, {})},
                                                      {"label", ir::ColumnType::Of(DType::kInt32, {})},
                                                      {"path", ir::ColumnType::Of(DType::kString, {})},
                                                      {"index", ir::ColumnType::Of(DType::kInt64, {})}},
                                                     2);
  return *choice;
}

class ImageFolderSource : public IndexedSource {
 public:
  ImageFolderSource(std::shared_ptr<const ImageListing> listing, const OpArguments& arguments)
      : files_(arguments.run->files), listing_(std::move(listing)), fields_(Choice().Fields(arguments.output)) {}

  uint64_t size() const override { return static_cast<uint64_t>(listing_->size()); }

  absl::Status Read(uint64_t epoch, uint64_t index, Block& block) const override {
    auto path = std::make_shared<const std::string>(listing_->Path(static_cast<int64_t>(index)));
    absl::InlinedVector<Tensor, 2> columns;
    RowId id{epoch, index};
    for (int field : fields_) {
      absl::StatusOr<Tensor> value = Value(static_cast<Field>(field), static_cast<int64_t>(index), *path, id.changed);
      if (!value.ok()) {
        absl::Status status = std::move(value).status();
        AddErrorField(status, ErrorField::kFile, *path);
        return status;
      }
      columns.push_back(*std::move(value));
    }
    if (id.changed) KeptListings::OfProcess().Forget(listing_.get());
    AppendRow(block, id, {std::move(path), static_cast<int64_t>(index), -1}, columns);
    return absl::OkStatus();
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    id = {epoch, position};
    const auto index = static_cast<int64_t>(position);
    provenance = {std::make_shared<const std::string>(listing_->Path(index)), index, -1};
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({Cat("ImageFolder ", listing_->folder()), size(), listing_->fingerprint()});
  }

 private:
  absl::StatusOr<Tensor> Value(Field field, int64_t index, const std::string& path, bool& changed) const {
    switch (field) {
      case kImage:
        return ReadListed(*files_, path, listing_->file_size(index), changed);
      case kLabel:
        return Tensor::Scalar(listing_->label(index));
      case kPath:
        return Tensor::CopyBytes(DType::kString, path);
      case kIndex:
        return Tensor::Scalar(index);
    }
    return InternalError("ImageFolder has no column number ", static_cast<int>(field));
  }

  const FileSystem* const files_;
  const std::shared_ptr<const ImageListing> listing_;
  const std::vector<int> fields_;
};

absl::StatusOr<std::map<std::string, int32_t>> ClassMap(const ir::Attributes& attributes) {
  std::map<std::string, int32_t> classes;
  if (attributes.IsNone("classes")) return classes;
  for (const auto& [name, text] : attributes.Pairs("classes")) {
    int32_t label = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), label);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      return GraphError("classes gives \"", name, "\" the label '", text, "'; a label is a whole number of 32 bits");
    }
    classes[name] = label;
  }
  if (classes.empty()) return GraphError("classes is empty; name at least one class, or leave it out");
  return classes;
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(ClassMap(attributes).status());
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("root", attributes.String("root")));
  if (!attributes.IsNone("listing")) HEADRACE_RETURN_IF_ERROR(CheckNoNul("listing", attributes.String("listing")));
  return Choice().Infer(attributes);
}

absl::StatusOr<std::shared_ptr<const ImageListing>> List(const FileSystem& files, const ir::Attributes& attributes) {
  ImageListingOptions options;
  options.extensions = attributes.Strings("extensions");
  options.allow_empty = attributes.Bool("allow_empty");
  HEADRACE_ASSIGN_OR_RETURN(options.class_map, ClassMap(attributes));
  const std::string* saved = attributes.IsNone("listing") ? nullptr : &attributes.String("listing");
  return KeptListings::OfProcess().Get(files, attributes.String("root"), options, saved);
}

const OpRegistration registration(
    {
        .name = "ImageFolder",
        .version = 2,
        .role = ir::Role::kSource,
        .summary = "Gives the pictures of a folder that holds one folder per class.",
        .doc = "Columns: `image` (the bytes of the file), `label` (int32: classes numbered by name from 0); on request "
               "`path` (string) and `index` (int64: the row's number in the listing). All pictures below a class "
               "folder belong to that class, including those in subfolders; symbolic links are followed, and pipes, "
               "sockets and devices are skipped. Rows are in order of class name, then path, both in byte order; a "
               "row's key is its index.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "root",
                        .type = ir::AttributeType::kString,
                        .doc = "The folder that holds the class folders.",
                        .path = true},
                       DeclareShuffle(),
                       {.name = "extensions",
                        .type = ir::AttributeType::kStrings,
                        .doc = "File name endings of pictures, in upper or lower case.",
                        .default_value = "('.jpg', '.jpeg', '.png')"},
                       {.name = "classes",
                        .type = ir::AttributeType::kPairs,
                        .doc = "Labels of the classes to read, by folder name; None: all folders, numbered by name.",
                        .default_value = "None",
                        .nullable = true},
                       {.name = "allow_empty",
                        .type = ir::AttributeType::kBool,
                        .doc = "Accept class folders without pictures, which are otherwise an error.",
                        .default_value = "False"},
                       Choice().Declare(),
                       {.name = "listing",
                        .type = ir::AttributeType::kString,
                        .doc = "A file that keeps the listing: trusted if it exists, written if it does not.",
                        .default_value = "None",
                        .nullable = true,
                        .path = true}},
        .traits = {.indexed = true, .file_io = true},
        .example = "hr.ImageFolder(\"photos/\", shuffle=True)",
        .infer = Infer,
    },
    {.indexed_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
      HEADRACE_ASSIGN_OR_RETURN(auto listing, List(*arguments.run->files, arguments.attributes));
      return std::make_unique<ImageFolderSource>(std::move(listing), arguments);
    }});

}  // namespace
}  // namespace headrace
