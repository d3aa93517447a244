#include "tools/aqcheck/early_signal.hpp"

#include <algorithm>
#include <vector>

namespace aqueduct::aqcheck {

bool early_signal_is_harmless(const coll::Dissemination& among, Rank number, std::uint32_t round) {
  using Known = std::vector<bool>;  // [number]: whether all members of its host are known to have called
  std::vector<Known> known(among.ranks, Known(among.ranks));
  const std::vector<Known> nothing = known;
  for (Rank one = 0; one < among.ranks; ++one) known[one][one] = true;
  std::vector<Known> before = nothing;  // what each number knew when it sent its signals of the round before
  std::uint32_t index = 0;
  for (std::uint32_t now = 0; now < among.rounds(); ++now) {
    const std::vector<Known> sent = known;
    for (; index < among.hops() && among.hop(index).round == now; ++index) {
      const coll::Dissemination::Hop hop = among.hop(index);
      for (Rank from = 0; from < among.ranks; ++from) {
        const bool early = from == number && now == round && hop.number == 0;
        const Known& told = early ? before[from] : sent[from];
        Known& knows = known[among.peer(from, hop)];
        for (Rank one = 0; one < among.ranks; ++one) knows[one] = knows[one] || told[one];
      }
    }
    before = sent;
  }
  return std::ranges::all_of(known,
                             [](const Known& one) { return std::ranges::find(one, false) == one.end(); });
}

}  // namespace aqueduct::aqcheck
