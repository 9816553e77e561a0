#include "io/formats/arrow/arrow_export.h"

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/arrow/arrow_metadata.h"

namespace headrace {
namespace {

constexpr int64_t kMostOffset = std::numeric_limits<int32_t>::max();

// ---- schemas ----

// What a schema points to.
struct SchemaNode {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
};

template <typename Node, typename Struct>
void ReleaseNode(Struct* held) {
  auto* const node = static_cast<Node*>(held->private_data);
  for (Struct& child : node->children) {
    // A child that its consumer moved away is that one's to release.
    if (child.release != nullptr) child.release(&child);
  }
  delete node;
  held->release = nullptr;
}

void FillSchema(std::unique_ptr<SchemaNode> node, ArrowSchema& schema) {
  for (ArrowSchema& child : node->children) node->child_pointers.push_back(&child);
  schema = {};
  schema.format = node->format.c_str();
  schema.name = node->name.c_str();
  schema.metadata = node->metadata.empty() ? nullptr : node->metadata.data();
  schema.n_children = static_cast<int64_t>(node->children.size());
  schema.children = node->child_pointers.empty() ? nullptr : node->child_pointers.data();
  schema.release = &ReleaseNode<SchemaNode, ArrowSchema>;
  schema.private_data = node.release();
}

// No row lacks a value.
void FillSchemaOf(std::string format, std::string_view name, std::string metadata, ArrowSchema* child,
                  ArrowSchema& schema) {
  auto node = std::make_unique<SchemaNode>();
  node->format = std::move(format);
  node->name = name;
  node->metadata = std::move(metadata);
  if (child != nullptr) node->children.push_back(*child);
  FillSchema(std::move(node), schema);
}

const char* ExportedFormat(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "b";
    case DType::kInt8:
      return "c";
    case DType::kUInt8:
      return "C";
    case DType::kInt16:
      return "s";
    case DType::kUInt16:
      return "S";
    case DType::kInt32:
      return "i";
    case DType::kUInt32:
      return "I";
    case DType::kInt64:
      return "l";
    case DType::kUInt64:
      return "L";
    case DType::kFloat16:
      return "e";
    case DType::kFloat32:
      return "f";
    case DType::kFloat64:
      return "g";
    case DType::kBytes:
      return "z";
    case DType::kString:
      return "u";
    default:
      return nullptr;
  }
}

// The lengths of the lists in lists along the axes after the first. Tensors have one list, and say what its axes are;
// strings are in no tensors.
std::vector<int64_t> ListsOf(const Tensor& values) {
  std::vector<int64_t> axes(values.shape().begin() + 1, values.shape().end());
  if (axes.empty() || IsVariableLength(values.dtype())) return axes;
  return {ElementCount(axes)};
}

std::string TensorMetadata(const Tensor& values) {
  const absl::Span<const int64_t> axes = absl::Span<const int64_t>(values.shape()).subspan(1);
  return ArrowMetadataBytes({{"ARROW:extension:name", "arrow.fixed_shape_tensor"},
                             {"ARROW:extension:metadata", Cat("{\"shape\":[", absl::StrJoin(axes, ","), "]}")}});
}

// Of the elements along the first axis.
absl::Status ExportValuesSchema(const std::string& column, std::string_view name, const Tensor& values,
                                ArrowSchema& schema) {
  const char* const format = ExportedFormat(values.dtype());
  if (format == nullptr) {
    return UnsupportedError("column \"", column, "\" is ", DTypeName(values.dtype()),
                            ", which Arrow does not have; cast it to float32: T.TypeCast(\"float32\")");
  }
  const std::vector<int64_t> lists = ListsOf(values);
  FillSchemaOf(format, lists.empty() ? name : "item", "", nullptr, schema);
  for (size_t i = lists.size(); i-- > 0;) {
    ArrowSchema item = schema;
    const bool tensor = i == 0 && !IsVariableLength(values.dtype());
    FillSchemaOf(Cat("+w:", lists[i]), i == 0 ? name : "item", tensor ? TensorMetadata(values) : "", &item, schema);
  }
  return absl::OkStatus();
}

absl::Status ExportColumnSchema(const ExportedColumn& column, ArrowSchema& schema) {
  if (!column.splits.valid()) return ExportValuesSchema(column.name, column.name, column.values, schema);
  ArrowSchema item;
  HEADRACE_RETURN_IF_ERROR(ExportValuesSchema(column.name, "item", column.values, item));
  FillSchemaOf("+l", column.name, "", &item, schema);
  return absl::OkStatus();
}

// ---- arrays ----

// What an array points to.
struct ArrayNode {
  std::vector<Tensor> kept;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
};

void FillArray(std::unique_ptr<ArrayNode> node, int64_t length, ArrowArray& array) {
  for (ArrowArray& child : node->children) node->child_pointers.push_back(&child);
  array = {};
  array.length = length;
  array.n_buffers = static_cast<int64_t>(node->buffers.size());
  array.buffers = node->buffers.data();
  array.n_children = static_cast<int64_t>(node->children.size());
  array.children = node->child_pointers.empty() ? nullptr : node->child_pointers.data();
  array.release = &ReleaseNode<ArrayNode, ArrowArray>;
  array.private_data = node.release();
}

// int32 offsets from 0 on, of int64 ones.
absl::StatusOr<Tensor> NarrowOffsets(const std::string& column, absl::Span<const int64_t> offsets,
                                     std::string_view what) {
  if (offsets.back() - offsets.front() > kMostOffset) {
    return ResourceError("column \"", column, "\" has more ", what,
                         " in one batch than Arrow's offsets of 32 bits count; make smaller batches: ",
                         offsets.back() - offsets.front());
  }
  const std::array<int64_t, 1> shape = {static_cast<int64_t>(offsets.size())};
  HEADRACE_ASSIGN_OR_RETURN(Tensor narrow, Tensor::Allocate(DType::kInt32, shape));
  for (size_t i = 0; i < offsets.size(); ++i) {
    narrow.mutable_data<int32_t>()[i] = static_cast<int32_t>(offsets[i] - offsets.front());
  }
  return narrow;
}

absl::Status CheckTexts(const std::string& column, const Tensor& texts) {
  for (int64_t i = 0; i < texts.elements(); ++i) {
    if (!IsUtf8(texts.bytes_at(i))) {
      return DataError("column \"", column,
                       "\" holds a text that is not UTF-8, which Arrow's utf8 does not; the text is ", i,
                       " of the batch");
    }
  }
  return absl::OkStatus();
}

absl::Status ExportStrings(const std::string& column, const Tensor& values, ArrowArray& array) {
  if (values.dtype() == DType::kString) HEADRACE_RETURN_IF_ERROR(CheckTexts(column, values));
  auto node = std::make_unique<ArrayNode>();
  HEADRACE_ASSIGN_OR_RETURN(Tensor joined, values.Joined());
  HEADRACE_ASSIGN_OR_RETURN(Tensor offsets, NarrowOffsets(column, joined.ends(), "bytes"));
  node->buffers = {nullptr, offsets.raw(), joined.joined_bytes().data()};
  node->kept = {joined, offsets};
  FillArray(std::move(node), values.elements(), array);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> PackedBits(const Tensor& bools) {
  const std::array<int64_t, 1> shape = {(bools.elements() + 7) / 8};
  HEADRACE_ASSIGN_OR_RETURN(Tensor bits, Tensor::Allocate(DType::kUInt8, shape));
  std::memset(bits.mutable_raw(), 0, bits.bytes());
  for (int64_t i = 0; i < bools.elements(); ++i) {
    if (bools.raw()[i] != 0) bits.mutable_raw()[i >> 3] |= static_cast<uint8_t>(1 << (i & 7));
  }
  return bits;
}

absl::Status ExportNumbers(const Tensor& values, ArrowArray& array) {
  auto node = std::make_unique<ArrayNode>();
  HEADRACE_ASSIGN_OR_RETURN(Tensor plain, values.Contiguous());
  if (values.dtype() == DType::kBool) {
    HEADRACE_ASSIGN_OR_RETURN(plain, PackedBits(plain));
  }
  node->buffers = {nullptr, plain.raw()};
  node->kept = {std::move(plain)};
  FillArray(std::move(node), values.elements(), array);
  return absl::OkStatus();
}

absl::Status ExportValues(const std::string& column, const Tensor& values, ArrowArray& array) {
  HEADRACE_RETURN_IF_ERROR(IsVariableLength(values.dtype()) ? ExportStrings(column, values, array)
                                                            : ExportNumbers(values, array));
  const std::vector<int64_t> lists = ListsOf(values);
  for (size_t i = lists.size(); i-- > 0;) {
    int64_t length = values.dim(0);
    for (size_t outer = 0; outer < i; ++outer) length *= lists[outer];
    auto node = std::make_unique<ArrayNode>();
    node->buffers = {nullptr};
    node->children = {array};
    FillArray(std::move(node), length, array);
  }
  return absl::OkStatus();
}

absl::Status ExportColumn(const ExportedColumn& column, ArrowArray& array) {
  if (!column.splits.valid()) return ExportValues(column.name, column.values, array);
  HEADRACE_ASSIGN_OR_RETURN(const Tensor splits, column.splits.Contiguous());
  HEADRACE_ASSIGN_OR_RETURN(Tensor offsets,
                            NarrowOffsets(column.name, {splits.data<int64_t>(), static_cast<size_t>(splits.elements())},
                                          "elements of lists"));
  ArrowArray elements;
  HEADRACE_RETURN_IF_ERROR(ExportValues(column.name, column.values, elements));
  auto node = std::make_unique<ArrayNode>();
  node->buffers = {nullptr, offsets.raw()};
  node->kept = {std::move(offsets)};
  node->children = {elements};
  FillArray(std::move(node), splits.elements() - 1, array);
  return absl::OkStatus();
}

// Releases what was exported before an error.
template <typename Node>
struct ReleaseChildren {
  void operator()(Node* node) const {
    for (auto& child : node->children) child.release(&child);
    delete node;
  }
};

template <typename Node>
std::unique_ptr<Node> Whole(std::unique_ptr<Node, ReleaseChildren<Node>> node) {
  return std::unique_ptr<Node>(node.release());
}

}  // namespace

absl::StatusOr<int64_t> ExportedRows(const std::vector<ExportedColumn>& columns) {
  int64_t rows = -1;
  for (const ExportedColumn& column : columns) {
    const Tensor& counted = column.splits.valid() ? column.splits : column.values;
    if (counted.rank() == 0) {
      return UnsupportedError("Arrow has batches of rows, and column \"", column.name,
                              "\" is one value; write batch(n) as the last step");
    }
    const int64_t found = counted.dim(0) - (column.splits.valid() ? 1 : 0);
    if (rows >= 0 && rows != found) {
      return GraphError("columns \"", columns[0].name, "\" and \"", column.name, "\" have ", rows, " and ", found,
                        " rows, and a batch of Arrow has as many in each; write batch(n) as the last step");
    }
    rows = found;
  }
  return rows < 0 ? 0 : rows;
}

absl::Status ExportArrowSchema(const std::vector<ExportedColumn>& columns, ArrowSchema& schema) {
  std::unique_ptr<SchemaNode, ReleaseChildren<SchemaNode>> node(new SchemaNode);
  node->format = "+s";
  for (const ExportedColumn& column : columns) {
    ArrowSchema child;
    HEADRACE_RETURN_IF_ERROR(ExportColumnSchema(column, child));
    node->children.push_back(child);
  }
  FillSchema(Whole(std::move(node)), schema);
  return absl::OkStatus();
}

absl::Status ExportArrow(const std::vector<ExportedColumn>& columns, int64_t rows, ArrowArray& array) {
  std::unique_ptr<ArrayNode, ReleaseChildren<ArrayNode>> node(new ArrayNode);
  node->buffers = {nullptr};
  for (const ExportedColumn& column : columns) {
    ArrowArray child;
    HEADRACE_RETURN_IF_ERROR(ExportColumn(column, child));
    node->children.push_back(child);
  }
  FillArray(Whole(std::move(node)), rows, array);
  return absl::OkStatus();
}

}  // namespace headrace
