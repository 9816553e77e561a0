#include "capi/stored_check.h"

#include <charconv>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "core/error.h"
#include "io/formats/json/json_scanner.h"
#include "io/formats/model/held_bytes.h"

namespace headrace::capi {
namespace {

constexpr size_t kCheckBlock = size_t{64} << 10;

// Calls `read` with each key of an object, before its value.
template <typename Read>
void ForEachKey(JsonScanner& json, Read read) {
  std::string key;
  json.EnterObject();
  while (json.NextKey(key)) read(key);
}

void ReadShape(JsonScanner& json, Shape& shape) {
  json.EnterArray();
  while (json.NextElement()) {
    JsonNumber number;
    if (json.ReadNumber(number) && (!number.is_whole || number.whole < 0)) json.Fail("a length is not a whole number");
    shape.push_back(number.whole);
  }
}

// Eight hexadecimal digits.
void ReadChecksum(JsonScanner& json, uint32_t& checksum) {
  std::string text;
  if (!json.ReadText(text)) return;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, checksum, 16);
  if (text.size() != 8 || read.ec != std::errc() || read.ptr != end) json.Fail("crc32c is not 8 hexadecimal digits");
}

void ReadBase64(JsonScanner& json, std::string& bytes) {
  std::string text;
  if (json.ReadText(text) && !absl::Base64Unescape(text, &bytes)) json.Fail("a value is not base64");
}

void ReadInput(JsonScanner& json, StoredInput& input) {
  if (json.Peek() == JsonKind::kText) return ReadBase64(json, input.bytes);
  ForEachKey(json, [&](const std::string& key) {
    if (key == "dtype") {
      json.ReadText(input.dtype);
    } else if (key == "shape") {
      ReadShape(json, input.shape);
    } else if (key == "base64") {
      ReadBase64(json, input.bytes);
    } else {
      json.Skip();
    }
  });
}

// Of a key of a digest's; false: it is of something else, and is to be read.
bool ReadDigest(JsonScanner& json, const std::string& key, StoredDigest& digest) {
  if (key == "dtype") {
    json.ReadText(digest.dtype);
  } else if (key == "shape") {
    ReadShape(json, digest.shape);
  } else if (key == "crc32c") {
    ReadChecksum(json, digest.crc32c);
  } else {
    return false;
  }
  return true;
}

void ReadOutput(JsonScanner& json, StoredOutput& output) {
  ForEachKey(json, [&](const std::string& key) {
    if (!ReadDigest(json, key, output.digest)) json.Skip();
  });
}

void ReadStep(JsonScanner& json, StoredStep& step) {
  ForEachKey(json, [&](const std::string& key) {
    if (key == "step") {
      json.ReadText(step.step);
    } else if (key == "column") {
      json.ReadText(step.column);
    } else if (!ReadDigest(json, key, step.digest)) {
      json.Skip();
    }
  });
}

void ReadLibraries(JsonScanner& json, std::string& made_with) {
  ForEachKey(json, [&](const std::string& name) {
    std::string version;
    if (json.Peek() != JsonKind::kText) {
      json.Skip();
    } else if (json.ReadText(version)) {
      made_with.append(Cat(", ", name, " ", version));
    }
  });
}

}  // namespace

absl::StatusOr<StoredCheck> ReadStoredCheck(std::string_view text) {
  JsonScanner json(std::make_unique<HeldBytes>(text), kCheckBlock, text.size());
  StoredCheck check;
  std::string version;
  std::string libraries;
  ForEachKey(json, [&](const std::string& key) {
    if (key == "headrace") {
      json.ReadText(version);
    } else if (key == "libraries") {
      ReadLibraries(json, libraries);
    } else if (key == "inputs") {
      ForEachKey(json, [&](const std::string& name) { ReadInput(json, check.inputs.emplace_back(StoredInput{name})); });
    } else if (key == "outputs") {
      ForEachKey(json,
                 [&](const std::string& name) { ReadOutput(json, check.outputs.emplace_back(StoredOutput{name})); });
    } else if (key == "steps") {
      json.EnterArray();
      while (json.NextElement()) ReadStep(json, check.steps.emplace_back());
    } else {
      json.Skip();
    }
  });
  json.AtEnd();
  if (!json.ok())
    return Reworded(json.status(), Cat("the stored check cannot be read: ", ToStd(json.status().message())));
  check.made_with = Cat("headrace ", version, libraries);
  return check;
}

}  // namespace headrace::capi
