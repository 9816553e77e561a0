// `hr::Graph` is headrace.h for C++17: objects that free themselves, and results that are a value or an error. Nothing
// is compiled but this header; link libheadrace.so. Exceptions are thrown only by Result::value(), and code that is
// compiled without them ends there.
//
//   hr::Result<hr::Graph> graph = hr::Graph::Open("model.onnx");
//   if (!graph) return Fail(graph.error().text());
//   hr::Result<hr::Tensor> image = graph->Run(hr::View::Bytes(jpeg));
//   if (!image) return Fail(image.error().text());
//   const float* pixels = image->data<float>();    // image->shape()
//
// Threads: any number of threads use one Graph at once; everything else belongs to one thread at a time.
#ifndef HEADRACE_HPP_
#define HEADRACE_HPP_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "headrace.h"

namespace hr {

// What went wrong. Copies share it.
class Error {
 public:
  // Takes a status that is not NULL.
  explicit Error(hr_status* status) : status_(status, hr_status_free) {}

  hr_kind kind() const { return static_cast<hr_kind>(hr_status_kind(status_.get())); }
  // A sentence for people. The texts live as long as an Error of this status.
  std::string_view text() const { return hr_status_text(status_.get()); }
  // Where it happened; "" where that is not known.
  std::string_view step() const { return hr_status_operator(status_.get()); }
  std::string_view location() const { return hr_status_location(status_.get()); }
  std::string_view column() const { return hr_status_column(status_.get()); }
  std::string_view file() const { return hr_status_file(status_.get()); }

 private:
  std::shared_ptr<hr_status> status_;
};

// What Result::value() throws.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(std::string(error.text())), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

// A value, or the error in its place.
template <typename T>
class Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Where ok() is false.
  const Error& error() const { return *std::get_if<1>(&held_); }

  // Where ok() is true.
  T& operator*() & { return *std::get_if<0>(&held_); }
  const T& operator*() const& { return *std::get_if<0>(&held_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&held_)); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }

  // The value; throws Exception if there is an error.
  T& value() & {
    Check();
    return **this;
  }
  T&& value() && {
    Check();
    return std::move(**this);
  }

 private:
  void Check() const {
    if (ok()) return;
#if defined(__cpp_exceptions)
    throw Exception(error());
#else
    std::abort();
#endif
  }

  std::variant<T, Error> held_;
};

// hr_dtype of a C++ type; bfloat16 and float16 have none.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<bool> : std::integral_constant<hr_dtype, HR_BOOL> {};
template <>
struct DTypeOf<int8_t> : std::integral_constant<hr_dtype, HR_INT8> {};
template <>
struct DTypeOf<int16_t> : std::integral_constant<hr_dtype, HR_INT16> {};
template <>
struct DTypeOf<int32_t> : std::integral_constant<hr_dtype, HR_INT32> {};
template <>
struct DTypeOf<int64_t> : std::integral_constant<hr_dtype, HR_INT64> {};
template <>
struct DTypeOf<uint8_t> : std::integral_constant<hr_dtype, HR_UINT8> {};
template <>
struct DTypeOf<uint16_t> : std::integral_constant<hr_dtype, HR_UINT16> {};
template <>
struct DTypeOf<uint32_t> : std::integral_constant<hr_dtype, HR_UINT32> {};
template <>
struct DTypeOf<uint64_t> : std::integral_constant<hr_dtype, HR_UINT64> {};
template <>
struct DTypeOf<float> : std::integral_constant<hr_dtype, HR_FLOAT32> {};
template <>
struct DTypeOf<double> : std::integral_constant<hr_dtype, HR_FLOAT64> {};

// Memory of the caller's: an input, or where an output is written. It must live until the call ends.
class View {
 public:
  // The bytes of one picture or file.
  static View Bytes(std::string_view bytes) { return Bytes(bytes.data(), bytes.size()); }
  static View Bytes(const void* data, size_t bytes) { return Of(HR_BYTES, const_cast<void*>(data), bytes, {}); }
  static View String(std::string_view text) { return Of(HR_STRING, const_cast<char*>(text.data()), text.size(), {}); }
  // Row-major and without gaps. At most HR_MOST_AXES axes.
  template <typename T>
  static View Numbers(const T* data, const std::vector<int64_t>& shape) {
    return Of(DTypeOf<T>::value, const_cast<T*>(data), sizeof(T) * Count(shape), shape);
  }
  // Of any dtype of numbers.
  static View Of(hr_dtype dtype, void* data, size_t bytes, const std::vector<int64_t>& shape) {
    View view;
    view.raw_.dtype = dtype;
    // One too many is refused by the call.
    view.raw_.axes = static_cast<int32_t>(shape.size() < kTooMany ? shape.size() : kTooMany);
    for (size_t i = 0; i < shape.size() && i < HR_MOST_AXES; ++i) view.raw_.shape[i] = shape[i];
    view.raw_.data = data;
    view.raw_.bytes = bytes;
    return view;
  }

  const hr_tensor& raw() const { return raw_; }

 private:
  static constexpr size_t kTooMany = HR_MOST_AXES + 1;

  View() { raw_.size = sizeof raw_; }
  static size_t Count(const std::vector<int64_t>& shape) {
    size_t count = 1;
    for (const int64_t length : shape) count *= static_cast<size_t>(length);
    return count;
  }

  hr_tensor raw_ = {};
};

// An output that the library allocated. Moved, not copied.
class Tensor {
 public:
  Tensor() { raw_.size = sizeof raw_; }
  // Takes over what hr_run() wrote.
  explicit Tensor(const hr_tensor& raw) : raw_(raw) {}
  Tensor(Tensor&& other) noexcept : raw_(std::exchange(other.raw_, Tensor().raw_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Tensor() { hr_release(&raw_); }

  hr_dtype dtype() const { return static_cast<hr_dtype>(raw_.dtype); }
  std::vector<int64_t> shape() const { return {raw_.shape, raw_.shape + raw_.axes}; }
  size_t bytes() const { return raw_.bytes; }
  const void* data() const { return raw_.data; }
  // Null if the elements are of another type.
  template <typename T>
  const T* data() const {
    return raw_.dtype == DTypeOf<T>::value ? static_cast<const T*>(raw_.data) : nullptr;
  }
  // Bytes and strings: one of them, in row-major order.
  std::string_view bytes_at(size_t index) const {
    const char* const first = static_cast<const char*>(raw_.data);
    if (raw_.offsets == nullptr) return {first, raw_.bytes};
    return {first + raw_.offsets[index], static_cast<size_t>(raw_.offsets[index + 1] - raw_.offsets[index])};
  }
  const hr_tensor& raw() const { return raw_; }

  // Gives the memory away; see hr_to_dlpack().
  Result<DLManagedTensor*> ToDlpack() {
    DLManagedTensor* managed = nullptr;
    if (hr_status* const status = hr_to_dlpack(&raw_, &managed)) return Error(status);
    return managed;
  }

 private:
  hr_tensor raw_ = {};
};

// An input or output of a graph, or a column of a pipeline.
struct Column {
  std::string name;
  hr_dtype dtype = HR_UNKNOWN;
  std::optional<std::vector<int64_t>> shape;  // nullopt: not known before a request has run; -1: differs
};

inline Column ColumnOf(const hr_column& raw) {
  Column column{raw.name, static_cast<hr_dtype>(raw.dtype), std::nullopt};
  if (raw.axes >= 0) column.shape.emplace(raw.shape, raw.shape + raw.axes);
  return column;
}

// Threads that run requests.
class Pool {
 public:
  static Result<Pool> Make(uint32_t threads) {
    hr_pool* pool = nullptr;
    if (hr_status* const status = hr_pool_make(threads, &pool)) return Error(status);
    return Pool(pool);
  }
  hr_pool* raw() const { return pool_.get(); }

 private:
  explicit Pool(hr_pool* pool) : pool_(pool, hr_pool_close) {}
  std::unique_ptr<hr_pool, void (*)(hr_pool*)> pool_;
};

class Graph {
 public:
  // A saved graph, or a model that a graph is attached to. `verify`: see hr_open_options.
  static Result<Graph> Open(const std::string& path, bool verify = false) {
    hr_open_options options = {};
    options.size = sizeof options;
    options.path = path.c_str();
    options.verify = verify ? 1 : 0;
    return Open(options);
  }
  static Result<Graph> FromBytes(std::string_view bytes) {
    hr_open_options options = {};
    options.size = sizeof options;
    options.bytes = bytes.data() == nullptr ? "" : bytes.data();
    options.byte_count = bytes.size();
    return Open(options);
  }

  Result<std::vector<Column>> inputs() const { return Columns(hr_input_count(raw()), hr_input); }
  Result<std::vector<Column>> outputs() const { return Columns(hr_output_count(raw()), hr_output); }
  std::string_view hash() const { return hr_graph_hash(raw()); }

  // For a graph of one input and one output.
  Result<Tensor> Run(const View& input) const {
    hr_tensor output = Tensor().raw();
    if (hr_status* const status = hr_run(raw(), &input.raw(), 1, &output, 1)) return Error(status);
    return Tensor(output);
  }
  // All outputs, in the order of outputs().
  Result<std::vector<Tensor>> Run(const std::vector<View>& inputs) const {
    const std::vector<hr_tensor> given = Raw(inputs);
    std::vector<hr_tensor> outputs(hr_output_count(raw()), Tensor().raw());
    hr_status* const status = hr_run(raw(), given.data(), given.size(), outputs.data(), outputs.size());
    if (status != nullptr) return Error(status);
    return Owned(outputs, 0, outputs.size());
  }
  // Writes each output where its view says; nullopt: all went well.
  std::optional<Error> RunInto(const std::vector<View>& inputs, const std::vector<View>& outputs) const {
    const std::vector<hr_tensor> given = Raw(inputs);
    std::vector<hr_tensor> slots = Raw(outputs);
    hr_status* const status = hr_run(raw(), given.data(), given.size(), slots.data(), slots.size());
    if (status == nullptr) return std::nullopt;
    return Error(status);
  }
  // Each request with a result of its own. `inputs`: those of the first request, then those of the second, and so on.
  // Without a pool on the calling thread alone.
  Result<std::vector<Result<std::vector<Tensor>>>> RunMany(const std::vector<View>& inputs,
                                                           const Pool* pool = nullptr) const {
    const size_t input_count = hr_input_count(raw());
    const size_t output_count = hr_output_count(raw());
    const size_t requests = input_count == 0 ? 0 : inputs.size() / input_count;
    const size_t left_over = input_count == 0 ? inputs.size() : inputs.size() % input_count;
    const std::vector<hr_tensor> given = Raw(inputs);
    // A request that lacks inputs is refused before any runs.
    if (left_over > 0) {
      std::vector<hr_tensor> none(output_count, Tensor().raw());
      return Error(hr_run(raw(), given.data(), left_over, none.data(), output_count));
    }
    std::vector<hr_tensor> outputs(requests * output_count, Tensor().raw());
    std::vector<hr_status*> statuses(requests, nullptr);
    hr_status* const status = hr_run_many(raw(), requests, given.data(), input_count, outputs.data(), output_count,
                                          statuses.data(), pool == nullptr ? nullptr : pool->raw());
    if (status != nullptr) return Error(status);
    std::vector<Result<std::vector<Tensor>>> results;
    results.reserve(requests);
    for (size_t i = 0; i < requests; ++i) {
      if (statuses[i] != nullptr) {
        results.emplace_back(Error(statuses[i]));
      } else {
        results.emplace_back(Owned(outputs, i * output_count, output_count));
      }
    }
    return results;
  }

  hr_graph* raw() const { return graph_.get(); }

 private:
  explicit Graph(hr_graph* graph) : graph_(graph, hr_close) {}

  static Result<Graph> Open(const hr_open_options& options) {
    hr_graph* graph = nullptr;
    if (hr_status* const status = hr_open(&options, &graph)) return Error(status);
    return Graph(graph);
  }

  Result<std::vector<Column>> Columns(size_t count, hr_status* (*describe)(const hr_graph*, size_t, hr_column*)) const {
    std::vector<Column> columns;
    for (size_t i = 0; i < count; ++i) {
      hr_column raw_column = {};
      raw_column.size = sizeof raw_column;
      if (hr_status* const status = describe(raw(), i, &raw_column)) return Error(status);
      columns.push_back(ColumnOf(raw_column));
    }
    return columns;
  }

  static std::vector<hr_tensor> Raw(const std::vector<View>& views) {
    std::vector<hr_tensor> raw;
    raw.reserve(views.size());
    for (const View& view : views) raw.push_back(view.raw());
    return raw;
  }
  static std::vector<Tensor> Owned(const std::vector<hr_tensor>& raw, size_t begin, size_t count) {
    std::vector<Tensor> owned;
    owned.reserve(count);
    for (size_t i = 0; i < count; ++i) owned.emplace_back(raw[begin + i]);
    return owned;
  }

  std::unique_ptr<hr_graph, void (*)(hr_graph*)> graph_;
};

// A run of a whole data set's graph. Link libheadrace_engine.so for it.
class Pipeline {
 public:
  struct Option {
    std::string name;
    std::variant<int64_t, std::string> value;
  };

  // What ds.save() wrote. `state`: where to go on; "": at the beginning.
  static Result<Pipeline> Open(const std::string& path, const std::vector<Option>& options = {},
                               std::string_view state = {}) {
    hr_pipeline_options given = {};
    given.path = path.c_str();
    return Open(given, options, state);
  }
  static Result<Pipeline> FromBytes(std::string_view bytes, const std::vector<Option>& options = {},
                                    std::string_view state = {}) {
    hr_pipeline_options given = {};
    given.bytes = bytes.data() == nullptr ? "" : bytes.data();
    given.byte_count = bytes.size();
    return Open(given, options, state);
  }

  Result<std::vector<Column>> columns() const {
    std::vector<Column> columns;
    for (size_t i = 0; i < hr_pipeline_column_count(raw()); ++i) {
      hr_column column = {};
      column.size = sizeof column;
      if (hr_status* const status = hr_pipeline_column(raw(), i, &column)) return Error(status);
      columns.push_back(ColumnOf(column));
    }
    return columns;
  }
  // The columns of the next row; nullopt: the epoch is at its end.
  Result<std::optional<std::vector<Tensor>>> Next() {
    std::vector<hr_tensor> outputs(hr_pipeline_column_count(raw()), Tensor().raw());
    int32_t is_row = 0;
    if (hr_status* const status = hr_pipeline_next(raw(), outputs.data(), outputs.size(), &is_row))
      return Error(status);
    std::optional<std::vector<Tensor>> row;
    if (is_row == 0) return row;
    row.emplace();
    for (const hr_tensor& output : outputs) row->emplace_back(output);
    return row;
  }
  // nullopt: all went well.
  std::optional<Error> NextEpoch() {
    if (hr_status* const status = hr_pipeline_next_epoch(raw())) return Error(status);
    return std::nullopt;
  }
  // See hr_pipeline_state().
  Result<std::string> State() { return Text(hr_pipeline_state); }
  Result<std::string> Explain() { return Text(hr_pipeline_explain); }

  hr_pipeline* raw() const { return pipeline_.get(); }

 private:
  explicit Pipeline(hr_pipeline* pipeline) : pipeline_(pipeline, hr_pipeline_close) {}

  static Result<Pipeline> Open(hr_pipeline_options given, const std::vector<Option>& options, std::string_view state) {
    std::vector<hr_option> raw_options;
    for (const Option& option : options) {
      hr_option raw_option = {};
      raw_option.size = sizeof raw_option;
      raw_option.name = option.name.c_str();
      if (const auto* const text = std::get_if<std::string>(&option.value)) raw_option.text = text->c_str();
      if (const auto* const number = std::get_if<int64_t>(&option.value)) raw_option.number = *number;
      raw_options.push_back(raw_option);
    }
    given.size = sizeof given;
    given.options = raw_options.data();
    given.option_count = raw_options.size();
    given.state = state.data();
    given.state_bytes = state.size();
    hr_pipeline* pipeline = nullptr;
    if (hr_status* const status = hr_pipeline_open(&given, &pipeline)) return Error(status);
    return Pipeline(pipeline);
  }
  Result<std::string> Text(hr_status* (*give)(hr_pipeline*, hr_tensor*)) {
    hr_tensor output = Tensor().raw();
    if (hr_status* const status = give(raw(), &output)) return Error(status);
    return std::string(Tensor(output).bytes_at(0));
  }

  std::unique_ptr<hr_pipeline, void (*)(hr_pipeline*)> pipeline_;
};

// See hr_load_plugin(); nullopt: it is loaded.
inline std::optional<Error> LoadPlugin(const std::string& path) {
  hr_status* const status = hr_load_plugin(path.c_str());
  if (status == nullptr) return std::nullopt;
  return Error(status);
}

}  // namespace hr

#endif  // HEADRACE_HPP_
