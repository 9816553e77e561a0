#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/printable.h"
#include "core/seeded_hash.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

constexpr size_t kMostShown = 60;  // bytes of a text, in messages

// The number of each text, as one element of the result's type.
class NumberTable {
 public:
  static absl::StatusOr<NumberTable> Of(const ir::Attributes& attributes) {
    NumberTable table;
    table.dtype_ = attributes.Type("dtype");
    table.item_ = ItemSize(table.dtype_);
    if (table.item_ == 0) return GraphError("dtype = ", DTypeName(table.dtype_), " holds no numbers");
    const std::vector<std::string> texts = attributes.Strings("texts");
    std::vector<ir::Number> numbers;
    if (!attributes.IsNone("numbers")) numbers = attributes.Numbers("numbers");
    if (!numbers.empty() && numbers.size() != texts.size()) {
      return GraphError("there are ", texts.size(), " texts and ", numbers.size(), " numbers; give one for each");
    }
    table.elements_.resize((texts.size() + 1) * table.item_);
    for (size_t i = 0; i < texts.size(); ++i) {
      const ir::Number number = numbers.empty() ? ir::Number(static_cast<int64_t>(i)) : numbers[i];
      HEADRACE_RETURN_IF_ERROR(StoreNumber("numbers", number, table.dtype_, table.elements_.data() + i * table.item_));
      if (!table.places_.emplace(texts[i], i).second) {
        return GraphError("texts must differ, and one occurs twice: ", PrintableStart(texts[i], kMostShown));
      }
    }
    if (attributes.IsNone("default")) return table;
    table.has_default_ = true;
    HEADRACE_RETURN_IF_ERROR(StoreNumber("default", attributes.Number("default"), table.dtype_,
                                         table.elements_.data() + texts.size() * table.item_));
    return table;
  }

  DType dtype() const { return dtype_; }
  size_t item() const { return item_; }
  // Null: the text is not in the table, and there is no default.
  const uint8_t* Find(std::string_view text) const {
    const auto found = places_.find(text);
    if (found != places_.end()) return elements_.data() + found->second * item_;
    return has_default_ ? elements_.data() + places_.size() * item_ : nullptr;
  }

 private:
  DType dtype_ = DType::kInt32;
  size_t item_ = 0;
  bool has_default_ = false;
  std::vector<uint8_t> elements_;  // the default is the last
  std::unordered_map<std::string, size_t, SeededHash, std::equal_to<>> places_;
};

class Lookup : public UnaryKernel {
 public:
  explicit Lookup(NumberTable table) : table_(std::move(table)) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(NumberTable table, NumberTable::Of(attributes));
    return std::make_unique<Lookup>(std::move(table));
  }

  bool applies_to_stacks() const override { return true; }
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (!IsVariableLength(input.dtype())) return GraphError("needs strings or bytes; got ", input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(table_.dtype(), input.shape()));
    for (int64_t i = 0; i < input.elements(); ++i) {
      const uint8_t* const element = table_.Find(input.bytes_at(i));
      if (element == nullptr) {
        return DataError("a text is not in the table; add it to `texts`, or give a `default`: ",
                         PrintableStart(input.bytes_at(i), kMostShown));
      }
      std::memcpy(output.mutable_raw() + static_cast<size_t>(i) * table_.item(), element, table_.item());
    }
    return output;
  }

 private:
  NumberTable table_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferLookup(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(NumberTable::Of(attributes).status());
  ir::ColumnType type = inputs[0];
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  if (!unknown && !IsVariableLength(type.dtype)) return GraphError("needs strings or bytes; got ", ir::TypeName(type));
  type.dtype = attributes.Type("dtype");
  return std::vector{type};
}

const KernelRegistration lookup_registration{
    {.name = "Lookup",
     .summary = "Turns texts into numbers by a table.",
     .doc = "Takes strings or bytes of any shape and gives numbers of `dtype` of that shape: for each text the number "
            "at its place in `numbers`, or its place in `texts`. A dict becomes both: T.Lookup(list(table), "
            "list(table.values())). Texts are compared byte for byte. `classes=` of a source numbers labels while "
            "they are read, and keeps their names.\n"
            "Errors: numbers; of the row, a text that is not in the table, without a `default`.",
     .attributes = {{.name = "texts",
                     .type = ir::AttributeType::kStrings,
                     .doc = "The texts of the table, each once.",
                     .length = ir::ListLength{}},
                    {.name = "numbers",
                     .type = ir::AttributeType::kFloats,
                     .doc = "Their numbers; None: 0, 1, 2 and so on.",
                     .default_value = "None",
                     .nullable = true,
                     .length = ir::ListLength{},
                     .keeps_whole = true},
                    {.name = "default",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The number of every other text; None: such a text is an error.",
                     .default_value = "None",
                     .nullable = true,
                     .keeps_whole = true},
                    {.name = "dtype",
                     .type = ir::AttributeType::kDType,
                     .doc = "The type of the result.",
                     .default_value = "'int32'"}},
     .python_module = "transforms",
     .example = "T.Lookup([\"male\", \"female\"], default=-1)",
     .sample = {.attributes = {{"texts", "('a', 'b')"}, {"numbers", "(3, 7)"}, {"default", "5"}},
                .inputs = {ir::SampleInput::kEncoded}},
     .infer_kernel = InferLookup},
    Lookup::Make};

}  // namespace
}  // namespace headrace
