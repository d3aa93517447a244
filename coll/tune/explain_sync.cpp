#include "coll/tune/explain_sync.hpp"

#include "coll/schedule/schedule.hpp"

#include <fmt/format.h>

#include <string_view>

namespace aqueduct::coll {

namespace {

std::string signals(const Pass& pass, const char* what) {
  return fmt::format("{} ({} signals)", what, pass.messages());
}

/// Empty: there is no pass.
std::string words_of(const Pass& pass) {
  switch (pass.kind) {
    case Pass::Kind::none: return {};
    case Pass::Kind::to_root: return signals(pass, "signals up a tree to the root");
    case Pass::Kind::from_root: return signals(pass, "signals down a tree from the root");
    case Pass::Kind::everybody: break;
  }
  if (pass.has_root()) return signals(pass, "a barrier up and down a tree");
  return signals(pass, pass.groups != nullptr ? "a barrier by hosts" : "a barrier by dissemination");
}

/// What the steps of the algorithm itself wait for, without a pass before them.
std::string_view own_words(const Algorithm& algorithm, const Shape& shape) noexcept {
  if (Announced::needed(algorithm, shape)) return "addresses that pairs of members tell each other";
  if (shape.in == Sync::mine && (algorithm.direct || algorithm.reads))
    return "flags between pairs of members";
  return "nothing";
}

}  // namespace

std::string sync_line(const Algorithm& algorithm, const Shape& shape) {
  if (shape.ranks < 2 || shape.operation == Operation::barrier || algorithm.native ||
      algorithm.board != BoardMethod::none)
    return {};
  const TeamSchedule schedule(algorithm, shape);
  const std::string before = words_of(schedule.before());
  const std::string after = words_of(schedule.after());
  const std::string_view own = own_words(algorithm, shape);
  if (before.empty() && after.empty() && own == "nothing") return {};
  return fmt::format("  waits for {} before it begins{}{}\n", before.empty() ? own : before,
                     after.empty() ? "" : ", and before it ends for ", after);
}

}  // namespace aqueduct::coll
