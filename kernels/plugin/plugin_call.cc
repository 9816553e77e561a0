#include "kernels/plugin/plugin_call.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/caught_error.h"
#include "core/error.h"
#include "core/row_notes.h"
#include "core/stop_signal.h"
#include "core/utf8.h"
#include "ir/suggestion.h"
#include "kernels/plugin/plugin_file.h"
#include "kernels/plugin/plugin_text.h"
#include "kernels/plugin/plugin_type.h"

using headrace::Cat;
using headrace::DType;
using headrace::ErrorKind;
using headrace::MakeError;
using headrace::Tensor;

namespace {

// Of strides, too, which axes of length 0 do not make smaller. Larger than any memory, and far from where sizes
// overflow.
constexpr int64_t kMostElements = int64_t{1} << 57;
// Of version 1.0 of the interface.
constexpr size_t kFirstIdentity = 24;
static_assert(sizeof(headrace_identity) == kFirstIdentity, "structures may only grow at their ends");

ErrorKind KindOfResult(int32_t result) {
  switch (result) {
    case HEADRACE_DATA_ERROR:
      return ErrorKind::kData;
    case HEADRACE_NOT_FOUND_ERROR:
      return ErrorKind::kNotFound;
    case HEADRACE_GRAPH_ERROR:
      return ErrorKind::kGraph;
    case HEADRACE_RESOURCE_ERROR:
      return ErrorKind::kResource;
    case HEADRACE_UNSUPPORTED_ERROR:
      return ErrorKind::kUnsupported;
    default:
      return ErrorKind::kFunction;
  }
}

// What a callback that makes no row does wrong.
std::string OutsideRow(std::string_view function) {
  return Cat("calls ", function, "(), which is for apply() and read() alone, and for next() after begin_row()");
}

// Every byte but 0 is true, and readers of bools rely on 1.
void MakeBools(Tensor& tensor) {
  uint8_t* const bytes = tensor.mutable_raw();
  for (int64_t i = 0; i < tensor.elements(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
}

bool IsResult(int32_t result) { return result >= HEADRACE_OK && result <= HEADRACE_FUNCTION_ERROR; }

// "std::runtime_error" of the exception being handled.
std::string ThrownType() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception of another language";
  int status = 0;
  char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = name == nullptr ? type->name() : name;
  std::free(name);
  return text;
}

}  // namespace

absl::Status headrace_call::Run(absl::FunctionRef<int32_t(headrace_call*)> callback) {
  int32_t result = HEADRACE_OK;
  try {
    result = callback(this);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return headrace::ResourceError(callback_, "() of ", op_, " found no more memory");
  } catch (const std::exception& thrown) {
    return MakeError(ErrorKind::kFunction,
                     Cat(callback_, "() of ", op_, " threw ", ThrownType(), ": ", headrace::PluginText(thrown.what())));
  } catch (...) {
    return MakeError(ErrorKind::kFunction, Cat(callback_, "() of ", op_, " threw ", ThrownType()));
  }
  // Errors that the host noted count even if the callback goes on as if there were none.
  if (!error_.ok()) return error_;
  if (result == HEADRACE_OK && failed_ != 0) return Broken("calls fail() and returns HEADRACE_OK");
  if (result == HEADRACE_OK) return absl::OkStatus();
  if (!IsResult(result)) return Broken(Cat("returned ", result, ", not a headrace_result"));
  if (failed_ == 0)
    return MakeError(KindOfResult(result), Cat(callback_, "() of ", op_, " failed and did not say why"));
  return MakeError(KindOfResult(result), text_);
}

int32_t headrace_call::Fail(int32_t result, const char* text) {
  failed_ = IsResult(result) && result != HEADRACE_OK ? result : HEADRACE_FUNCTION_ERROR;
  text_ = text == nullptr ? "failed" : headrace::PluginText(text);
  return failed_;
}

int32_t headrace_call::Refuse(absl::Status error) {
  if (error_.ok()) error_ = std::move(error);
  return HEADRACE_FUNCTION_ERROR;
}

int32_t headrace_call::Fillers(const uint8_t** marks, uint64_t* count) {
  if (row_ == nullptr || row_->context == nullptr) {
    return Refuse(Broken("calls fillers(), which is for apply() alone"));
  }
  if (marks == nullptr || count == nullptr) return Refuse(Broken("gives fillers() no place for marks or their number"));
  const absl::Span<const bool> fillers = row_->context->fillers();
  static_assert(sizeof(bool) == sizeof(uint8_t));
  *marks = fillers.empty() ? nullptr : reinterpret_cast<const uint8_t*>(fillers.data());
  *count = fillers.size();
  return HEADRACE_OK;
}

absl::Status headrace_call::CheckShape(int32_t axes, const int64_t* shape) const {
  if (axes < 0 || axes > HEADRACE_MOST_AXES) {
    return Broken(Cat("gives ", axes, " axes; 0 to ", HEADRACE_MOST_AXES, " are possible"));
  }
  if (axes > 0 && shape == nullptr) return Broken(Cat("gives no shape for ", axes, " axes"));
  int64_t elements = 1;
  for (const int64_t length : absl::MakeSpan(shape, static_cast<size_t>(axes))) {
    if (length < 0) return Broken(Cat("gives an axis of length ", length));
    const bool overflows = length != 0 && __builtin_mul_overflow(elements, length, &elements);
    if (overflows || elements > kMostElements) return Broken("gives a shape of more elements than any memory holds");
  }
  return absl::OkStatus();
}

absl::Status headrace_call::CheckOutput(uint32_t output, int32_t dtype, absl::Span<const int64_t> shape) const {
  if (output >= row_->types.size()) {
    return Broken(Cat("gives output ", output, "; it declares ", row_->types.size(), ", counted from 0"));
  }
  if (row_->outputs[output].valid()) return Broken(Cat("gives output ", output, " twice"));
  if (dtype <= HEADRACE_UNKNOWN || dtype > HEADRACE_STRING) {
    return Broken(Cat("gives dtype ", dtype, ", not a headrace_dtype"));
  }
  const auto given = static_cast<DType>(dtype);
  if (headrace::ir::FitsType(row_->types[output], given, shape)) return absl::OkStatus();
  return Broken(Cat("gives ", DTypeName(given), " ", headrace::ShapeName(shape), " for output ", output, ", and its ",
                    row_->typed_by, " says ", TypeName(row_->types[output])));
}

int32_t headrace_call::Allocate(uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape, void** data) {
  if (data == nullptr) return Refuse(Broken("gives allocate() no place for the memory's address"));
  *data = nullptr;
  if (!MakesRow()) return Refuse(Broken(OutsideRow("allocate")));
  if (absl::Status wrong = CheckShape(axes, shape); !wrong.ok()) return Refuse(std::move(wrong));
  const auto lengths = absl::MakeSpan(shape, static_cast<size_t>(axes));
  if (absl::Status wrong = CheckOutput(output, dtype, lengths); !wrong.ok()) return Refuse(std::move(wrong));
  const auto type = static_cast<DType>(dtype);
  if (headrace::IsVariableLength(type))
    return Refuse(Broken("calls allocate() for strings; give_strings() copies them"));
  const bool in_place = row_->types.size() == 1 && row_->context != nullptr;
  absl::StatusOr<Tensor> made =
      in_place ? row_->context->AllocateOutput(type, lengths) : Tensor::Allocate(type, lengths);
  if (!made.ok()) return Refuse(made.status());
  *data = made->mutable_raw();
  row_->outputs[output] = *std::move(made);
  return HEADRACE_OK;
}

int32_t headrace_call::GiveStrings(uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape,
                                   const void* values, uint64_t value_bytes, const int64_t* offsets) {
  if (!MakesRow()) return Refuse(Broken(OutsideRow("give_strings")));
  if (absl::Status wrong = CheckShape(axes, shape); !wrong.ok()) return Refuse(std::move(wrong));
  const auto lengths = absl::MakeSpan(shape, static_cast<size_t>(axes));
  if (absl::Status wrong = CheckOutput(output, dtype, lengths); !wrong.ok()) return Refuse(std::move(wrong));
  const auto type = static_cast<DType>(dtype);
  if (!headrace::IsVariableLength(type))
    return Refuse(Broken("calls give_strings() for numbers; allocate() is theirs"));
  if (offsets == nullptr) return Refuse(Broken("gives strings without offsets"));
  std::vector<std::string_view> strings;
  for (int64_t i = 0; i < headrace::ElementCount(lengths); ++i) {
    const int64_t begin = offsets[i];
    const int64_t end = offsets[i + 1];
    if (begin < 0 || end < begin || static_cast<uint64_t>(end) > value_bytes) {
      return Refuse(Broken(Cat("gives string ", i, " from byte ", begin, " to ", end, " of ", value_bytes)));
    }
    if (end > begin && values == nullptr) return Refuse(Broken("gives strings without their bytes"));
    strings.emplace_back(static_cast<const char*>(values) + begin, static_cast<size_t>(end - begin));
    if (type == DType::kString && !headrace::IsUtf8(strings.back())) {
      return Refuse(Broken(Cat("gives string ", i, ", which is not UTF-8")));
    }
  }
  absl::StatusOr<Tensor> made = Tensor::CopyBytesArray(type, lengths, strings);
  if (!made.ok()) return Refuse(made.status());
  row_->outputs[output] = *std::move(made);
  return HEADRACE_OK;
}

int32_t headrace_call::GiveInput(uint32_t output, uint32_t input) {
  if (row_ == nullptr) return Refuse(Broken("calls give_input(), which is for apply() alone"));
  if (input >= row_->inputs.size()) {
    return Refuse(Broken(Cat("gives input ", input, " of ", row_->inputs.size(), ", counted from 0")));
  }
  const Tensor& given = row_->inputs[input];
  if (absl::Status wrong = CheckOutput(output, static_cast<int32_t>(given.dtype()), given.shape()); !wrong.ok()) {
    return Refuse(std::move(wrong));
  }
  row_->outputs[output] = given;
  return HEADRACE_OK;
}

bool headrace_call::HasNotes(std::string_view function) {
  if (row_ != nullptr && row_->context != nullptr) return true;
  Refuse(Broken(Cat("calls ", function, "(), which is for apply() alone")));
  return false;
}

bool headrace_call::IsKey(std::string_view function, const char* key) {
  if (key != nullptr) return true;
  Refuse(Broken(Cat("gives ", function, "() no key")));
  return false;
}

int32_t headrace_call::FindNote(const char* key, const void** data, uint64_t* bytes) {
  if (!HasNotes("find_note") || !IsKey("find_note", key)) return HEADRACE_FUNCTION_ERROR;
  if (data == nullptr || bytes == nullptr)
    return Refuse(Broken("gives find_note() no place for the bytes or their number"));
  const headrace::RowNotes* const notes = row_->context->notes();
  const bool found = notes != nullptr && notes->Find(key, note_) && !note_.empty();
  *data = found ? note_.data() : nullptr;
  *bytes = found ? note_.size() : 0;
  return HEADRACE_OK;
}

int32_t headrace_call::LeaveNote(const char* key, const void* data, uint64_t bytes, int32_t wrong) {
  if (!HasNotes("leave_note") || !IsKey("leave_note", key)) return HEADRACE_FUNCTION_ERROR;
  if (data == nullptr && bytes > 0) return Refuse(Broken(Cat("leaves a note of ", bytes, " bytes without them")));
  if (wrong != 0 && wrong != 1) return Refuse(Broken(Cat("leaves a note with wrong = ", wrong, ", not 0 or 1")));
  const headrace::RowNotes* const notes = row_->context->notes();
  if (notes == nullptr || bytes == 0) return HEADRACE_OK;
  notes->Leave(key, {static_cast<const char*>(data), bytes},
               wrong == 1 ? headrace::EarlierNote::kWrong : headrace::EarlierNote::kRightOrNone);
  return HEADRACE_OK;
}

int32_t headrace_call::CountNote() {
  if (!HasNotes("count_note")) return HEADRACE_FUNCTION_ERROR;
  if (const headrace::RowNotes* const notes = row_->context->notes(); notes != nullptr) notes->CountUse();
  return HEADRACE_OK;
}

int32_t headrace_call::AddColumn(const char* name, int32_t dtype, int32_t axes, const int64_t* shape) {
  if (columns_ == nullptr) return Refuse(Broken("calls add_column(), which is for columns() alone"));
  if (name == nullptr || *name == 0 || !headrace::IsUtf8(name)) {
    return Refuse(Broken("names a column by no text in UTF-8"));
  }
  const auto same = [name](const headrace::ir::Column& column) { return column.name == name; };
  if (std::any_of(columns_->begin(), columns_->end(), same))
    return Refuse(Broken(Cat("gives column ", name, " twice")));
  absl::StatusOr<headrace::ir::ColumnType> type = headrace::TypeOfParts(dtype, axes, shape);
  if (!type.ok()) return Refuse(Broken(Cat("gives column ", name, " ", headrace::ToStd(type.status().message()))));
  columns_->push_back({name, *std::move(type)});
  return HEADRACE_OK;
}

int32_t headrace_call::BeginRow(int64_t begin, int64_t end) {
  if (place_ == nullptr) return Refuse(Broken("calls begin_row(), which is for next() alone"));
  if (place_->given) return Refuse(Broken("calls begin_row() twice for one row"));
  *place_ = {true, begin, end};
  return HEADRACE_OK;
}

headrace::RowRandom* headrace_call::Random() {
  if (row_ == nullptr || row_->context == nullptr) {
    Refuse(Broken("asks for random numbers, which only apply() may"));
  } else if (!row_->random) {
    Refuse(Broken("asks for random numbers or the row's identity, and its kernel does not declare HEADRACE_RANDOM"));
  } else {
    return &row_->context->random();
  }
  return nullptr;
}

namespace headrace {

absl::Status FinishOutputs(std::string_view op, std::string_view callback, absl::Span<const Tensor> inputs,
                           Tensors& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (!output.valid()) return BrokenRule(op, callback, Cat("gives no output ", i, " and no error"));
    if (output.dtype() != DType::kBool) continue;
    const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                      [&output](const Tensor& input) { return input.raw() == output.raw(); });
    if (!is_input) MakeBools(output);
  }
  return absl::OkStatus();
}

absl::Status BrokenRule(std::string_view op, std::string_view callback, std::string_view how) {
  const std::string_view plugin = ir::PluginOf(op);
  return BeyondRow(MakeError(ErrorKind::kFunction, Cat(callback, "() of ", op, " ", how, " (a fault of the plugin",
                                                       plugin.empty() ? "" : " ", plugin, ", not of the pipeline)")));
}

namespace {

// No exception may reach the plugin, whose code may be C.
template <typename Function>
int32_t Kept(headrace_call* call, Function function) {
  try {
    return function();
  } catch (...) {
    return call->Refuse(CaughtError());
  }
}

template <typename T, typename Draw>
int32_t Fill(headrace_call* call, T* numbers, uint64_t count, Draw draw) {
  return Kept(call, [&]() -> int32_t {
    RowRandom* const random = call->Random();
    if (random == nullptr) return HEADRACE_FUNCTION_ERROR;
    if (numbers == nullptr && count > 0) return call->RefuseAs("gives no place for random numbers");
    for (uint64_t i = 0; i < count; ++i) numbers[i] = draw(*random);
    return HEADRACE_OK;
  });
}

int32_t FillBelow(headrace_call* call, uint64_t bound, uint64_t* numbers, uint64_t count) {
  return bound == 0 ? Kept(call, [call] { return call->Fail(HEADRACE_FUNCTION_ERROR, "draws a number below 0"); })
                    : Fill(call, numbers, count, [bound](RowRandom& random) { return random.Below(bound); });
}

int32_t Identify(headrace_call* call, headrace_identity* identity) {
  return Kept(call, [&]() -> int32_t {
    const RowRandom* const random = call->Random();
    if (random == nullptr) return HEADRACE_FUNCTION_ERROR;
    if (identity == nullptr) return call->RefuseAs("gives identity() no place");
    const uint32_t size = identity->struct_size;
    if (size < kFirstIdentity) {
      return call->RefuseAs(Cat("gives identity() a structure of ", size, " bytes; set its struct_size by sizeof"));
    }
    const headrace_identity own = {size, 0, random->key(), random->row()};
    std::memcpy(identity, &own, std::min<size_t>(size, sizeof(own)));
    return HEADRACE_OK;
  });
}

int32_t FileSize(headrace_call* call, const headrace_file* file, int64_t* bytes) {
  if (file == nullptr || bytes == nullptr) return call->RefuseAs("gives file_size() no file or no place");
  *bytes = file->Size();
  return HEADRACE_OK;
}

int32_t ReadFile(headrace_call* call, headrace_file* file, int64_t offset, uint64_t bytes, void* target) {
  if (file == nullptr || (target == nullptr && bytes > 0))
    return call->RefuseAs("gives read_file() no file or no place");
  if (offset < 0) return call->RefuseAs(Cat("reads from byte ", offset));
  const absl::Status read = file->Read(offset, bytes, static_cast<uint8_t*>(target));
  return read.ok() ? HEADRACE_OK : call->Refuse(read);
}

}  // namespace

const headrace_host& PluginHost() {
  static constexpr headrace_host host = {
      .struct_size = sizeof(headrace_host),
      .abi = HEADRACE_PLUGIN_ABI,
      .fail = [](headrace_call* call, int32_t result,
                 const char* text) { return Kept(call, [&] { return call->Fail(result, text); }); },
      .allocate =
          [](headrace_call* call, uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape, void** data) {
            return Kept(call, [&] { return call->Allocate(output, dtype, axes, shape, data); });
          },
      .give_strings =
          [](headrace_call* call, uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape,
             const void* values, uint64_t value_bytes, const int64_t* offsets) {
            return Kept(call,
                        [&] { return call->GiveStrings(output, dtype, axes, shape, values, value_bytes, offsets); });
          },
      .give_input = [](headrace_call* call, uint32_t output,
                       uint32_t input) { return Kept(call, [&] { return call->GiveInput(output, input); }); },
      .random_bits =
          [](headrace_call* call, uint32_t* words, uint64_t count) {
            return Fill(call, words, count, [](RowRandom& random) { return random.Next32(); });
          },
      .random_uniform =
          [](headrace_call* call, double* numbers, uint64_t count) {
            return Fill(call, numbers, count, [](RowRandom& random) { return random.Uniform(); });
          },
      .random_below = FillBelow,
      .random_normal =
          [](headrace_call* call, double* numbers, uint64_t count) {
            return Fill(call, numbers, count, [](RowRandom& random) { return random.Normal(); });
          },
      .identity = Identify,
      .fillers = [](headrace_call* call, const uint8_t** marks,
                    uint64_t* count) { return Kept(call, [&] { return call->Fillers(marks, count); }); },
      .stopped = [](headrace_call*) { return StopSignal::Raised() ? 1 : 0; },
      .add_column =
          [](headrace_call* call, const char* name, int32_t dtype, int32_t axes, const int64_t* shape) {
            return Kept(call, [&] { return call->AddColumn(name, dtype, axes, shape); });
          },
      .begin_row = [](headrace_call* call, int64_t begin,
                      int64_t end) { return Kept(call, [&] { return call->BeginRow(begin, end); }); },
      .file_size = [](headrace_call* call, const headrace_file* file,
                      int64_t* bytes) { return Kept(call, [&] { return FileSize(call, file, bytes); }); },
      .read_file = [](headrace_call* call, headrace_file* file, int64_t offset, uint64_t bytes,
                      void* target) { return Kept(call, [&] { return ReadFile(call, file, offset, bytes, target); }); },
      .find_note = [](headrace_call* call, const char* key, const void** data,
                      uint64_t* bytes) { return Kept(call, [&] { return call->FindNote(key, data, bytes); }); },
      .leave_note = [](headrace_call* call, const char* key, const void* data, uint64_t bytes,
                       int32_t wrong) { return Kept(call, [&] { return call->LeaveNote(key, data, bytes, wrong); }); },
      .count_note = [](headrace_call* call) { return Kept(call, [&] { return call->CountNote(); }); },
  };
  return host;
}

}  // namespace headrace
