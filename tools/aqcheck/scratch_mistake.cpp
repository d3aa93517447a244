#include "tools/aqcheck/scratch_mistake.hpp"

#include <array>
#include <cstddef>

namespace aqueduct::aqcheck {

namespace {

using Kind = ScratchMistake::Kind;

constexpr std::array kMistakeNames{
    "no mistake",
    "writes without credit",
    "starts in a bank that is in use",
    "reuses a bank one epoch early",
    "counts from one less",
    "counts from one more",
    "drains at the start",
    "drains before all has arrived",
    "drains before its sources are free",
    "calls once more",
    "keeps the portion in another epoch",
    "forgets a sender",
    "loses a credit",
    "gives credit to another peer",
    "gives credit in another's counter",
    "gives credit twice",
    "gives credit for an epoch more",
    "loses a round of a barrier",
    "sends a round to another peer",
    "sends another round",
    "sends a round twice",
};
constexpr std::size_t kMistakeCount = kMistakeNames.size() - 1;
static_assert(kMistakeCount == static_cast<std::size_t>(Kind::round_twice));

constexpr auto kMistakes = [] {
  std::array<Kind, kMistakeCount> all{};
  for (std::size_t i = 0; i < kMistakeCount; ++i) all[i] = static_cast<Kind>(i + 1);
  return all;
}();

}  // namespace

std::span<const Kind> scratch_mistakes() noexcept { return kMistakes; }

const char* name_of(Kind kind) noexcept { return kMistakeNames[static_cast<std::size_t>(kind)]; }

}  // namespace aqueduct::aqcheck
