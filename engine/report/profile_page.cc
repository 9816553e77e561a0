#include "engine/report/profile_page.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/printable.h"
#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/plan/plan_text.h"
#include "engine/report/advice.h"
#include "engine/report/decimal.h"
#include "engine/report/named_rows.h"
#include "engine/report/store_lines.h"
#include "engine/report/wait_text.h"
#include "io/files/xml/xml_text.h"

namespace headrace {
namespace {

constexpr size_t kBins = 300;  // of time, in every chart
constexpr int kChartWidth = 900;
constexpr int kChartHeight = 60;
constexpr int kChartMargin = 2;  // above and below a line, so that none of it is cut off
constexpr int kStripHeight = 14;

constexpr absl::string_view kStyle =
#include "engine/report/profile_page.css.inc"
    ;
// Has {{placeholders}} to fill.
constexpr absl::string_view kPage =
#include "engine/report/profile_page.html.inc"
    ;

std::string Escaped(std::string_view text) { return EscapedXml(Printable(text)); }

// A number over time, known at some moments; it holds until the next.
using Series = std::vector<std::pair<uint64_t, double>>;

// The highest value in each bin of the run's time.
std::vector<double> HighestBySlot(Series series, uint64_t wall_ns) {
  std::stable_sort(series.begin(), series.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> bins(kBins, 0);
  double now = 0;
  size_t next = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const uint64_t end = wall_ns / kBins * (bin + 1);
    bins[bin] = now;
    for (; next < series.size() && (series[next].first < end || bin + 1 == kBins); ++next) {
      now = series[next].second;
      bins[bin] = std::max(bins[bin], now);
    }
  }
  return bins;
}

// Which part of each bin the thread had a task.
std::vector<double> BusyBySlot(const Profile& profile, const Profile::Thread& thread) {
  std::vector<double> bins(kBins, 0);
  const double width = std::max(1.0, static_cast<double>(profile.wall_ns) / kBins);
  for (const TaskEvent& task : thread.tasks) {
    if (profile.IsLoop(task)) continue;
    const double start = static_cast<double>(task.start_ns) / width;
    const double end = static_cast<double>(task.end_ns) / width;
    for (size_t bin = static_cast<size_t>(start); bin < kBins && static_cast<double>(bin) < end; ++bin) {
      bins[bin] += std::min(end, static_cast<double>(bin) + 1) - std::max(start, static_cast<double>(bin));
    }
  }
  return bins;
}

std::string Svg(int height, const std::string& inside) {
  return Cat("<svg viewBox=\"0 0 ", kChartWidth, " ", height, "\" preserveAspectRatio=\"none\" height=\"", height,
             "\">", inside, "</svg>\n");
}

std::string Line(const std::vector<double>& bins, double top) {
  std::string points;
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    Append(points, Decimal(static_cast<double>(kChartWidth * bin) / (kBins - 1), 1), ",",
           Decimal(kChartMargin + (kChartHeight - 2 * kChartMargin) * (1 - bins[bin] / std::max(1.0, top)), 1), " ");
  }
  return Svg(kChartHeight, Cat("<polyline class=\"line\" points=\"", points, "\"/>"));
}

// The beginning of a rectangle of a strip.
std::string Bar(std::string_view kind, double at, double width) {
  return Cat("<rect class=\"", kind, "\" x=\"", Decimal(at, 1), "\" width=\"", Decimal(width, 1), "\" height=\"",
             kStripHeight, "\"");
}

std::string Strip(const std::vector<double>& bins) {
  std::string bars;
  const double width = static_cast<double>(kChartWidth) / kBins;
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins[bin] < 0.005) continue;
    Append(bars, Bar("busy", static_cast<double>(bin) * width, width), " opacity=\"",
           Decimal(std::min(1.0, bins[bin]), 2), "\"/>");
  }
  return Svg(kStripHeight, bars);
}

// What a stage did with the run's time: at work, and standing still for want of something.
std::string TimeBar(const Report& report, const StageReport& stage) {
  const std::pair<std::string_view, double> parts[] = {
      // Of the time that it could have worked, where it has several tasks at once.
      {"busy", stage.busy_s / static_cast<double>(std::max<uint64_t>(1, stage.widest))},
      {"input", stage.input_wait_s},
      {"slot", stage.output_wait_s},
      {"memory", stage.memory_wait_s}};
  std::string bars;
  double at = 0;
  for (const auto& [kind, seconds] : parts) {
    const double width = kChartWidth * seconds / std::max(1e-9, report.wall_s);
    Append(bars, Bar(kind, at, width), "/>");
    at += width;
  }
  return Cat("<h3>", Escaped(stage.name), "</h3>\n", Svg(kStripHeight, bars));
}

std::string Rate(const Report& report, uint64_t number) {
  return Decimal(static_cast<double>(number) / std::max(1e-9, report.wall_s), 1);
}

// In rows a second, where it is known how many rows a batch has.
std::string Delivered(const Report& report) {
  const std::string in = Cat(" in ", SecondsText(report.wall_s), ", ");
  if (!report.rows.has_value())
    return Cat(report.delivered, " delivered", in, Rate(report, report.delivered), " a second");
  return Cat(*report.rows, " rows in ", report.delivered, " batches delivered", in, Rate(report, *report.rows),
             " rows a second");
}

std::string AdviceItems(const Report& report) {
  std::string items;
  for (const std::string& sentence : Advice(report)) Append(items, "<li>", Escaped(sentence), "</li>\n");
  return items;
}

// Nothing where no row has to be named.
std::string RowSection(const Report& report) {
  std::string items;
  for (const NamedRows& rows : RowsToName(report)) {
    Append(items, "<li>", Escaped(rows.sentence), "\n<ul>\n");
    for (const std::string& row : rows.first) Append(items, "<li>", Escaped(row), "</li>\n");
    Append(items, rows.more ? "<li>…</li>\n" : "", "</ul>\n</li>\n");
  }
  return items.empty() ? "" : Cat("<h2>Rows with a warning, and rows left out</h2>\n<ul>\n", items, "</ul>\n");
}

// Nothing without far stores.
std::string StoreSection(const Report& report) {
  std::string items;
  for (const StoreReport& store : report.stores) {
    std::string text;
    for (const std::string& line : StoreLines(store)) Append(text, text.empty() ? "" : "; ", line);
    Append(items, "<li>", Escaped(text), "</li>\n");
  }
  return items.empty() ? "" : Cat("<h2>Far stores</h2>\n<ul>\n", items, "</ul>\n");
}

std::string TreeRows(const Report& report) {
  std::string rows;
  for (const StageReport& stage : report.stages) {
    const std::string branch = stage.depth == 0 ? "" : std::string(3 * (stage.depth - 1), ' ') + "└─ ";
    const std::string cells[] = {std::string(LaneName(stage.lane)),
                                 Cat(stage.rows),
                                 Cat(stage.tasks),
                                 Cat(stage.widest),
                                 SecondsText(stage.busy_s),
                                 SecondsText(stage.input_wait_s),
                                 SecondsText(stage.output_wait_s),
                                 SecondsText(stage.memory_wait_s)};
    Append(rows, "<tr><td class=\"tree\">", branch, Escaped(stage.name), "</td>");
    for (const std::string& cell : cells) Append(rows, "<td>", cell, "</td>");
    rows += "</tr>\n";
  }
  return rows;
}

std::string TimeBars(const Report& report) {
  std::string bars;
  for (const StageReport& stage : report.stages) bars += TimeBar(report, stage);
  return bars;
}

// Of each queue, and after them of the memory held.
std::vector<std::vector<double>> HighestLevels(const Profile& profile) {
  std::vector<Series> levels(profile.stages.size() + 1);
  for (const Profile::Thread& thread : profile.threads) {
    for (const LevelSample& sample : thread.levels) {
      levels[sample.stage].emplace_back(sample.ns, static_cast<double>(sample.level));
    }
  }
  std::vector<std::vector<double>> highest;
  for (Series& series : levels) highest.push_back(HighestBySlot(std::move(series), profile.wall_ns));
  return highest;
}

std::string QueueCharts(const Report& report, const Profile& profile, const std::vector<std::vector<double>>& levels) {
  std::string charts;
  for (size_t i = 0; i < profile.stages.size(); ++i) {
    const int window = report.stages[i].window;
    Append(charts, "<h3>", Escaped(profile.stages[i]), ": up to ", window, " messages</h3>\n", Line(levels[i], window));
  }
  return charts;
}

std::string ThreadStrips(const Profile& profile) {
  std::string strips;
  for (const Profile::Thread& thread : profile.threads) {
    Append(strips, "<h3>", Escaped(thread.name), "</h3>\n", Strip(BusyBySlot(profile, thread)));
  }
  return strips;
}

// How many batches were there at each moment, between two of their times.
Series Between(const Profile& profile, uint64_t DeviceBatchTimes::* from, uint64_t DeviceBatchTimes::* to) {
  std::vector<std::pair<uint64_t, int>> steps;
  for (const DeviceBatchTimes& batch : profile.batches) {
    if (batch.*from == DeviceBatchTimes::kNever) continue;
    steps.emplace_back(batch.*from, 1);
    // Those that the loop never took go at the end.
    const uint64_t end = std::min(batch.*to, batch.released_ns);
    if (end != DeviceBatchTimes::kNever) steps.emplace_back(end, -1);
  }
  // Of one moment those that go first.
  std::sort(steps.begin(), steps.end());
  Series series;
  int now = 0;
  for (const auto& [ns, step] : steps) series.emplace_back(ns, now += step);
  return series;
}

std::string BatchChart(const Profile& profile, std::string_view what, uint64_t DeviceBatchTimes::* from,
                       uint64_t DeviceBatchTimes::* to) {
  const std::vector<double> bins = HighestBySlot(Between(profile, from, to), profile.wall_ns);
  const double most = *std::max_element(bins.begin(), bins.end());
  return Cat("<h3>", what, ": up to ", Decimal(most, 0), "</h3>\n", Line(bins, most));
}

// Nothing without a device.
std::string DeviceSection(const Report& report, const Profile& profile) {
  if (!report.device.has_value()) return "";
  const DeviceReport& device = *report.device;
  const std::string name = Escaped(device.name);
  const bool maps = !device.steps.empty();
  const std::string steps = maps ? Cat("After each copy it does ", Escaped(device.steps), ". ") : "";
  return Cat(
      "<h2>The device over time</h2>\n<p>", device.batches, " batches, ", BytesText(static_cast<int64_t>(device.bytes)),
      ", were sent to ", name, ", up to ", device.depth, " ahead of the loop. ", steps,
      "The thread that sends them copied for ", SecondsText(device.copy_s), ", and waited ",
      SecondsText(device.input_wait_s), " for batches, ", SecondsText(device.room_wait_s),
      " for the loop to take one, ", SecondsText(device.buffer_wait_s), " for a buffer.</p>\n",
      BatchChart(profile, "batches being copied", &DeviceBatchTimes::copy_ns, &DeviceBatchTimes::copied_ns),
      maps ? BatchChart(profile, "batches in the steps after the copy", &DeviceBatchTimes::copied_ns,
                        &DeviceBatchTimes::filled_ns)
           : "",
      BatchChart(profile, "batches ahead of the loop, ready or on their way", &DeviceBatchTimes::copy_ns,
                 &DeviceBatchTimes::given_ns),
      BatchChart(profile, "batches that the loop holds", &DeviceBatchTimes::given_ns, &DeviceBatchTimes::released_ns));
}

std::string DropNote(const Profile& profile) {
  if (profile.dropped_tasks + profile.dropped_levels + profile.dropped_batches == 0) return "";
  return Cat("<p>The buffers of this profile were full before the run ended: ", profile.dropped_tasks, " tasks and ",
             profile.dropped_levels, " levels",
             profile.dropped_batches == 0 ? "" : Cat(", and ", profile.dropped_batches, " batches on the device,"),
             " are missing from the charts over time and from the trace. The tree and the sums are whole.</p>\n");
}

}  // namespace

std::string ProfilePage(const Report& report, const Profile& profile) {
  const std::vector<std::vector<double>> levels = HighestLevels(profile);
  const std::vector<double>& held = levels.back();
  const double most_held = *std::max_element(held.begin(), held.end());
  // Replaces in one pass, so that names that look like placeholders stay names.
  return absl::StrReplaceAll(kPage, {{"{{style}}", kStyle},
                                     {"{{delivered}}", Delivered(report)},
                                     {"{{loop_wait}}", WaitText(report)},
                                     {"{{peak}}", BytesText(report.peak_bytes)},
                                     {"{{budget}}", BytesText(report.budget_bytes)},
                                     {"{{workers}}", Cat(report.workers)},
                                     {"{{advice}}", AdviceItems(report)},
                                     {"{{rows}}", RowSection(report)},
                                     {"{{stores}}", StoreSection(report)},
                                     {"{{missing}}", DropNote(profile)},
                                     {"{{tree}}", TreeRows(report)},
                                     {"{{time_bars}}", TimeBars(report)},
                                     {"{{profiled}}", SecondsText(profile.wall_ns * 1e-9)},
                                     {"{{queues}}", QueueCharts(report, profile, levels)},
                                     {"{{device}}", DeviceSection(report, profile)},
                                     {"{{most_held}}", BytesText(static_cast<int64_t>(most_held))},
                                     {"{{held}}", Line(held, most_held)},
                                     {"{{threads}}", ThreadStrips(profile)}});
}

}  // namespace headrace
