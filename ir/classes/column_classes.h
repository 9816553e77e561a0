// `FollowClasses` tells which columns have the classes of labels after the steps of a map: labels in another form, and
// masks, whose pixels are labels, wherever kernels move them.
// Threads: pure functions.
#ifndef HEADRACE_IR_CLASSES_COLUMN_CLASSES_H_
#define HEADRACE_IR_CLASSES_COLUMN_CLASSES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ir/messages.h"

namespace headrace::ir {

// What is known of a column that has, or had, labels.
struct ColumnClasses {
  int64_t names = -1;           // equal for columns of the same classes; -1: not known
  std::string changed_by = {};  // the kernel that changed the labels; empty where `names` is known
  int64_t greatest = 0;         // of the labels that have names

  friend bool operator==(const ColumnClasses&, const ColumnClasses&) = default;
};

// By column.
using ClassesByColumn = std::map<std::string, ColumnClasses, std::less<>>;

// Applies a step of a valid graph, those in its branches among them. Names in the graph may be of any bytes.
void FollowClasses(const proto::Step& step, ClassesByColumn& classes);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_CLASSES_COLUMN_CLASSES_H_
