// `ShownListings` shows on Python's stderr how far long listings of far stores are, while one exists on the thread that
// waits for them. What is raised meanwhile, as by Ctrl-C, ends the work of HandledSignals.
// Threads: one thread, without the GIL.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_SHOWN_LISTINGS_H_
#define HEADRACE_PYTHON_BINDING_VALUES_SHOWN_LISTINGS_H_

#include "io/files/listing_progress.h"

namespace headrace::python {

class ShownListings {
 public:
  ShownListings();
  ShownListings(const ShownListings&) = delete;

 private:
  const ListingProgress::Scope scope_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_SHOWN_LISTINGS_H_
