#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/whole_files.h"
#include "io/listings/image_listing.h"
#include "io/listings/kept_listings.h"
#include "ops/order/permute.h"
#include "ops/source/column_choice.h"
#include "ops/source/item_source.h"

namespace headrace {
namespace {

enum ImageFolderField { kFolderImage, kFolderLabel, kFolderPath, kFolderIndex };

const ColumnChoice& ChoiceImageFolder() {
  static const auto* const choice = new ColumnChoice({{"image", ir::ColumnType::Of(DType::kBytes, {})},
                                                      {"label", ir::ColumnType::Of(DType::kInt32, {})},
                                                      {"path", ir::ColumnType::Of(DType::kString, {})},
                                                      {"index", ir::ColumnType::Of(DType::kInt64, {})}},
                                                     2);
  return *choice;
}

using Listing = std::shared_ptr<const ImageListing>;

class ListedImages : public WholeFiles {
 public:
  ListedImages(const FileSystem* system, Listing listing) : WholeFiles(system), listing_(std::move(listing)) {}

  uint64_t size() const override { return static_cast<uint64_t>(listing_->size()); }

 private:
  std::string PathOf(uint64_t file) const override { return listing_->Path(static_cast<int64_t>(file)); }
  ListedFile ListedAs(uint64_t file) const override {
    const auto i = static_cast<int64_t>(file);
    return {listing_->file_size(i), listing_->file_version(i)};
  }
  void NoteChange() const override { KeptListings::OfProcess().Forget(listing_.get()); }

  const Listing listing_;
};

class ImageColumns : public ItemColumns {
 public:
  explicit ImageColumns(Listing listing) : listing_(std::move(listing)) {}

  bool NeedsBytes(int field) const override { return field == kFolderImage; }
  absl::StatusOr<BlockColumn> Make(int field, absl::Span<const Item> items) const override {
    const auto index_of = [](const Item& item) { return static_cast<int64_t>(item.number); };
    switch (field) {
      case kFolderImage:
        return BytesColumn(items);
      case kFolderLabel:
        return NumberColumn<int32_t>(items, [&](const Item& item) { return listing_->label(index_of(item)); });
      case kFolderPath:
        return PathColumn(items);
      case kFolderIndex:
        return NumberColumn<int64_t>(items, index_of);
    }
    return InternalError("ImageFolder has no column number ", field);
  }

 private:
  const Listing listing_;
};

absl::StatusOr<std::map<std::string, int32_t>> ClassMap(const ir::Attributes& attributes) {
  std::map<std::string, int32_t> classes;
  if (attributes.IsNone("classes")) return classes;
  for (const auto& [name, text] : attributes.PathPairs("classes")) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the class", name));
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

absl::StatusOr<ir::Schema> InferImageFolder(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(ClassMap(attributes).status());
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("root", attributes.Path("root")));
  if (!attributes.IsNone("listing")) HEADRACE_RETURN_IF_ERROR(CheckNoNul("listing", attributes.Path("listing")));
  return ChoiceImageFolder().Infer(attributes);
}

absl::StatusOr<Listing> List(const FileSystem& files, const ir::Attributes& attributes, bool writes) {
  ImageListingOptions options;
  options.extensions = attributes.Strings("extensions");
  options.allow_empty = attributes.Bool("allow_empty");
  HEADRACE_ASSIGN_OR_RETURN(options.class_map, ClassMap(attributes));
  const std::string saved = attributes.IsNone("listing") ? std::string() : attributes.Path("listing");
  return KeptListings::OfProcess().Get(files, attributes.Path("root"), options,
                                       attributes.IsNone("listing") ? nullptr : &saved, writes);
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeImageFolder(const OpArguments& arguments) {
  const FileSystem* const system = arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const Listing listing, List(*system, arguments.attributes, arguments.run->writes));
  const auto images = static_cast<uint64_t>(listing->size());
  return std::make_unique<ItemSource>(
      std::make_unique<ListedImages>(system, listing), std::make_unique<ImageColumns>(listing),
      ChoiceImageFolder().Fields(arguments.output),
      Fingerprint{Cat("ImageFolder ", listing->folder()), images, listing->fingerprint()});
}

const OpRegistration image_folder_registration(
    {
        .name = "ImageFolder",
        .version = 2,
        .role = ir::Role::kSource,
        .summary = "Gives the images of a folder that holds one folder per class.",
        .doc =
            "Columns: `image` (the bytes of the file), `label` (int32: classes numbered by name from 0); on request "
            "`path` (string) and `index` (int64: the row's number in the listing). All images below a class "
            "folder belong to that class, including those in subfolders; symbolic links are followed; pipes, sockets, "
            "devices and names that begin with a dot are skipped, unless `classes` names such a folder. Rows are in "
            "order of class name, then path, both in byte order; a "
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
                        .doc = "File name endings of images, in upper or lower case.",
                        .default_value = "('.jpg', '.jpeg', '.png')",
                        .length = ir::ListLength{}},
                       {.name = "classes",
                        .type = ir::AttributeType::kPairs,
                        .doc = "Labels of the classes to read, by folder name; None: all folders, numbered by name.",
                        .default_value = "None",
                        .nullable = true,
                        .any_bytes = true},
                       {.name = "allow_empty",
                        .type = ir::AttributeType::kBool,
                        .doc = "Accept class folders without images, which are otherwise an error.",
                        .default_value = "False"},
                       ChoiceImageFolder().Declare(),
                       {.name = "listing",
                        .type = ir::AttributeType::kString,
                        .doc = "A file that keeps the listing: trusted if it exists, written if it does not.",
                        .default_value = "None",
                        .nullable = true,
                        .path = true}},
        .traits = {.indexed = true, .file_io = true},
        .example = "hr.ImageFolder(\"photos/\", shuffle=True)",
        .infer = InferImageFolder,
        .writes = [](const ir::Attributes& attributes) -> std::vector<std::string> {
          if (attributes.IsNone("listing")) return {};
          return {Cat("the listing ", attributes.Path("listing"))};
        },
    },
    {.indexed_source = MakeImageFolder});

}  // namespace
}  // namespace headrace
