// `SameTypes` tells whether two Arrow schemas have the same fields of the same types.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_ARROW_SAME_TYPES_H_
#define HEADRACE_IO_FORMATS_ARROW_SAME_TYPES_H_

#include "io/formats/arrow/c_data.h"

namespace headrace {

// The names of the schemas themselves, and metadata, may differ. Damaged schemas are the same as no other.
bool SameTypes(const ArrowSchema& a, const ArrowSchema& b);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_SAME_TYPES_H_
