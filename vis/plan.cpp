#include "vis/plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

namespace aqueduct::vis {
namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();

float ratio(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<float>(a) / static_cast<float>(std::max<std::uint64_t>(b, 1));
}
float at_least_one(float count) noexcept { return std::max(count, 1.0F); }

/// Rounds a number down to a quarter of an octave, in 8 bits: the exponent and two bits of the mantissa.
std::uint64_t rough(std::uint64_t value) noexcept {
  if (value < 4) return value;
  const auto log = static_cast<unsigned>(std::bit_width(value)) - 1;
  return (log << 2) | ((value >> (log - 2)) & 3);
}

// Possible if one box holds everything. Several boxes are possible only if consecutive pieces are near one another;
// otherwise most of each box would be gaps.
bool can_box(const Question& q) noexcept { return q.box != 0 && (q.near_one_another || q.spread <= q.box); }

// Bit 0 is set, so that a key is never 0.
std::uint64_t key_of(const Question& q) noexcept {
  return 1 | (q.is_get ? 2 : 0) | (q.far ? 4 : 0) | (q.near_one_another ? 8 : 0) | (can_box(q) ? 16 : 0) |
         (q.list != 0 ? 32 : 0) | rough(q.bytes) << 8 | rough(q.runs) << 16 | rough(q.runs_there) << 24 |
         rough(q.spread) << 32;
}

}  // namespace

// Rounded times of the machine of docs/performance.md. Only large differences matter: within a factor of kTrust,
// measured times decide.
std::array<float, kPlans> Planner::model(const Question& q) noexcept {
  std::array<float, kPlans> ns;
  ns.fill(kNever);
  const auto bytes = static_cast<float>(q.bytes);
  const auto runs = static_cast<float>(q.runs);
  ns[static_cast<int>(Plan::pieces)] = 500 + runs * (q.native_rma ? 600 : 1000) + 0.4F * bytes;
  ns[static_cast<int>(Plan::packed)] =
      1000 + 3000 * at_least_one(ratio(q.bytes, q.packet)) + 10 * runs + 0.6F * bytes;
  if (can_box(q)) {
    ns[static_cast<int>(Plan::box)] =
        700 + 2000 * at_least_one(ratio(q.spread, q.box)) + 5 * runs + 0.5F * static_cast<float>(q.spread);
  }
  if (q.list != 0) {
    ns[static_cast<int>(Plan::native)] =
        500 + 1000 * at_least_one(ratio(q.runs, q.list)) + 30 * runs + 0.4F * bytes;
  }
  return ns;
}

PlanChoice Planner::choose(const Question& question) noexcept {
  if (question.forced < kPlans) {
    if (model(question)[question.forced] != kNever) return {static_cast<Plan>(question.forced), 0, 0};
  }
  if (entries_ == nullptr) entries_.reset(new (std::nothrow) Entry[kEntries]);
  if (entries_ == nullptr) {  // no memory: the model alone decides
    const auto cost = model(question);
    return {static_cast<Plan>(std::ranges::min_element(cost) - cost.begin()), 0, 0};
  }
  const std::uint64_t key = key_of(question);
  const auto place = static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15) >> 54);
  static_assert(kEntries == 1024);
  Entry& entry = entries_[place];
  if (entry.key != key) {  // a new kind of transfer replaces the old one
    entry = {};
    entry.key = key;
  }
  ++entry.uses;
  if (entry.settled && entry.uses % kAgain != 0) return {fastest(entry), place, key};  // nearly always
  // `left`: the plans that the model does not rule out, the cheapest first.
  const auto cost = model(question);
  const float trusted = *std::ranges::min_element(cost) * kTrust;
  std::array<std::size_t, kPlans> order{0, 1, 2, 3, 4};
  std::ranges::sort(order, {}, [&](std::size_t plan) { return cost[plan]; });
  const auto first_out = std::ranges::find_if(order, [&](std::size_t plan) { return cost[plan] > trusted; });
  const auto left = std::span(order).first(static_cast<std::size_t>(first_out - order.begin()));
  if (!entry.settled) {
    drop_hopeless(entry, left);
    // In turns, because the first transfers find connections and caches cold, whichever plan they use.
    const std::size_t next =
        *std::ranges::min_element(left, {}, [&](std::size_t plan) { return entry.tries[plan]; });
    // With other operations in flight nothing is measured, and no try counts: then the plan that the model prefers
    // stays.
    if (entry.tries[next] < kTries) return {static_cast<Plan>(next), place, key};
    entry.settled = true;
  }
  const Plan best = fastest(entry);
  if (entry.uses % kAgain == 0) {
    const std::uint32_t round = entry.uses / kAgain;
    const std::size_t other = left[round % left.size()];
    const float limit = entry.per_byte[static_cast<std::size_t>(best)] * 2;
    if (entry.per_byte[other] < limit || round % kAgainWhatIsSlow < left.size())
      return {static_cast<Plan>(other), place, key};
  }
  return {best, place, key};
}

// Each has been tried once, the connections and caches as cold for one as for another.
void Planner::drop_hopeless(Entry& entry, std::span<const std::size_t> left) noexcept {
  if (!std::ranges::all_of(left, [&](std::size_t plan) { return entry.tries[plan] == 1; })) return;
  const float least = entry.per_byte[static_cast<std::size_t>(fastest(entry))];
  for (const std::size_t plan : left) {
    if (entry.per_byte[plan] > kHopeless * least) entry.tries[plan] = kTries;
  }
}

// Requires: at least one plan has a time.
Plan Planner::fastest(const Entry& entry) noexcept {
  std::size_t best = 0;
  float time = kNever;
  for (std::size_t plan = 0; plan < kPlans; ++plan) {
    if (entry.per_byte[plan] == 0 || entry.per_byte[plan] >= time) continue;
    time = entry.per_byte[plan];
    best = plan;
  }
  return static_cast<Plan>(best);
}

void Planner::took(const PlanChoice& choice, std::uint64_t bytes, std::uint64_t nanoseconds) noexcept {
  if (choice.key == 0 || entries_[choice.entry].key != choice.key) return;
  Entry& entry = entries_[choice.entry];
  auto& tries = entry.tries[static_cast<std::size_t>(choice.plan)];
  if (tries < kTries) ++tries;
  const float sample =
      static_cast<float>(std::max<std::uint64_t>(nanoseconds, 1)) / static_cast<float>(bytes);
  float& known = entry.per_byte[static_cast<std::size_t>(choice.plan)];
  // Keep the least time: disturbances only add to it. A slower sample moves it by 1/64, so that a plan that has become
  // slower for good is noticed after a while.
  known = known == 0 || sample < known ? sample : known + (sample - known) / 64;
}

}  // namespace aqueduct::vis
