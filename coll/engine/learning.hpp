#pragma once

#include <aqueduct/event.hpp>

#include "coll/tune/bandit.hpp"
#include "coll/tune/decision.hpp"
#include "core/op.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// What a team learns about its blocking calls while the program runs (AQUEDUCT_COLL_LEARN): for each key the algorithms that
/// are tried in turns, and what the members have found.
///
/// All members make the same calls, so they hold the same keys in the same states (docs/tuning.md).
class Learning {
 public:
  /// A key of which calls have been made.
  struct Key {
    Key(const TuningKey& key, std::vector<Timed> algorithms)
        : which(key), field(std::move(algorithms)), bandit(field.size()) {}

    TuningKey which;
    std::vector<Timed> field;  ///< the candidates; the first one is what runs without learning
    Bandit bandit;
    /// What the members combine, and the call that does it. Peers may write to the words until it has ended.
    std::shared_ptr<Bandit::Words> words;
    Event combining;
    /// What the last combining has cost this member, in nanoseconds: its begin, and the wait for it. 0: there was none.
    std::uint64_t cost = 0;
  };

  /// Null: the key has no place.
  Key* find(const TuningKey& key) noexcept {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : &found->second;
  }
  bool is_full() const noexcept { return keys_.size() >= kMostKeys; }
  /// May throw std::bad_alloc.
  Key& add(const TuningKey& key, std::vector<Timed> field) {
    return keys_.try_emplace(key, key, std::move(field)).first->second;
  }
  /// What is worth telling the next job: of each key that has been tried out, the best one. May throw std::bad_alloc.
  std::vector<Decision> decisions() const;
  /// All keys are forgotten: the team chooses by another table. By all members between the same two calls.
  void start_over();
  /// The team ends. `keep` gets the memory of what the members are still combining. May throw std::bad_alloc.
  void leave(core::OpPool& ops, const std::function<void(std::shared_ptr<void>)>& keep);

 private:
  struct Leftover {
    std::shared_ptr<Bandit::Words> words;
    Event combining;
  };
  /// Calls of further keys are carried out as without learning. Chosen.
  static constexpr std::size_t kMostKeys = 128;

  std::map<TuningKey, Key> keys_;
  std::vector<Leftover> leftovers_;
};

}  // namespace aqueduct::coll
