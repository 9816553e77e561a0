#include "kernels/step_actions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Of which any number run as one, up to one that does not join.
class Joining : public Kernel {
 public:
  explicit Joining(bool joins = true) : joins(joins) {}
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    return Tensors(inputs.begin(), inputs.end());
  }
  const bool joins;
};

// Keeps the seeds of its parts.
class JoinedRun : public FusedRun {
 public:
  explicit JoinedRun(absl::Span<const Part> parts) : parts_(parts.begin(), parts.end()) {}
  size_t parts() const override { return parts_.size(); }
  absl::StatusOr<Tensor> Apply(const Tensor& input, const RowId&, OutputAllocator&, RowNotes*) const override {
    return input;
  }
  std::vector<uint64_t> Seeds() const {
    std::vector<uint64_t> seeds;
    for (const Part& part : parts_) seeds.push_back(part.seed);
    return seeds;
  }

 private:
  const std::vector<Part> parts_;
};

std::shared_ptr<const FusedRun> JoinedPrefix(absl::Span<const FusedRun::Part> parts) {
  size_t count = 0;
  for (const FusedRun::Part& part : parts) {
    const auto* const kernel = dynamic_cast<const Joining*>(part.kernel);
    if (kernel == nullptr || !kernel->joins) break;
    ++count;
  }
  return count < 2 ? nullptr : std::make_shared<const JoinedRun>(parts.subspan(0, count));
}

const FusedRunRegistration joined_registration(&JoinedPrefix);

struct NumberedStep {
  std::string name;
  std::vector<int> inputs;
  std::vector<int> outputs;
  uint32_t fused = 0;
  bool by_frame = false;
  bool joins = true;
  uint64_t salt = 0;
  std::shared_ptr<const Kernel> kernel = std::make_shared<const Joining>(joins);
};

StepActions<NumberedStep> ActionsOf(const std::vector<NumberedStep>& steps) {
  std::vector<const NumberedStep*> pointers;
  for (const NumberedStep& step : steps) pointers.push_back(&step);
  return ActionsOfColumns(absl::MakeConstSpan(pointers),
                          [](const NumberedStep& step) -> uint64_t { return step.name.size(); });
}

// "a+b c": a and b run as one.
std::string TextOf(const StepActions<NumberedStep>& actions) {
  std::string text;
  for (const StepAction<NumberedStep>& action : actions) {
    if (!text.empty()) text += ' ';
    for (const NumberedStep* step : action.steps) {
      if (step != action.steps.front()) text += action.fused == nullptr ? '?' : '+';
      text += step->name;
    }
  }
  return text;
}

TEST(StepActions, RunsStepsOfOneNumberAsOne) {
  EXPECT_EQ(TextOf(ActionsOf({{"a", {0}, {0}, 1}, {"b", {0}, {0}, 1}, {"c", {0}, {0}, 2}})), "a+b c");
  EXPECT_EQ(TextOf(ActionsOf({{"a", {0}, {0}}, {"b", {0}, {0}}})), "a b");
  EXPECT_EQ(TextOf(ActionsOf({})), "");
}

TEST(StepActions, RunsWhatPassesDoNotJoinStepByStep) {
  EXPECT_EQ(TextOf(ActionsOf({{"a", {0}, {0}, 1},
                              {"b", {0}, {0}, 1},
                              {"c", {0}, {0}, 1, false, false},
                              {"d", {0}, {0}, 1},
                              {"e", {0}, {0}, 1}})),
            "a+b c d+e");
}

// Column 1 has steps of its own between those of column 0.
TEST(StepActions, RunsJoinedStepsWhereTheFirstStands) {
  EXPECT_EQ(TextOf(ActionsOf({{"a", {0}, {0}, 1}, {"b", {1}, {1}, 2}, {"c", {0}, {0}, 1}, {"d", {1}, {1}, 2}})),
            "a+c b+d");
}

TEST(StepActions, EndsARunWhereAnotherStepTakesOrWritesItsColumn) {
  EXPECT_EQ(TextOf(ActionsOf({{"a", {0}, {0}, 1}, {"b", {0, 1}, {2}}, {"c", {0}, {0}, 1}})), "a b c");
  EXPECT_EQ(TextOf(ActionsOf({{"a", {0}, {0}, 1}, {"b", {1}, {0}}, {"c", {0}, {0}, 1}})), "a b c");
}

TEST(StepActions, GivesThePassTheSeedOfEachStep) {
  const std::vector<NumberedStep> steps = {{"one", {0}, {0}, 1}, {"three", {0}, {0}, 1}};
  const auto actions = ActionsOf(steps);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_THAT(dynamic_cast<const JoinedRun&>(*actions[0].fused).Seeds(), ElementsAre(3, 5));
}

TEST(StepActions, TakesAClipByFrameIfAStepDoes) {
  EXPECT_FALSE(ActionsOf({{"a", {0}, {0}, 1}, {"b", {0}, {0}, 1}})[0].by_frame);
  EXPECT_TRUE(ActionsOf({{"a", {0}, {0}, 1}, {"b", {0}, {0}, 1, true}})[0].by_frame);
}

TEST(StepActions, KnowsTheLastWriterOfAColumn) {
  const auto actions =
      ActionsOf({{"a", {0}, {0}}, {"b", {1}, {0}}, {"c", {0}, {1, 2}}, {"d", {0}, {3}}, {"e", {3}, {3}}});
  std::vector<std::optional<size_t>> columns;
  for (const auto& action : actions) columns.push_back(action.last_of);
  // c is the last to write two columns, so that neither is made in its place.
  EXPECT_THAT(columns, ElementsAre(std::nullopt, 0, std::nullopt, std::nullopt, 3));
}

// Runs one action of a and b as one; the pass fails if `fails`, and the step `wrong`.
absl::Status RunTwo(bool fails, const std::string& wrong, std::string& ran, std::vector<OutputAllocator*>& outputs,
                    OutputAllocator& output) {
  const std::vector<NumberedStep> steps = {{"a", {0}, {0}, 1}, {"b", {0}, {0}, 1}};
  const auto actions = ActionsOf(steps);
  return RunAction(
      actions[0], output,
      [&](const StepAction<NumberedStep>&, OutputAllocator& into) {
        ran += "+";
        outputs.push_back(&into);
        return !fails;
      },
      [&](const NumberedStep& step, OutputAllocator& into) {
        ran += step.name;
        outputs.push_back(&into);
        return step.name == wrong ? DataError("wrong in ", step.name) : absl::OkStatus();
      });
}

TEST(StepActions, RunsThePassAlone) {
  std::string ran;
  std::vector<OutputAllocator*> outputs;
  OutputAllocator output;
  ASSERT_TRUE(RunTwo(false, "a", ran, outputs, output).ok());
  EXPECT_EQ(ran, "+");
  EXPECT_THAT(outputs, ElementsAre(&output));
}

TEST(StepActions, RunsStepByStepWhereThePassFails) {
  std::string ran;
  std::vector<OutputAllocator*> outputs;
  OutputAllocator output;
  ASSERT_TRUE(RunTwo(true, "", ran, outputs, output).ok());
  EXPECT_EQ(ran, "+ab");
  EXPECT_NE(outputs[1], &output);
  EXPECT_EQ(outputs[2], &output);
}

TEST(StepActions, EndsAtTheStepThatFails) {
  std::string ran;
  std::vector<OutputAllocator*> outputs;
  OutputAllocator output;
  EXPECT_THAT(std::string(RunTwo(true, "a", ran, outputs, output).message()), HasSubstr("wrong in a"));
  EXPECT_EQ(ran, "+a");
}

}  // namespace
}  // namespace headrace
