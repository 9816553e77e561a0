// `StageLimits` holds what the user fixed of one operator: limits of its stage, and where its steps are done. These are
// options of a run: rows do not depend on them, and no graph, state or name of a cache holds them.
// Threads: values.
#ifndef HEADRACE_ENGINE_PLAN_STAGE_LIMITS_H_
#define HEADRACE_ENGINE_PLAN_STAGE_LIMITS_H_

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace headrace {

struct StageLimits {
  int workers = 0;  // the most tasks at once; 0: not fixed
  int window = 0;   // queues of the stage's connector; 0: not fixed
  // Where the run ends on a device that has kernels, all steps of the operator are done there.
  bool on_device = false;

  bool any() const { return workers > 0 || window > 0; }
  // Where both fix a number, the smaller one holds.
  void Join(const StageLimits& other) {
    workers = Smaller(workers, other.workers);
    window = Smaller(window, other.window);
  }

  friend bool operator==(const StageLimits&, const StageLimits&) = default;

 private:
  static int Smaller(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }
};

// By the operator's name: "map[1]".
using OperatorLimits = std::map<std::string, StageLimits, std::less<>>;

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_STAGE_LIMITS_H_
