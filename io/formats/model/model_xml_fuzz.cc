// Fuzzes OpenVINO models and the files beside models, which are texts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/model/openvino_file.h"
#include "io/formats/model/sidecar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto xml = headrace::ReadOpenVinoEntries(text, {});
  Require(xml.ok() || headrace::KindOf(xml.status()) == headrace::ErrorKind::kData, "damage is the file's");
  const auto json = headrace::ReadSidecar(text, {});
  if (!json.ok()) {
    Require(headrace::KindOf(json.status()) == headrace::ErrorKind::kData, "damage is the file's");
    return 0;
  }
  const auto again = headrace::ReadSidecar(headrace::SidecarText(*json), {});
  Require(again.ok() && *again == *json, "what is written is read");
  return 0;
}
