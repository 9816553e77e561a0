#include "engine/exec/sealed_state.h"

#include <limits>

#include "core/error.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

constexpr uint32_t kStateFormat = 4;

uint32_t ChecksumOf(const std::string& state) { return Crc32c(state.data(), state.size()); }

absl::Status NoState(std::string_view bytes) {
  return StateError("this is not a state that Headrace took, or it is damaged (", bytes.size(), " bytes)");
}

std::string Sealed(const std::string& state, uint32_t checksum) {
  proto::SealedState sealed;
  sealed.set_format(kStateFormat);
  sealed.set_checksum(checksum);
  sealed.set_state(state);
  return sealed.SerializeAsString();
}

absl::Status CheckSeal(const proto::SealedState& sealed, std::string_view bytes) {
  if (sealed.format() != 0 && sealed.format() < kStateFormat) {
    return StateError("the state has format ", sealed.format(), ", of a Headrace whose operators drew other random ",
                      "numbers; this one reads format ", kStateFormat, ": begin the epoch anew");
  }
  if (sealed.format() > kStateFormat) {
    return StateError("the state has format ", sealed.format(), ", newer than this Headrace knows (", kStateFormat,
                      "): upgrade Headrace");
  }
  // Another encoding of the same fields, or further fields, cannot come from SealState.
  if (sealed.format() == 0 || Sealed(sealed.state(), sealed.checksum()) != bytes) return NoState(bytes);
  if (sealed.checksum() != ChecksumOf(sealed.state())) {
    return StateError("the state is damaged: its ", bytes.size(), " bytes do not have the checksum that they name");
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const proto::State& state) {
  if (state.rank() >= state.world()) {
    return StateError("the state says that shard ", state.rank(), " of ", state.world(),
                      " took it: there is no such shard");
  }
  // Rows that were left out count among those since the checkpoint.
  if (state.skip_rows() > state.delivered() && state.skip_rows() - state.delivered() > state.removed()) {
    return StateError("the state says that ", state.skip_rows(), " of ", state.delivered(),
                      " rows were delivered last");
  }
  if (state.skip_rows() > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
    return StateError("the state says that ", state.skip_rows(), " rows of one message were delivered");
  }
  return absl::OkStatus();
}

}  // namespace

std::string SealState(const proto::State& state) {
  const std::string bytes = state.SerializeAsString();
  return Sealed(bytes, ChecksumOf(bytes));
}

absl::StatusOr<proto::State> OpenState(std::string_view bytes) {
  proto::SealedState sealed;
  if (!sealed.ParseFromString(std::string(bytes))) return NoState(bytes);
  HEADRACE_RETURN_IF_ERROR(CheckSeal(sealed, bytes));
  proto::State state;
  if (!state.ParseFromString(sealed.state())) {
    return StateError("the state is damaged: its ", bytes.size(), " bytes cannot be decoded");
  }
  HEADRACE_RETURN_IF_ERROR(CheckNumbers(state));
  return state;
}

}  // namespace headrace
