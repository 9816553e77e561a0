#include "core/testing/dispatched_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/testing/dispatched_target.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

int64_t TargetOfThisCode() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(TargetOfThisCode);

int64_t DispatchedTarget() { return HWY_DYNAMIC_DISPATCH(TargetOfThisCode)(); }

}  // namespace headrace
#endif  // HWY_ONCE
