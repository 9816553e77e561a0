// `ReadStoredCheck` reads what is stored beside a graph in a model: a request, and the digest of its result where the
// graph was attached (docs/c-library.md has the form).
// Threads: pure functions.
#ifndef HEADRACE_CAPI_STORED_CHECK_H_
#define HEADRACE_CAPI_STORED_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"

namespace headrace::capi {

struct StoredInput {
  std::string name;
  std::string dtype = "bytes";
  Shape shape = {};
  std::string bytes = {};
};

// Of a value.
struct StoredDigest {
  std::string dtype = {};
  Shape shape = {};
  uint32_t crc32c = 0;
};

struct StoredOutput {
  std::string name;
  StoredDigest digest = {};
};

struct StoredStep {
  std::string step = {};
  std::string column = {};
  StoredDigest digest = {};
};

struct StoredCheck {
  std::string made_with;  // "headrace 0.1.0, libjpeg-turbo 2.1.5"
  std::vector<StoredInput> inputs;
  std::vector<StoredOutput> outputs;
  std::vector<StoredStep> steps;
};

// kData: it is not of that form, and where.
absl::StatusOr<StoredCheck> ReadStoredCheck(std::string_view json);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_STORED_CHECK_H_
