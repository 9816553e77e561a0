// `GraphDump` and `ToDot` show a graph to people: a line for every operator, and Graphviz.
// Threads: pure functions.
#ifndef HEADRACE_IR_DUMP_H_
#define HEADRACE_IR_DUMP_H_

#include <string>

#include "ir/messages.h"

namespace headrace::ir {

// "Resize(size=(224, 224), antialias=True)": every attribute; after those of a chooser the steps of each branch, as in
// "RandomChoice(p=None) [Invert()] [Flip(p=1.0), Crop(size=(8, 8))]".
std::string StepText(const proto::Step& step);
std::string NodeText(const proto::Node& node);

// #0  Range(start=0, stop=10)
// #1  map(#0)
//       image = Decode(image)
//       image = RandomApply(image; p=0.5)
//         image = Invert(image)
std::string GraphDump(const proto::Graph& graph);

// For `dot -Tsvg`.
std::string ToDot(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_DUMP_H_
