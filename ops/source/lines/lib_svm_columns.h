// `MakeLibSvmColumns` makes columns from LibSVM text: each record is a line `label index:value index:value …`, and
// gives its label and, as two vectors of one length, the indices and values of its features. What the file leaves out
// is 0.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_LINES_LIB_SVM_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_LINES_LIB_SVM_COLUMNS_H_

#include <cstdint>
#include <limits>
#include <memory>

#include "ops/source/split_source.h"

namespace headrace {

struct LibSvmLines {
  // How many features there are: indices are below it.
  int64_t features = std::numeric_limits<int64_t>::max();
  // Whether the first feature is 0 in the file, else 1. Columns count from 0.
  bool zero_based = true;
};

// The columns label (float32), index (int64 vector) and value (float32 vector). Fields are between blanks; text after
// "#" is left out, and so are the weight in `label:weight` and a field `qid:number`; an index without a value has 1.
// Lines without a field are no rows. Errors of a record, kData: a field that is not of its form, an index that is not
// above the one before it, or one beyond the features.
std::unique_ptr<RecordColumns> MakeLibSvmColumns(const LibSvmLines& lines);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_LIB_SVM_COLUMNS_H_
