// `headrace_call` is one call of a plugin's callback: what the callback may ask for, what it says of a failure, and
// what becomes of exceptions that leave it. A callback that breaks the interface's rules gives an error that names
// plugin, operator and callback, and that no policy leaves out as a row's own.
// Threads: made, used and destroyed by one thread.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_CALL_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_CALL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "headrace_plugin.h"
#include "ir/type.h"
#include "kernels/kernel.h"

namespace headrace {

// The error that a callback of a plugin's operator breaks a rule of the interface: kFunction, not an error of one row.
absl::Status BrokenRule(std::string_view op, std::string_view callback, std::string_view how);

}  // namespace headrace

// The name that the interface gives to it.
struct headrace_call {
 public:
  // `op` ("myops.Blur") and `callback` ("apply") must outlive it.
  headrace_call(std::string_view op, std::string_view callback) : op_(op), callback_(callback) {}
  headrace_call(const headrace_call&) = delete;

  // Runs the callback. Errors: the one that it returned, with its text; kFunction if it throws or breaks a rule.
  absl::Status Run(absl::FunctionRef<int32_t(headrace_call*)> callback);

  // Everything that a callback which makes outputs may ask for. `types` are the types of the outputs; all must outlive
  // the call.
  struct Row {
    absl::Span<const headrace::Tensor> inputs = {};
    absl::Span<const headrace::ir::ColumnType> types = {};
    std::string_view typed_by = "infer()";       // what says these types
    headrace::KernelContext* context = nullptr;  // null: the row is a source's
    bool random = false;
    headrace::Tensors outputs = {};
  };
  void Give(Row* row) { row_ = row; }
  // What columns() adds to.
  void Give(headrace::ir::Columns* columns) { columns_ = columns; }
  // What next() says of a row's place in its file.
  struct Place {
    bool given = false;
    int64_t begin = 0;
    int64_t end = 0;
  };
  void Give(Place* place) { place_ = place; }

  // What the host's functions do; see headrace_plugin.h.
  int32_t Fail(int32_t result, const char* text);
  int32_t Allocate(uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape, void** data);
  int32_t GiveStrings(uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape, const void* values,
                      uint64_t value_bytes, const int64_t* offsets);
  int32_t GiveInput(uint32_t output, uint32_t input);
  // Null, with the error noted: this callback may not draw.
  headrace::RowRandom* Random();
  int32_t Fillers(const uint8_t** marks, uint64_t* count);
  int32_t FindNote(const char* key, const void** data, uint64_t* bytes);
  int32_t LeaveNote(const char* key, const void* data, uint64_t bytes, int32_t wrong);
  int32_t CountNote();
  int32_t AddColumn(const char* name, int32_t dtype, int32_t axes, const int64_t* shape);
  int32_t BeginRow(int64_t begin, int64_t end);
  // Notes the first error, and returns the result that passes it on.
  int32_t Refuse(absl::Status error);
  // The same, for a rule that is broken: `how` continues "apply() of myops.Blur".
  int32_t RefuseAs(std::string_view how) { return Refuse(Broken(how)); }

 private:
  absl::Status Broken(std::string_view how) const { return headrace::BrokenRule(op_, callback_, how); }
  absl::Status CheckOutput(uint32_t output, int32_t dtype, absl::Span<const int64_t> shape) const;
  absl::Status CheckShape(int32_t axes, const int64_t* shape) const;

  // False, with the error noted: this callback has no notes.
  bool HasNotes(std::string_view function);
  // False, with the error noted: the key is null.
  bool IsKey(std::string_view function, const char* key);
  // The outputs of a row may be made now.
  bool MakesRow() const { return row_ != nullptr && (place_ == nullptr || place_->given); }

  const std::string_view op_;
  const std::string_view callback_;
  Row* row_ = nullptr;
  headrace::ir::Columns* columns_ = nullptr;
  Place* place_ = nullptr;
  absl::Status error_;
  int32_t failed_ = 0;
  std::string text_;
  std::string note_;  // that was found last
};

namespace headrace {

// That apply(), read() or next() made every output; where bools have other bytes than 0 and 1, they become 1, but in
// those that are inputs.
absl::Status FinishOutputs(std::string_view op, std::string_view callback, absl::Span<const Tensor> inputs,
                           Tensors& outputs);

// The functions that plugins are given; valid while the process runs.
const headrace_host& PluginHost();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_CALL_H_
