#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

constexpr double kMostWindow = 1 << 30;

// Which rows a window has: `size` of them, each `stride` after the one before; the next window begins `shift` later.
struct WindowSteps {
  uint64_t size;
  uint64_t shift;
  uint64_t stride;

  static WindowSteps Of(const ir::Attributes& attributes) {
    const auto size = static_cast<uint64_t>(attributes.Int("size"));
    const uint64_t shift = attributes.IsNone("shift") ? size : static_cast<uint64_t>(attributes.Int("shift"));
    return {size, shift, static_cast<uint64_t>(attributes.Int("stride"))};
  }

  // From the first row of a window to its last.
  uint64_t reach() const { return (size - 1) * stride; }
  // The windows that are whole.
  uint64_t Count(uint64_t rows) const { return rows > reach() ? (rows - 1 - reach()) / shift + 1 : 0; }
  // How many windows before this one have its row `member`, too.
  uint64_t Before(uint64_t window, uint64_t member) const {
    const uint64_t common = std::gcd(shift, stride);
    // So many windows earlier the row is so many members later.
    const uint64_t windows = stride / common;
    const uint64_t members = shift / common;
    return std::min(window / windows, (size - 1 - member) / members);
  }
};

class WindowedOrder : public RowOrder {
 public:
  static absl::StatusOr<std::unique_ptr<RowOrder>> Of(uint64_t rows, const WindowSteps& steps) {
    auto order = std::make_unique<WindowedOrder>(steps);
    HEADRACE_RETURN_IF_ERROR(order->Begin(0, rows).status());
    return order;
  }
  explicit WindowedOrder(const WindowSteps& steps) : steps_(steps) {}

  uint64_t size() const override { return size_; }
  absl::StatusOr<BegunEpoch> Begin(uint64_t /*epoch*/, uint64_t input_rows) override {
    if (!__builtin_mul_overflow(steps_.Count(input_rows), steps_.size, &size_)) return BegunEpoch{size_, 0};
    return UnsupportedError("gives ", steps_.Count(input_rows), " windows of ", steps_.size,
                            " rows, which are more than 64 bits can count; use a larger shift");
  }
  uint64_t run_length() const override { return steps_.size; }
  bool recurs() const override { return steps_.shift <= steps_.reach(); }
  void Find(uint64_t /*epoch*/, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    for (size_t i = 0; i < positions.size(); ++i) {
      const uint64_t window = positions[i] / steps_.size;
      const uint64_t member = positions[i] % steps_.size;
      occurrences[i] = steps_.Before(window, member);
      positions[i] = window * steps_.shift + member * steps_.stride;
    }
  }

 private:
  const WindowSteps steps_;
  uint64_t size_ = 0;
};

absl::StatusOr<std::unique_ptr<RowOrder>> MakeWindowed(const OpArguments& arguments, uint64_t rows) {
  return WindowedOrder::Of(rows, WindowSteps::Of(arguments.attributes));
}

std::optional<uint64_t> MostRowsInWindows(const ir::Attributes& attributes,
                                          absl::Span<const std::optional<uint64_t>> inputs) {
  if (!inputs[0].has_value()) return std::nullopt;
  const WindowSteps steps = WindowSteps::Of(attributes);
  uint64_t rows = 0;
  if (__builtin_mul_overflow(steps.Count(*inputs[0]), steps.size, &rows)) return std::nullopt;
  return rows;
}

const OpRegistration window_registration(
    {
        .name = "window",
        .role = ir::Role::kStream,
        .summary = "Joins rows that follow each other to windows, which may overlap.",
        .doc = "Window i has the rows i * shift, i * shift + stride, … of the order that comes, `size` of them, "
               "joined along a new first axis as `batch` joins them: tf.data's window and its batch, with "
               "drop_remainder=True. So a window is always whole, and rows after the last whole one are left out. "
               "Windows are made of indices: ranks get whole windows, and a restart goes to its window at once. A row "
               "that comes in several windows is read for each, and random kernels below draw for each.\n"
               "Errors: anything but a source with random access, maps, and operators on indices below it (over other "
               "rows, `batch(size)` joins those that follow each other).",
        .attributes = {{.name = "size", .doc = "Rows in a window.", .minimum = 1, .maximum = kMostWindow},
                       {.name = "shift",
                        .doc = "From the first row of a window to that of the next; None: `size`, so that no row "
                               "comes twice.",
                        .default_value = "None",
                        .nullable = true,
                        .minimum = 1,
                        .maximum = kMostWindow},
                       {.name = "stride",
                        .doc = "From a row of a window to the next one.",
                        .default_value = "1",
                        .minimum = 1,
                        .maximum = kMostWindow}},
        .traits = {.indexed = true, .light = true, .repeats = true},
        .python_module = "dataset",
        .python = {.parameters = "size: int, shift: int | None = None, stride: int = 1",
                   .docs = {{"size"}, {"shift"}, {"stride"}}},
        .example = "ds.window(4, shift=1, stride=2)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
        .most_rows = MostRowsInWindows,
    },
    OrderFactories(MakeWindowed, {.of_any_size = true}));

}  // namespace
}  // namespace headrace
