#include "python/binding/values/shown_listings.h"

#include <pybind11/pybind11.h>

#include <chrono>

#include "python/binding/values/forkable_work.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/interpreter_end.h"
#include "python/binding/values/python_text.h"

namespace headrace::python {
namespace {

void ShowListing(const ListingProgress::Seen& seen) {
  if (InterpreterEnds()) return;
  // A thread that forks waits for the work with the GIL.
  const WorkingHold::Pause pause;
  const pybind11::gil_scoped_acquire gil;
  try {
    pybind11::module_::import("headrace._runs.listing_progress")
        .attr("show")(MessageLine(seen.folder), seen.entries, std::chrono::duration<double>(seen.since_start).count(),
                      seen.ended);
  } catch (const pybind11::error_already_set& raised) {
    HandledSignals::Keep(raised);
  }
}

}  // namespace

ShownListings::ShownListings() : scope_(ShowListing) {}

}  // namespace headrace::python
