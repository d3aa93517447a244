#pragma once

#include "coll/tune/tuning_file.hpp"

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

/// What teams have learned and no file has yet. Of a key the decision that was added last counts.
class LearnedDecisions {
 public:
  /// May throw std::bad_alloc; so may the others.
  void add(const TuningPlace& place, std::span<const Decision> decisions);
  void add(const LearnedDecisions& others);
  /// Adds them to the files that `named` means (AQUEDUCT_COLL_TUNING), each of which is changed once. Waits for the lock of a
  /// file, `patience` at most, but no more after one that could not be changed. Returns what is wrong with those.
  std::vector<std::string> save(const std::string& named, std::chrono::milliseconds patience = kLockPatience,
                                AddedSpan added = {}) const;

 private:
  struct OfPlace {
    TuningPlace place;
    std::map<TuningKey, Decision> decisions;
  };
  OfPlace& of(const TuningPlace& place);

  std::vector<OfPlace> places_;  ///< a job has one for each of its conduits
};

}  // namespace aqueduct::coll
