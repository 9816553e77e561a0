#include "core/dtype.h"

#include <array>

namespace headrace {
namespace {

struct DtypeEntry {
  DType dtype;
  std::string_view name;
  size_t item_size;
};

constexpr std::array<DtypeEntry, 16> kEntries = {{
    {DType::kUnknown, "unknown", 0},
    {DType::kBool, "bool", 1},
    {DType::kInt8, "int8", 1},
    {DType::kInt16, "int16", 2},
    {DType::kInt32, "int32", 4},
    {DType::kInt64, "int64", 8},
    {DType::kUInt8, "uint8", 1},
    {DType::kUInt16, "uint16", 2},
    {DType::kUInt32, "uint32", 4},
    {DType::kUInt64, "uint64", 8},
    {DType::kFloat16, "float16", 2},
    {DType::kBFloat16, "bfloat16", 2},
    {DType::kFloat32, "float32", 4},
    {DType::kFloat64, "float64", 8},
    {DType::kBytes, "bytes", 0},
    {DType::kString, "string", 0},
}};

}  // namespace

size_t ItemSize(DType dtype) { return kEntries[static_cast<size_t>(dtype)].item_size; }

std::string_view DTypeName(DType dtype) { return kEntries[static_cast<size_t>(dtype)].name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DtypeEntry& entry : kEntries) {
    if (entry.name == name) return entry.dtype;
  }
  return std::nullopt;
}

bool IsFloating(DType dtype) { return dtype >= DType::kFloat16 && dtype <= DType::kFloat64; }

bool IsInteger(DType dtype) { return dtype >= DType::kInt8 && dtype <= DType::kUInt64; }

}  // namespace headrace
