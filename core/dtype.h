// `DType` is the element type of a tensor.
// Threads: any; plain values.
#ifndef HEADRACE_CORE_DTYPE_H_
#define HEADRACE_CORE_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

// The numbers are part of saved graphs: append, never renumber.
enum class DType : uint8_t {
  kUnknown = 0,  // only before a pipeline runs: a Python function's result
  kBool = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUInt8 = 6,
  kUInt16 = 7,
  kUInt32 = 8,
  kUInt64 = 9,
  kFloat16 = 10,
  kBFloat16 = 11,
  kFloat32 = 12,
  kFloat64 = 13,
  kBytes = 14,   // variable length
  kString = 15,  // variable length; UTF-8, but any bytes where it is a path
};

// Bytes of one element; 0 for kUnknown and for variable-length types.
size_t ItemSize(DType dtype);
// NumPy's name ("float32"; "bytes" and "string" for the variable-length types, "unknown").
std::string_view DTypeName(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);

inline bool IsVariableLength(DType dtype) { return dtype == DType::kBytes || dtype == DType::kString; }
bool IsFloating(DType dtype);
bool IsInteger(DType dtype);  // signed or unsigned; bool is neither

template <typename T>
struct DTypeOf;
#define HEADRACE_DTYPE(cpp, name)               \
  template <>                                   \
  struct DTypeOf<cpp> {                         \
    static constexpr DType value = DType::name; \
  }
HEADRACE_DTYPE(bool, kBool);
HEADRACE_DTYPE(int8_t, kInt8);
HEADRACE_DTYPE(int16_t, kInt16);
HEADRACE_DTYPE(int32_t, kInt32);
HEADRACE_DTYPE(int64_t, kInt64);
HEADRACE_DTYPE(uint8_t, kUInt8);
HEADRACE_DTYPE(uint16_t, kUInt16);
HEADRACE_DTYPE(uint32_t, kUInt32);
HEADRACE_DTYPE(uint64_t, kUInt64);
HEADRACE_DTYPE(float, kFloat32);
HEADRACE_DTYPE(double, kFloat64);
#undef HEADRACE_DTYPE

}  // namespace headrace

#endif  // HEADRACE_CORE_DTYPE_H_
