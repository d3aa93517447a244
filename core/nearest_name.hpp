#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aqueduct::core {

/// Chooses the name most like `word` among those it is offered, if one is alike enough to be what was meant.
class NearestName {
 public:
  explicit NearestName(std::string_view word);
  void offer(std::string_view name);
  /// Empty when nothing is near.
  std::string_view name() const noexcept { return best_; }
  /// For the end of a complaint: "; did you mean smp?", or nothing.
  std::string hint() const;

 private:
  std::string word_;
  std::size_t distance_;
  std::string_view best_;
};

}  // namespace aqueduct::core
