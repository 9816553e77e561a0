#include "io/formats/mindrecord/header_values.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

using HeaderJson = nlohmann::json;

// Where in the header a value stands: in which object or list.
enum class Place : uint8_t {
  kHeader,
  kSchemas,
  kSchema,
  kBlobFields,
  kFields,
  kField,
  kShape,
  kIndexFields,
  kIndexField,
  kPages,
  kPage,
  kGroups,
  kGroup,
  kAddresses,
  kOther,  // what no reader needs
};

// Takes the values as the parser finds them. A key that comes again begins its value anew. Values of other types than
// expected are left out: ParseMindHeader misses them.
class HeaderCollector : public nlohmann::json_sax<HeaderJson> {
 public:
  explicit HeaderCollector(HeaderValues& values) : values_(values) {}

  // Why the parser ended before the text did.
  absl::Status wrong() const {
    if (lacks_something_) {
      return DataError("the header says too little of page ", values_.pages.size() - 1,
                       ": page_id, page_type, page_type_id and page_size belong to each");
    }
    return DataError("the header is not JSON: what is wrong begins at its byte ", wrong_at_);
  }
  bool is_object() const { return is_object_; }

  bool null() override { return TakeUnexpected(); }
  bool boolean(bool) override { return TakeUnexpected(); }
  bool number_float(double, const std::string&) override { return TakeUnexpected(); }
  bool binary(binary_t&) override { return TakeUnexpected(); }
  bool number_integer(int64_t value) override { return TakeWhole(value); }
  bool number_unsigned(uint64_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return TakeUnexpected();
    return TakeWhole(static_cast<int64_t>(value));
  }
  bool string(std::string& value) override {
    if (std::string* const target = Text(); target != nullptr) *target = std::move(value);
    return true;
  }
  bool key(std::string& value) override {
    key_ = std::move(value);
    return true;
  }
  bool start_object(size_t) override {
    is_object_ = is_object_ || path_.empty();
    path_.push_back(path_.empty() ? Place::kHeader : ObjectHere());
    return true;
  }
  bool start_array(size_t) override {
    path_.push_back(path_.empty() ? Place::kOther : ListHere());
    return true;
  }
  bool end_object() override {
    // At once: as the list of pages grows with the text, so does the memory.
    lacks_something_ = place() == Place::kPage && !IsComplete(values_.pages.back());
    path_.pop_back();
    return !lacks_something_;
  }
  bool end_array() override {
    path_.pop_back();
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    wrong_at_ = position == 0 ? 0 : position - 1;
    return false;
  }

 private:
  static bool IsComplete(const HeaderValues::Page& page) {
    return page.id >= 0 && page.type_id >= 0 && page.bytes >= 0 && !page.type.empty();
  }

  Place place() const { return path_.empty() ? Place::kOther : path_.back(); }

  // The object that begins here.
  Place ObjectHere() {
    switch (place()) {
      case Place::kSchemas:
        ++values_.schemas;
        return Place::kSchema;
      case Place::kSchema:
        if (key_ != "schema") return Place::kOther;
        values_.fields.clear();
        return Place::kFields;
      case Place::kFields:
        values_.fields.push_back({.name = key_});
        return Place::kField;
      case Place::kIndexFields:
        return Place::kIndexField;
      case Place::kPages:
        values_.pages.emplace_back();
        return Place::kPage;
      case Place::kGroups:
        values_.pages.back().groups.emplace_back();
        return Place::kGroup;
      default:
        return Place::kOther;
    }
  }

  // The list that begins here.
  Place ListHere() {
    switch (place()) {
      case Place::kHeader:
        return ListOfHeader();
      case Place::kSchema:
        if (key_ != "blob_fields") return Place::kOther;
        values_.blob_fields.clear();
        return Place::kBlobFields;
      case Place::kField:
        if (key_ != "shape") return Place::kOther;
        values_.fields.back().shaped = true;
        values_.fields.back().shape.clear();
        return Place::kShape;
      case Place::kPage:
        if (key_ != "row_group_ids") return Place::kOther;
        values_.pages.back().groups.clear();
        return Place::kGroups;
      case Place::kShape:
        values_.fields.back().shape_is_whole = false;
        return Place::kOther;
      default:
        return Place::kOther;
    }
  }

  Place ListOfHeader() {
    if (key_ == "schema") {
      values_.schemas = 0;
      values_.fields.clear();
      values_.blob_fields.clear();
      return Place::kSchemas;
    }
    if (key_ == "index_fields") {
      values_.index_fields.clear();
      return Place::kIndexFields;
    }
    if (key_ == "page") {
      values_.pages.clear();
      return Place::kPages;
    }
    if (key_ == "shard_addresses") {
      values_.shard_addresses.clear();
      return Place::kAddresses;
    }
    return Place::kOther;
  }

  // The text that is expected here; null: none.
  std::string* Text() {
    switch (place()) {
      case Place::kHeader:
        return key_ == "version" ? &values_.version : nullptr;
      case Place::kField:
        return key_ == "type" ? &values_.fields.back().type : nullptr;
      case Place::kBlobFields:
        return &values_.blob_fields.emplace_back();
      case Place::kIndexField:
        return key_ == "index_field" ? &values_.index_fields.emplace_back() : nullptr;
      case Place::kPage:
        return key_ == "page_type" ? &values_.pages.back().type : nullptr;
      case Place::kAddresses:
        return &values_.shard_addresses.emplace_back();
      case Place::kShape:
        values_.fields.back().shape_is_whole = false;
        return nullptr;
      default:
        return nullptr;
    }
  }

  // The number that is expected here; null: none.
  int64_t* Number() {
    switch (place()) {
      case Place::kHeader:
        return key_ == "header_size" ? &values_.header_size
               : key_ == "page_size" ? &values_.page_size
               : key_ == "shard_id"  ? &values_.shard_id
                                     : nullptr;
      case Place::kPage:
        return NumberOfPage(values_.pages.back());
      case Place::kGroup: {
        HeaderValues::Group& group = values_.pages.back().groups.back();
        return key_ == "id" ? &group.id : key_ == "offset" ? &group.offset : nullptr;
      }
      default:
        return nullptr;
    }
  }

  int64_t* NumberOfPage(HeaderValues::Page& page) const {
    if (key_ == "page_id") return &page.id;
    if (key_ == "page_type_id") return &page.type_id;
    if (key_ == "start_row_id") return &page.start_row;
    if (key_ == "end_row_id") return &page.end_row;
    return key_ == "page_size" ? &page.bytes : nullptr;
  }

  bool TakeWhole(int64_t value) {
    if (place() == Place::kShape) {
      values_.fields.back().shape.push_back(value);
    } else if (int64_t* const target = Number(); target != nullptr && value >= 0) {
      *target = value;
    }
    return true;
  }

  bool TakeUnexpected() {
    if (place() == Place::kShape) values_.fields.back().shape_is_whole = false;
    return true;
  }

  HeaderValues& values_;
  std::vector<Place> path_;
  std::string key_;  // of the value that comes
  size_t wrong_at_ = 0;
  bool lacks_something_ = false;
  bool is_object_ = false;
};

}  // namespace

absl::Status CollectHeaderValues(std::string_view text, HeaderValues& values) {
  HeaderCollector collector(values);
  if (!HeaderJson::sax_parse(text.data(), text.data() + text.size(), &collector)) {
    return collector.wrong();
  }
  if (!collector.is_object()) return DataError("the header is JSON, but not an object");
  return absl::OkStatus();
}

}  // namespace headrace
