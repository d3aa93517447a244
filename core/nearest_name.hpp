#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aqueduct::core {

/// Finds the offered name that is closest to `word`, if it is close enough to be a misspelling.
class NearestName {
 public:
  explicit NearestName(std::string_view word);
  void offer(std::string_view name);
  /// The closest name; empty if none is close enough.
  std::string_view name() const noexcept { return best_; }
  /// For the end of an error message: "; did you mean smp?", or an empty string.
  std::string hint() const;

 private:
  std::string word_;
  std::size_t distance_;
  std::string_view best_;
};

}  // namespace aqueduct::core
