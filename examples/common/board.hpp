#pragma once

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace example {

/// Shows one number from each rank to all ranks: enough for reports and agreements, not meant for speed.
///
/// The constructor and every call are collective: all ranks call the same, in the same order.
class Board {
 public:
  explicit Board(aqueduct::Endpoint& ep)
      : ep_(ep),
        numbers_(need(aqueduct::Segment::create(ep, ep.ranks() * sizeof(double)), "allocate the board")) {}

  /// Every rank's number, in rank order.
  std::vector<double> all(double mine) {
    for (aqueduct::Rank to = 0; to < ep_.ranks(); ++to) {
      need(aqueduct::put_value(ep_, numbers_.at<double>(to, ep_.rank()), mine), "write to the board");
    }
    need(ep_.barrier(), "barrier");  // all puts are complete: every rank's number is here
    std::vector<double> numbers(ep_.ranks());
    std::memcpy(numbers.data(), numbers_.mine().data(), numbers.size() * sizeof(double));
    need(ep_.barrier(), "barrier");  // all ranks have read: the next call may write
    return numbers;
  }

  double sum(double mine) {
    const auto numbers = all(mine);
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  }
  double max(double mine) {
    const auto numbers = all(mine);
    return *std::max_element(numbers.begin(), numbers.end());
  }
  /// Rank 0's number.
  double of_rank_0(double mine) { return all(mine).front(); }

 private:
  aqueduct::Endpoint& ep_;
  aqueduct::Segment numbers_;
};

}  // namespace example
