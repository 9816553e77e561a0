// `StepsText` writes the steps of a map for people: "image: Decode + RandomResizedCrop, Posterize; label: function
// train.py:clean", where + joins steps of one pass, the first of which decodes no more of an image than the next ones
// read.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_PLAN_STEPS_TEXT_H_
#define HEADRACE_ENGINE_PLAN_STEPS_TEXT_H_

#include <string>

#include "ir/graph.pb.h"

namespace headrace {

// Branches of a choice follow it in parentheses: "RandomChoice(Invert | Grayscale + Posterize)". Empty without steps.
std::string StepsText(const google::protobuf::RepeatedPtrField<ir::proto::Step>& steps);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_STEPS_TEXT_H_
