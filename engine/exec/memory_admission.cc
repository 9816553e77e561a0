#include "engine/exec/memory_admission.h"

namespace headrace {
namespace {

bool AdmitOne(RunControl& control, const Stage* stage, const MemoryDemand& demand, int64_t bytes) {
  // If this message would run ahead, leaves room for every stage that has no output yet, so that the due message gets
  // through without overdrawing.
  const auto enter = [&] { return control.Enter(bytes, demand.runs_ahead ? control.NeedsOfIdle(stage) : 0); };
  if (enter()) return true;
  // Registers for a wake-up before looking at other stages: whatever they finish from now on signals this stage, in any
  // lane.
  control.AwaitMemory();
  if (enter()) return true;
  // Checks twice, because a task may end in between and leave work to do.
  return demand.last_resort() && control.EnterOverBudget(bytes, demand.last_resort);
}

}  // namespace

Admission AdmitMessages(RunControl& control, const Stage* stage, const MemoryDemand& demand) {
  const int64_t ahead = demand.ahead_bytes(demand.messages);
  const int64_t wanted = demand.message_bytes * demand.messages + ahead;
  // Up to half of the budget may be taken freely.
  if (control.Enter(wanted, control.budget() / 2)) return {demand.messages, ahead};
  if (demand.messages > 1 && control.Enter(wanted, control.NeedsOfIdle(stage))) return {demand.messages, ahead};
  const int64_t ahead_of_one = demand.ahead_bytes(1);
  if (!AdmitOne(control, stage, demand, demand.message_bytes + ahead_of_one)) return {};
  return {1, ahead_of_one};
}

}  // namespace headrace
