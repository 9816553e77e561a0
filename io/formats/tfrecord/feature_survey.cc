#include "io/formats/tfrecord/feature_survey.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace headrace {

void FeatureSurvey::Range::Take(size_t number) {
  least = any ? std::min(least, number) : number;
  most = any ? std::max(most, number) : number;
  any = true;
}

absl::Status FeatureSurvey::Add(std::string_view record) {
  // Of a name that comes again the last entry counts.
  std::map<std::string_view, FeatureEntry> last;
  HEADRACE_RETURN_IF_ERROR(
      ForEachFeature(record, [&](std::string_view name, const FeatureEntry& entry) { last[name] = entry; }));
  for (const auto& [name, entry] : last) {
    const char* const damage = values_.Read(entry);
    if (damage != nullptr) return NotAnExample(record, damage);
  }
  ++records_;
  for (const auto& [name, entry] : last) {
    values_.Read(entry);
    Take(entry, values_, seen_[std::string(name)]);
  }
  return absl::OkStatus();
}

void FeatureSurvey::Take(const FeatureEntry& entry, const FeatureValues& values, Seen& seen) const {
  (entry.is_list ? seen.in_lists : seen.in_context) = true;
  const FeatureKind kind = values.kind();
  if (kind == FeatureKind::kNone && !entry.is_list) return;
  ++seen.records;
  if (seen.kind == FeatureKind::kNone) seen.kind = kind;
  if (kind != FeatureKind::kNone && kind != seen.kind) seen.other_kind = kind;
  if (values.other_kind().has_value()) seen.other_kind = values.other_kind();
  seen.values.Take(values.count());
  if (!entry.is_list || values.steps() == 0) return;
  seen.uneven |= !values.in_step().has_value();
  seen.in_steps.Take(values.in_step().value_or(0));
}

FeatureSurvey::Proposal FeatureSurvey::ProposalOf(const std::string& name, const Seen& seen) const {
  Proposal proposal{name, seen.kind};
  if (seen.in_context && seen.in_lists) {
    proposal.refusal = "it is a feature of some records and a feature list of others";
  } else if (seen.other_kind.has_value()) {
    proposal.refusal =
        Cat("it has ", FeatureKindName(seen.kind), " and ", FeatureKindName(*seen.other_kind), " values");
  } else if (seen.kind == FeatureKind::kNone) {
    proposal.refusal = "none of these records has a value of it";
  } else if (seen.uneven) {
    proposal.refusal = "its steps have different numbers of values";
  } else if (seen.in_lists) {
    proposal.shape = {kDiffers};
    if (!seen.in_steps.same()) proposal.shape.push_back(kDiffers);
    if (seen.in_steps.same() && seen.in_steps.most != 1) {
      proposal.shape.push_back(static_cast<int64_t>(seen.in_steps.most));
    }
  } else if (seen.records < records_ || !seen.values.same() || seen.values.most == 0) {
    proposal.shape = {kDiffers};
  } else if (seen.values.most > 1) {
    proposal.shape = {static_cast<int64_t>(seen.values.most)};
  }
  return proposal;
}

std::vector<FeatureSurvey::Proposal> FeatureSurvey::Proposals() const {
  std::vector<Proposal> proposals;
  for (const auto& [name, seen] : seen_) proposals.push_back(ProposalOf(name, seen));
  return proposals;
}

}  // namespace headrace
