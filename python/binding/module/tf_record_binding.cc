#include "python/binding/module/tf_record_binding.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/formats/tfrecord/example_writer.h"
#include "io/formats/tfrecord/feature_survey.h"
#include "io/formats/tfrecord/tf_record_frame.h"
#include "python/binding/values/byte_pieces.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

// The features of a row, as views of Python's objects.
class __attribute__((visibility("hidden"))) RowFeatures {
 public:
  RowFeatures() = default;
  ~RowFeatures() {
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  }
  RowFeatures(const RowFeatures&) = delete;

  // A list of texts and objects of bytes, or an array of int64 or float32. Raises the error of another object.
  void Add(std::string_view name, const pybind11::handle& values) {
    if (PyList_Check(values.ptr())) {
      AddTexts(name, pybind11::reinterpret_borrow<pybind11::list>(values));
      return;
    }
    const Py_buffer& array = Buffer(values, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
    const std::string_view format = array.format == nullptr ? "" : array.format;
    const auto count = static_cast<size_t>(array.len / array.itemsize);
    if ((format == "l" || format == "q") && array.itemsize == sizeof(int64_t)) {
      features_.push_back({name, absl::MakeConstSpan(static_cast<const int64_t*>(array.buf), count)});
    } else if (format == "f") {
      features_.push_back({name, absl::MakeConstSpan(static_cast<const float*>(array.buf), count)});
    } else {
      throw TypeError("\"", name, "\" is neither int64 nor float32");
    }
  }
  absl::Span<const WrittenFeature> features() const { return features_; }

 private:
  void AddTexts(std::string_view name, const pybind11::list& values) {
    std::vector<std::string_view>& texts = texts_.emplace_back();
    for (const pybind11::handle value : values) {
      if (PyUnicode_Check(value.ptr())) {
        Py_ssize_t size = 0;
        const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
        if (text == nullptr) throw pybind11::error_already_set();
        texts.emplace_back(text, static_cast<size_t>(size));
      } else {
        const Py_buffer& bytes = Buffer(value, PyBUF_SIMPLE);
        texts.emplace_back(static_cast<const char*>(bytes.buf), static_cast<size_t>(bytes.len));
      }
    }
    features_.push_back({name, absl::MakeConstSpan(texts)});
  }
  const Py_buffer& Buffer(const pybind11::handle& object, int flags) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(object.ptr(), &buffer, flags) != 0) throw pybind11::error_already_set();
    return buffers_.emplace_back(buffer);
  }

  std::deque<Py_buffer> buffers_;
  std::deque<std::vector<std::string_view>> texts_;
  std::vector<WrittenFeature> features_;
};

// The frame of a record.
pybind11::bytes ExampleRecord(const std::vector<std::string>& names, const pybind11::sequence& values) {
  if (names.size() != values.size())
    throw ValueError("there are ", names.size(), " names of ", values.size(), " values");
  RowFeatures row;
  for (size_t i = 0; i < names.size(); ++i) row.Add(names[i], values[i]);
  std::string frame;
  RaiseIfError(AppendExampleRecord(row.features(), frame));
  return pybind11::bytes(frame);
}

pybind11::bytes Frame(const pybind11::sequence& payload) {
  const BytePieces pieces(payload);
  std::string frame;
  RaiseIfError(AppendTfRecord(pieces.views(), frame));
  return pybind11::bytes(frame);
}

// For one thread at a time.
class __attribute__((visibility("hidden"))) Survey {
 public:
  void Add(const pybind11::object& record) {
    const BytePieces pieces(pybind11::make_tuple(record));
    RaiseIfError(survey_.Add(pieces.views()[0]));
  }
  uint64_t records() const { return survey_.records(); }
  // Name, dtype, shape with None for an axis that differs, and why it cannot be read, or None.
  pybind11::list Proposals() const {
    pybind11::list proposals;
    for (const FeatureSurvey::Proposal& each : survey_.Proposals()) {
      pybind11::list shape;
      for (const int64_t size : each.shape) {
        if (size == FeatureSurvey::kDiffers) {
          shape.append(pybind11::none());
        } else {
          shape.append(size);
        }
      }
      const pybind11::object refusal =
          each.refusal.empty() ? pybind11::object(pybind11::none()) : pybind11::object(MessageLine(each.refusal));
      proposals.append(pybind11::make_tuple(NameText(each.name), MessageLine(FeatureKindName(each.kind)),
                                            pybind11::tuple(shape), refusal));
    }
    return proposals;
  }

 private:
  FeatureSurvey survey_;
};

}  // namespace

void BindTfRecords(pybind11::module_& module) {
  module.def("example_record", &ExampleRecord, pybind11::arg("names"), pybind11::arg("values"));
  module.def("tf_record", &Frame, pybind11::arg("payload"));
  pybind11::class_<Survey>(module, "FeatureSurvey")
      .def(pybind11::init<>())
      .def("add", &Survey::Add, pybind11::arg("record"))
      .def_property_readonly("records", &Survey::records)
      .def("proposals", &Survey::Proposals);
}

}  // namespace headrace::python
