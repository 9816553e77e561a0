// `ReadOpenVinoEntries` reads rt_info/framework of a model of OpenVINO (.xml), where its converter puts the properties
// of an ONNX model.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_MODEL_OPENVINO_FILE_H_
#define HEADRACE_IO_FORMATS_MODEL_OPENVINO_FILE_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

// Whether a file that begins so is XML whose outermost element is OpenVINO's.
bool BeginsAsOpenVino(std::string_view start);

// `xml` is the whole file. kData: it is damaged.
absl::StatusOr<std::vector<ModelEntry>> ReadOpenVinoEntries(std::string_view xml, WantedKey key);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_OPENVINO_FILE_H_
