// Fuzzes ONNX models: entries that are read can be changed, and all others stay.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/model/onnx_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const headrace::OneFile files(bytes);
  const auto file = files.Open("m.onnx").value();
  const auto whole = static_cast<int64_t>(size);
  auto read = headrace::ReadOnnxEntries(*file, whole, {});
  const std::vector<headrace::ModelChange> changes = {{"k", "v"}};
  const auto changed = headrace::ChangeOnnxEntries(*file, whole, changes);
  Require(read.ok() == changed.ok(), "what is read is changed");
  if (!read.ok()) {
    Require(headrace::KindOf(read.status()) == headrace::ErrorKind::kData, "damage is the file's");
    return 0;
  }
  std::string text;
  for (const headrace::FilePiece& piece : (*changed)->pieces()) {
    text += bytes.substr(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.end - piece.begin)) + piece.text;
  }
  std::erase_if(*read, [](const headrace::ModelEntry& entry) { return entry.first == "k"; });
  read->emplace_back("k", "v");
  const headrace::OneFile written(text);
  const auto again = headrace::ReadOnnxEntries(*written.Open("m.onnx").value(), static_cast<int64_t>(text.size()), {});
  Require(again.ok() && *again == *read, "all other entries stay");
  return 0;
}
