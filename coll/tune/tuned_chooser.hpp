#pragma once

#include "coll/tune/ranking.hpp"
#include "coll/tune/table.hpp"
#include "coll/tune/tuning_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace aqueduct::coll {

/// Counts choices by what decided them, for the statistics.
struct ChoiceCounts {
  std::uint64_t by_rules = 0;
  std::uint64_t by_model = 0;
  std::uint64_t by_measurement = 0;
  std::uint64_t trials = 0;   ///< calls with another algorithm than the best one known (coll/tune/bandit.hpp)
  std::uint64_t changes = 0;  ///< how often one was found that is better
};

/// Chooses by what the members of a team have agreed on: a setting; else what was learned about the key; else what was measured for the key, or near it; else
/// the model of the network; else the rules. Whatever comes first must be able to do the shape with the team's
/// scratch. Settings that the team cannot follow, where that is no error (TableChooser), change nothing.
///
/// Barriers of a team are all-reduces (barrier_shape.hpp), with settings and decisions of their own.
///
/// A choice is a pure function of the settings, the table, the team's traits and scratch, and the shape (docs/tuning.md).
/// What is kept of earlier choices only saves the work of repeating it.
///
/// Cost: a key's first choice may take tens of milliseconds of replays; later ones look it up, and allocate nothing.
/// Threads: that of the team's endpoint.
class TunedChooser final : public Chooser {
 public:
  /// `rules` must outlive it. `counts` may be null.
  TunedChooser(const TableChooser& rules, std::shared_ptr<const TuningTable> table,
               ChoiceCounts* counts = nullptr) noexcept
      : rules_(rules), table_(std::move(table)), counts_(counts) {}

  Choice choose(const Shape& shape, const TeamTraits& team,
                const ScratchLayout& scratch) const noexcept override;
  std::string explain(const Shape& shape, const TeamTraits& team,
                      const ScratchLayout& scratch) const override;
  /// As choose, for those who only ask: it does not count.
  Choice would_choose(const Shape& shape, const TeamTraits& team,
                      const ScratchLayout& scratch) const noexcept;

  /// The same of the team's barriers. Requires: no TeamTraits::native.
  Choice choose_barrier(const TeamTraits& team, const ScratchLayout& scratch) const noexcept;
  std::string explain_barrier(const TeamTraits& team, const ScratchLayout& scratch) const;

  const TuningTable& table() const noexcept { return *table_; }
  /// All members take another table, between the same two calls of the team.
  void have_table(std::shared_ptr<const TuningTable> table) noexcept;
  /// The team's scratch or its traits have changed: what was ranked for the old ones is forgotten.
  void forget() noexcept {
    if (kept_ != nullptr) kept_->rankings.clear();
  }
  /// All members try this for shapes of this key, until further notice. It must not be the only thing that can do them.
  void try_out(const TuningKey& key, const Timed& what) noexcept { trial_ = {key, what, false}; }
  /// Returns whether something was chosen so: false if it could not do what was asked, and something else was chosen.
  bool end_trial() noexcept {
    const bool used = trial_ && trial_->used;
    trial_.reset();
    return used;
  }
  /// All members have found that this is the fastest for the key, and for no other. May throw std::bad_alloc.
  void learn(const TuningKey& key, const Timed& what) { kept().learned.insert_or_assign(key, what); }

 private:
  struct KeyHash {
    std::size_t operator()(const TuningKey& key) const noexcept;
  };
  struct Trial {
    TuningKey key;
    Timed what;
    mutable bool used = false;  ///< it was the answer
  };
  struct Kept {
    std::unordered_map<TuningKey, Timed, KeyHash> learned;
    std::unordered_map<TuningKey, Ranking, KeyHash> rankings;
  };
  Kept& kept() const {
    if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
    return *kept_;
  }
  /// What was learned about the key; null: nothing.
  const Timed* learned(const TuningKey& key) const noexcept {
    if (kept_ == nullptr) return nullptr;
    const auto found = kept_->learned.find(key);
    return found != kept_->learned.end() ? &found->second : nullptr;
  }
  /// What a choice comes from.
  struct Answer {
    Choice choice;
    const Ranking* ranking = nullptr;  ///< null: of rules, or of a setting
    std::size_t place = 0;             ///< in the ranking
    const char* above = nullptr;       ///< why not the ranking: what comes before it
    const Timed* learned = nullptr;    ///< what it is, if it was learned
  };
  /// What is asked, and the key of what is known about it.
  struct Question {
    Shape shape;
    TuningKey key;

    /// It is about the team's barriers.
    bool barrier() const noexcept { return shape.operation != key.operation; }
  };
  static Question barrier_of(const TeamTraits& team) noexcept;
  Choice choose(const Question& question, const TeamTraits& team,
                const ScratchLayout& scratch) const noexcept;
  Choice would_choose(const Question& question, const TeamTraits& team,
                      const ScratchLayout& scratch) const noexcept;
  std::string explain(const Question& question, const TeamTraits& team, const ScratchLayout& scratch) const;
  Choice by_rules(const Question& question, const TeamTraits& team,
                  const ScratchLayout& scratch) const noexcept;
  std::string left_line(const Question& question, const TeamTraits& team, const ScratchLayout& scratch) const;
  std::string explain_rules(const Question& question, const TeamTraits& team,
                            const ScratchLayout& scratch) const;
  Answer answer(const Question& question, const TeamTraits& team, const ScratchLayout& scratch) const;
  const Ranking& ranking_of(const TuningKey& key, const TeamTraits& team, const ScratchLayout& scratch) const;
  static std::string explain_learned(const Answer& answer, const Question& question, const TeamTraits& team,
                                     const ScratchLayout& scratch);
  static std::string ranking_lines(const Answer& answer, const Question& question);

  const TableChooser& rules_;
  std::shared_ptr<const TuningTable> table_;
  ChoiceCounts* counts_;
  std::optional<Trial> trial_;
  mutable std::unique_ptr<Kept> kept_;  ///< made by the first ranking, as most teams have none
};

}  // namespace aqueduct::coll
