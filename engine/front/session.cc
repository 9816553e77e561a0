#include "engine/front/session.h"

#include <unistd.h>

#include <optional>

#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/device/device_tail.h"
#include "engine/device/placement.h"
#include "engine/report/explain.h"
#include "engine/report/profile_page.h"
#include "engine/report/trace.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/validate.h"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

// Where the rows of a list begin is known on the device alone.
absl::Status RefuseListsOn(const std::string& device, const ir::proto::Graph& graph) {
  // Starting it says what is wrong with such a graph.
  if (!ir::Validate(graph).ok()) return absl::OkStatus();
  const absl::StatusOr<ir::Schema> schema = ir::ResultSchema(graph);
  if (!schema.ok()) return absl::OkStatus();
  for (const ir::DeliveredColumn& column : ir::DeliveredColumns(*schema)) {
    if (column.splits < 0) continue;
    return UnsupportedError("column \"", schema->columns[column.column].name, "\" is a list of rows, which ", device,
                            " does not take: write batch(ragged=\"splits\"), whose values and splits become two "
                            "tensors there, or \"pad\"");
  }
  return absl::OkStatus();
}

bool Sends(const IterateOptions& options) { return options.device.has_value() && options.device->depth > 0; }

}  // namespace

Session::Session() : process_(getpid()) {}

absl::StatusOr<std::unique_ptr<Session>> Session::Start(const ir::proto::Graph& graph, IterateOptions options) {
  if (Sends(options)) HEADRACE_RETURN_IF_ERROR(RefuseListsOn(options.device->name, graph));
  std::unique_ptr<Session> session(new Session);
  HEADRACE_ASSIGN_OR_RETURN(session->iteration_, DeviceIteration::Start(graph, std::move(options)));
  const ir::Schema schema = session->schema();
  session->columns_ = ir::DeliveredColumns(schema);
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].type.ragged) session->splits_ = static_cast<int>(i);
  }
  return session;
}

Session::~Session() {
  if (inherited()) static_cast<void>(iteration_.release());
}

bool Session::inherited() const { return getpid() != process_; }

absl::Status Session::CheckProcess() const {
  if (!inherited()) return absl::OkStatus();
  return UnsupportedError(
      "this iterator was made before a fork, and its threads stayed in the parent; make a new iterator in the child, "
      "or start the child with the 'spawn' method");
}

absl::Status Session::Enter() {
  std::thread::id nobody;
  if (user_.compare_exchange_strong(nobody, std::this_thread::get_id())) {
    waiting_since_ns_.store(NowNs(), std::memory_order_relaxed);
    return absl::OkStatus();
  }
  if (nobody == std::this_thread::get_id()) {
    return UnsupportedError(
        "the iterator was asked for a row within a call that it makes; take rows of iter(ds) or ds.iterate(…)");
  }
  return UnsupportedError("another thread waits for this iterator; an iterator serves one thread at a time");
}

void Session::Leave() {
  waiting_since_ns_.store(0, std::memory_order_relaxed);
  user_.store(std::thread::id());
}

absl::StatusOr<Session::Outcome> Session::Fetch(std::chrono::nanoseconds limit) {
  if (row_waits_) return Outcome::kRow;
  if (at_end_) return Outcome::kEpochEnd;
  absl::StatusOr<Outcome> outcome = iteration_->Fetch(limit, row_);
  failed_ = !outcome.ok();
  if (!outcome.ok()) return outcome;
  at_end_ = *outcome == Outcome::kEpochEnd;
  row_waits_ = *outcome == Outcome::kRow;
  if (row_waits_) joined_ = RowsIn(row_.columns);
  return outcome;
}

bool Session::Given() {
  if (!std::exchange(row_waits_, false)) return false;
  iteration_->Given();
  all_joined_ += joined_;
  row_.batch.reset();
  ++given_;
  return true;
}

void Session::Fail() {
  iteration_->Stop();
  row_waits_ = false;
  at_end_ = false;
  failed_ = true;
}

void Session::Ask(uint64_t epoch) {
  at_end_ = false;
  given_ = 0;
  iteration_->Ask(epoch);
}

Session::Closed Session::Close(std::chrono::nanoseconds patience) {
  const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  const Closed closed = iteration_->Close(patience);
  if (closed == Closed::kEntirely) WaitUntilLeft(until);
  closed_ = closed;
  return closed;
}

// Lets a thread that waited for a row return to its front, as it must not be here at the end of an interpreter.
void Session::WaitUntilLeft(Clock::time_point until) const {
  while (user_.load() != std::thread::id() && user_.load() != std::this_thread::get_id() && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The first axis of ragged values counts something else.
uint64_t Session::RowsIn(const std::vector<Tensor>& columns) const {
  if (splits_ >= 0 && columns[static_cast<size_t>(splits_)].elements() > 0) {
    return static_cast<uint64_t>(columns[static_cast<size_t>(splits_)].elements() - 1);
  }
  for (const Tensor& column : columns) {
    if (!column.shape().empty()) return static_cast<uint64_t>(column.shape()[0]);
  }
  return 1;
}

std::string Session::Explain() const { return ExplainRun(report()); }

std::pair<std::string, std::string> Session::Profile(bool joined) const {
  const headrace::Profile profile = iteration_->profile();
  Report report = iteration_->report();
  if (joined) report.rows = all_joined_;
  return {ChromeTrace(profile), ProfilePage(report, profile)};
}

absl::StatusOr<std::string> ExplainRequest(const ir::proto::Graph& graph, IterateOptions options, bool passes) {
  std::vector<DeviceTail> tails;
  if (MayPlaceSteps(options)) {
    const OperatorLimits limits = options.limits;
    options.reduce = [&tails, limits](const ir::proto::Graph& each) { return PlaceSteps(each, limits, tails); };
  }
  HEADRACE_ASSIGN_OR_RETURN(std::string text, ExplainGraph(graph, options, passes));
  if (!tails.empty()) Append(text, "  after the copy it does ", TailsText(tails), ", if it has kernels\n");
  return text;
}

}  // namespace headrace
