// Fuzzes tables of Arrow: types, lengths, offsets and contents that are right or wrong. What is read lies in the
// buffers, rows have the types that the mapping says, and each struct is released once. Buffers are as long as sound
// lengths say, because the interface does not tell how long they are. Input: a recipe of a schema and its arrays, a
// byte for each choice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/arrow/arrow_metadata.h"
#include "io/formats/arrow/arrow_table.h"
#include "io/formats/arrow/same_types.h"
#include "io/formats/arrow/testing/arrow_parts.h"

namespace {

using headrace::ArrowChoices;
using headrace::ArrowColumn;
using headrace::ArrowMapping;
using headrace::ArrowPart;
using headrace::ArrowRows;
using headrace::ArrowTable;
using headrace::Require;

// More than any offset of strings says here.
constexpr size_t kStringBytes = 256;
constexpr int kMostNested = 80;

class Recipe {
 public:
  Recipe(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  uint8_t Byte() { return empty() ? 0 : *at_++; }
  int64_t Below(int64_t most) { return Byte() % most; }

 private:
  const uint8_t* at_;
  const uint8_t* const end_;
};

const char* const kFormats[] = {"c",     "C",       "s",   "S",   "i", "I",     "l",   "L",   "e",  "f",
                                "g",     "b",       "z",   "u",   "Z", "U",     "w:3", "w:0", "vz", "vu",
                                "tdD",   "tsu:UTC", "tDn", "ttm", "n", "d:3,2", "+m",  "",    "w:", "w:99999999999",
                                "+w:-1", "xyz"};
constexpr int64_t kFormatCount = sizeof(kFormats) / sizeof(kFormats[0]);

std::string Numbers(Recipe& recipe, size_t bytes) {
  std::string text(bytes, '\0');
  // Few are chosen, so that a recipe stays short.
  for (size_t i = 0; i < std::min<size_t>(bytes, 24); ++i) text[i] = static_cast<char>(recipe.Byte());
  return text;
}

// Mostly in order, between 0 and `most`.
template <typename Number>
std::string Offsets(Recipe& recipe, int64_t count, int64_t most) {
  std::vector<Number> offsets;
  Number at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t step = recipe.Byte();
    if (step == 255)
      at = -1;
    else if (step == 254)
      at = static_cast<Number>(most);
    else
      at = static_cast<Number>(std::min<int64_t>(most, at + step % 4));
    offsets.push_back(at);
  }
  return headrace::BytesOfNumbers(offsets);
}

int64_t ItemBytes(const std::string& format) {
  switch (format.empty() ? 'n' : format[0]) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
    case 'e':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    default:
      return 8;
  }
}

void FillBuffers(Recipe& recipe, ArrowPart& part, int64_t end) {
  const std::string& format = part.format;
  part.buffers = {std::nullopt};
  if (recipe.Below(4) == 0) part.buffers[0] = Numbers(recipe, static_cast<size_t>(end / 8 + 1));
  if (format == "+s" || format.substr(0, 3) == "+w:") return;
  if (format == "u" || format == "z") {
    part.buffers.push_back(Offsets<int32_t>(recipe, end + 1, kStringBytes));
    part.buffers.push_back(Numbers(recipe, kStringBytes));
  } else if (format == "U" || format == "Z") {
    part.buffers.push_back(Offsets<int64_t>(recipe, end + 1, kStringBytes));
    part.buffers.push_back(Numbers(recipe, kStringBytes));
  } else if (format == "+l") {
    part.buffers.push_back(Offsets<int32_t>(recipe, end + 1, 20));
  } else if (format == "+L") {
    part.buffers.push_back(Offsets<int64_t>(recipe, end + 1, 20));
  } else if (format == "vz" || format == "vu") {
    part.buffers.push_back(Numbers(recipe, static_cast<size_t>(end) * 16));
    part.buffers.push_back(Numbers(recipe, 40));
    part.buffers.push_back(headrace::BytesOfNumbers<int64_t>({recipe.Below(41)}));
  } else {
    const int64_t each = format[0] == 'w' ? 3 : ItemBytes(format);
    part.buffers.push_back(Numbers(recipe, static_cast<size_t>(std::max<int64_t>(end, 1) * each)));
  }
  if (recipe.Below(32) == 1) part.buffers.pop_back();
}

// What the recipe makes wrong. Claims never say that there is more than there is: that cannot be seen.
void Damage(Recipe& recipe, ArrowPart& part) {
  switch (recipe.Below(64)) {
    case 1:
      part.length = -1;
      break;
    case 2:
      part.offset = -recipe.Below(5) - 1;
      break;
    case 3:
      part.length = int64_t{1} << 62;
      break;
    case 4:
      part.offset = INT64_MAX;
      break;
    case 5:
      part.null_count = 3;
      break;
    case 6:
      part.claimed_children = -1;
      break;
    case 7:
      part.claimed_buffers = recipe.Below(2);
      break;
    case 8:
      for (auto& buffer : part.buffers) buffer.reset();
      break;
    default:
      break;
  }
}

ArrowPart PartOf(Recipe& recipe, int64_t least, int nested);

std::vector<ArrowPart> ChildrenOf(Recipe& recipe, const std::string& format, int64_t end, int64_t width, int nested) {
  if (format == "+s") {
    std::vector<ArrowPart> fields;
    for (int64_t i = recipe.Below(4); i > 0; --i) {
      fields.push_back(PartOf(recipe, end, nested + 1));
      if (recipe.Below(4) == 0) fields.back().name = i == 1 ? "bytes" : "path";
    }
    return fields;
  }
  return {PartOf(recipe, width > 0 ? end * width : 20, nested + 1)};
}

// With as many elements as `least`, or a few less.
ArrowPart PartOf(Recipe& recipe, int64_t least, int nested) {
  ArrowPart part;
  const int64_t kind = nested < kMostNested && !recipe.empty() ? recipe.Below(8) : 7;
  int64_t width = 0;
  part.format = kind == 0 ? "+l" : kind == 1 ? "+L" : kind == 2 ? "+s" : kFormats[recipe.Below(kFormatCount)];
  if (kind == 3) {
    width = recipe.Below(4);
    part.format = headrace::Cat("+w:", width);
  }
  part.name = std::string(1, static_cast<char>('a' + recipe.Below(6)));
  part.offset = recipe.Below(3);
  part.length = std::max<int64_t>(0, least - (recipe.Below(16) == 1 ? 1 : 0));
  part.null_count = recipe.Below(2) == 0 ? 0 : -1;
  const int64_t end = part.offset + part.length;
  // Products of nested lists of one length grow.
  if (end > 4096) part.format = "c";
  const bool list = part.format[0] == '+' && (part.format[1] == 'l' || part.format[1] == 'L' || width > 0 || kind == 3);
  if (list || part.format == "+s") part.children = ChildrenOf(recipe, part.format, end, width, nested);
  FillBuffers(recipe, part, end);
  if (recipe.Below(8) == 0 && part.format.size() == 1) {
    part.dictionary.push_back(headrace::TextsPart("", {"a", "bb", "\xFF"}));
  }
  Damage(recipe, part);
  return part;
}

void CheckKind(const absl::Status& status) {
  const headrace::ErrorKind kind = headrace::KindOf(status);
  Require(kind == headrace::ErrorKind::kData || kind == headrace::ErrorKind::kUnsupported ||
              kind == headrace::ErrorKind::kGraph,
          "the error is the data's");
}

void ReadStacked(const ArrowRows& rows, int64_t row, const headrace::Tensor& read) {
  std::vector<uint8_t> copy(read.bytes());
  Require(rows.CopyRow(row, copy.data()).ok(), "a row that is read can be copied");
  Require(copy.empty() || std::equal(copy.begin(), copy.end(), read.raw()), "and has the same bytes");
}

void ReadColumn(const ArrowTable& table, size_t number) {
  const ArrowColumn& column = table.mapping().columns()[number];
  for (uint64_t i = 0; i < table.rows(); ++i) {
    const ArrowTable::Place place = table.Find(i);
    const ArrowRows& rows = place.batch->column(number);
    const auto path = rows.PathOf(place.row);
    if (!path.ok() || path->has_value()) continue;
    const auto row = rows.Row(place.row);
    if (!row.ok()) {
      CheckKind(row.status());
      continue;
    }
    Require(row->dtype() == column.dtype && row->shape().size() == column.shape.size(), "rows have their type");
    if (column.stacks()) ReadStacked(rows, place.row, *row);
    if (!IsVariableLength(row->dtype())) continue;
    size_t bytes = 0;
    for (int64_t at = 0; at < row->elements(); ++at) bytes += row->bytes_at(at).size();
    Require(bytes == row->bytes(), "strings are counted");
  }
  if (table.rows() == 0) return;
  const ArrowTable::Place first = table.Find(0);
  if (!first.batch->column(number).slices()) return;
  const auto slice = first.batch->column(number).Slice(0, first.left);
  if (!slice.ok()) CheckKind(slice.status());
}

void ReadTable(const ArrowPart& part, int& schemas, int& arrays) {
  const auto schema = headrace::SchemaOfPart(part, &schemas);
  Require(headrace::SameTypes(*schema, *schema) || part.claimed_children.has_value() || !part.children.empty(),
          "a schema is as itself");
  const auto fields = headrace::ArrowFields(*schema);
  if (!fields.ok()) return CheckKind(fields.status());
  // What is refused by its type hides nothing that could be read.
  ArrowChoices choices;
  choices.columns.emplace();
  for (const headrace::ArrowField& field : *fields) {
    if (field.dtype != headrace::DType::kUnknown) choices.columns->push_back(field.name);
  }
  auto mapping = ArrowMapping::Of(*schema, choices);
  if (!mapping.ok()) return CheckKind(mapping.status());
  std::vector<headrace::HeldArrow> held;
  held.push_back(headrace::KeepArrow(headrace::ArrayOfPart(part, &arrays)));
  const auto table = ArrowTable::Of(*std::move(mapping), held);
  if (!table.ok()) return CheckKind(table.status());
  static_cast<void>((*table)->Hash());
  for (size_t i = 0; i < (*table)->mapping().columns().size(); ++i) ReadColumn(**table, i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Recipe recipe(data, size);
  const int64_t rows = recipe.Below(10);
  ArrowPart batch = headrace::StructPart("", rows, {});
  for (int64_t i = recipe.Below(4); i >= 0; --i) {
    batch.children.push_back(PartOf(recipe, rows, 1));
    // Names that are alone.
    batch.children.back().name += std::to_string(i);
  }
  int schemas = 0, arrays = 0;
  ReadTable(batch, schemas, arrays);
  Require(schemas == 1, "the schema is released once");
  Require(arrays <= 1, "the array is released once");
  return 0;
}
