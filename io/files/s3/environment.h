// `Environment` gives variables of the environment, so that tests say what they are. Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_ENVIRONMENT_H_
#define HEADRACE_IO_FILES_S3_ENVIRONMENT_H_

#include <cstdlib>
#include <functional>
#include <string>

namespace headrace::s3 {

// The value of a variable; "" if it is not set.
using Environment = std::function<std::string(const char* name)>;

inline std::string ProcessVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_ENVIRONMENT_H_
