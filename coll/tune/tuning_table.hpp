#pragma once

#include <aqueduct/network_model.hpp>

#include "coll/tune/decision.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// What the members of a team have agreed on before they choose: what messages cost, and what was measured. It is made
/// from *words*, which all members hold in equal copies; docs/tuning.md has the proof.
class TuningTable {
 public:
  /// The most decisions of a table: more are left out when it is made (leave_out_unlike). Chosen: 88 KiB of words.
  static constexpr std::size_t kMostDecisions = 1024;

  /// What a message costs to a rank of the same host, and of another one; empty: not known.
  struct Models {
    std::optional<NetworkModel> host;
    std::optional<NetworkModel> network;
  };

  TuningTable() = default;
  /// Of two decisions of a key the later one counts.
  TuningTable(const Models& models, std::span<const Decision> decisions);

  /// Nothing is known: the rules choose.
  bool empty() const noexcept { return !host_ && !network_ && decisions_.empty(); }
  /// The model for a pair of ranks; null: not known.
  const NetworkModel* model(bool same_host) const noexcept {
    const auto& one = same_host ? host_ : network_;
    return one ? &*one : nullptr;
  }
  Models models() const noexcept { return {host_, network_}; }
  /// In the order of their keys.
  std::span<const Decision> decisions() const noexcept { return decisions_; }
  /// That of the key itself, or of the nearest one: of the same operation, modes, kind of team and crowding (unless it is unknown), where two classes of size
  /// count as much as twice as many members, or as twice as many members on a host, and no further than four classes. Null: there is none.
  const Decision* find(const TuningKey& key) const noexcept;

  /// The table as words, and back. Empty: they are not those of a table, or name an algorithm that is neither the library's nor
  /// added.
  std::vector<std::uint64_t> words() const;
  static std::optional<TuningTable> from(std::span<const std::uint64_t> words, AddedSpan added = {});
  /// A number of the words: equal tables have equal ones, different tables different ones in all probability.
  std::uint64_t hash() const noexcept { return hash_; }

 private:
  void set_hash();

  std::optional<NetworkModel> host_;
  std::optional<NetworkModel> network_;
  std::vector<Decision> decisions_;
  std::uint64_t hash_ = 0;
};

/// The latest decision of each key, in the order of their keys.
std::vector<Decision> latest_of(std::span<const Decision> decisions);
/// Keeps at most `most` decisions: those for teams of `ranks` members first, then those for the nearest numbers. Of several for one
/// key the latest stays. Returns how many keys are left out.
std::size_t leave_out_unlike(Rank ranks, std::vector<Decision>& decisions,
                             std::size_t most = TuningTable::kMostDecisions);

}  // namespace aqueduct::coll
