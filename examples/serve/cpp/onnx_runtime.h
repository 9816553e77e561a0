// `OnnxModel` runs a model of one input and one output by onnxruntime. The wheel of PyPI has the library without its
// header, so the few functions of its C API that are needed are declared here by their places in its table, whose order
// is fixed. Where there is a header, use that.
// Threads: one thread at a time.
#ifndef HEADRACE_EXAMPLES_SERVE_ONNX_RUNTIME_H_
#define HEADRACE_EXAMPLES_SERVE_ONNX_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

extern "C" {
struct OrtTable;
struct OrtApiBase {
  const OrtTable* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};
const OrtApiBase* OrtGetApiBase();
}

class OnnxModel {
 public:
  explicit OnnxModel(const std::string& path) {
    Check(Call<Status(int, const char*, void**)>(kCreateEnv)(kWarnings, "headrace", &env_));
    Check(Call<Status(void**)>(kCreateSessionOptions)(&options_));
    Check(Call<Status(void*, const char*, void*, void**)>(kCreateSession)(env_, path.c_str(), options_, &session_));
    Check(Call<Status(int, int, void**)>(kCreateCpuMemoryInfo)(kDeviceAllocator, kDefaultMemory, &memory_));
    input_ = NameOf(kSessionGetInputName);
    output_ = NameOf(kSessionGetOutputName);
  }
  OnnxModel(const OnnxModel&) = delete;
  ~OnnxModel() {
    Release(kReleaseMemoryInfo, memory_);
    Release(kReleaseSession, session_);
    Release(kReleaseSessionOptions, options_);
    Release(kReleaseEnv, env_);
  }

  // The scores of one input, which is used in place.
  std::vector<float> Run(const float* values, const std::vector<int64_t>& shape) const {
    size_t bytes = sizeof(float);
    for (const int64_t length : shape) bytes *= static_cast<size_t>(length);
    Value input(*this);
    Value output(*this);
    Check(Call<Status(void*, void*, size_t, const int64_t*, size_t, int, void**)>(kCreateTensorWithData)(
        memory_, const_cast<float*>(values), bytes, shape.data(), shape.size(), kFloat, &input.value));
    const char* const inputs[] = {input_.c_str()};
    const char* const outputs[] = {output_.c_str()};
    Check(
        Call<Status(void*, const void*, const char* const*, void* const*, size_t, const char* const*, size_t, void**)>(
            kRun)(session_, nullptr, inputs, &input.value, 1, outputs, 1, &output.value));
    return Values(output.value);
  }

 private:
  using Status = void*;
  // Places of functions in the table, since version 1 of the API.
  enum Place : size_t {
    kGetErrorMessage = 2,
    kCreateEnv = 3,
    kCreateSession = 7,
    kRun = 9,
    kCreateSessionOptions = 10,
    kSessionGetInputName = 36,
    kSessionGetOutputName = 37,
    kCreateTensorWithData = 49,
    kGetTensorMutableData = 51,
    kGetTensorShapeElementCount = 64,
    kGetTensorTypeAndShape = 65,
    kCreateCpuMemoryInfo = 69,
    kAllocatorFree = 76,
    kGetAllocator = 78,
    kReleaseEnv = 92,
    kReleaseStatus = 93,
    kReleaseMemoryInfo = 94,
    kReleaseSession = 95,
    kReleaseValue = 96,
    kReleaseTensorTypeAndShape = 99,
    kReleaseSessionOptions = 100,
  };
  static constexpr uint32_t kApi = 1;
  static constexpr int kWarnings = 2;
  static constexpr int kFloat = 1;
  static constexpr int kDeviceAllocator = 0;
  static constexpr int kDefaultMemory = 0;

  struct Value {
    explicit Value(const OnnxModel& model) : of(model) {}
    Value(const Value&) = delete;
    ~Value() { of.Release(kReleaseValue, value); }
    const OnnxModel& of;
    void* value = nullptr;
  };

  template <typename Function>
  Function* Call(Place place) const {
    return reinterpret_cast<Function*>(reinterpret_cast<void* const*>(api_)[place]);
  }
  void Release(Place place, void* object) const {
    if (object != nullptr) Call<void(void*)>(place)(object);
  }
  void Check(Status status) const {
    if (status == nullptr) return;
    const std::string text = Call<const char*(void*)>(kGetErrorMessage)(status);
    Release(kReleaseStatus, status);
    throw std::runtime_error("onnxruntime: " + text);
  }
  std::string NameOf(Place place) const {
    void* allocator = nullptr;
    char* name = nullptr;
    Check(Call<Status(void**)>(kGetAllocator)(&allocator));
    Check(Call<Status(void*, size_t, void*, char**)>(place)(session_, 0, allocator, &name));
    const std::string copy = name;
    Check(Call<Status(void*, void*)>(kAllocatorFree)(allocator, name));
    return copy;
  }
  std::vector<float> Values(void* tensor) const {
    void* type = nullptr;
    size_t count = 0;
    float* first = nullptr;
    Check(Call<Status(void*, void**)>(kGetTensorTypeAndShape)(tensor, &type));
    Check(Call<Status(void*, size_t*)>(kGetTensorShapeElementCount)(type, &count));
    Release(kReleaseTensorTypeAndShape, type);
    Check(Call<Status(void*, float**)>(kGetTensorMutableData)(tensor, &first));
    return {first, first + count};
  }

  const OrtTable* api_ = OrtGetApiBase()->GetApi(kApi);
  void* env_ = nullptr;
  void* options_ = nullptr;
  void* session_ = nullptr;
  void* memory_ = nullptr;
  std::string input_;
  std::string output_;
};

#endif  // HEADRACE_EXAMPLES_SERVE_ONNX_RUNTIME_H_
