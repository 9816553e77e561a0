// `RunIdentity` is what must be the same of two runs, in whatever processes, for their rows to be the same for a seed:
// the operators and the data. What the user's functions do is not seen. Threads: a value.
#ifndef HEADRACE_ENGINE_EXEC_RUN_IDENTITY_H_
#define HEADRACE_ENGINE_EXEC_RUN_IDENTITY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"

namespace headrace {

struct RunIdentity {
  std::string graph;  // ir::UserGraphHash, in hexadecimal digits
  // By name, "batch[3]", with the hash of each alone; inputs first.
  std::vector<std::pair<std::string, uint32_t>> operators;
  std::vector<Fingerprint> sources;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_RUN_IDENTITY_H_
