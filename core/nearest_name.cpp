#include "core/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace aqueduct::core {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// The edit distance of two words: the least number of letters to insert, delete, replace or swap with the next one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({replaced, last[j] + 1, now[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

/// Chosen: up to a third of wrong letters is a typing error; more is another word.
constexpr std::size_t kLettersPerSlip = 3;
/// Chosen: longer than all names. The work grows with the square.
constexpr std::size_t kLongestWord = 64;

}  // namespace

NearestName::NearestName(std::string_view word)
    : word_(lower(word.substr(0, kLongestWord))),
      distance_(std::max<std::size_t>(word_.size() / kLettersPerSlip, 1) + 1) {}

void NearestName::offer(std::string_view name) {
  const std::size_t distance = edit_distance(word_, lower(name));
  if (distance >= distance_) return;
  distance_ = distance;
  best_ = name;
}

std::string NearestName::hint() const {
  return best_.empty() ? std::string() : "; did you mean " + std::string(best_) + "?";
}

}  // namespace aqueduct::core
