// Reductions by functions of the client's: their operators and the numbers of those.

#include "compat/gasnet/user_operators.hpp"

#include <aqueduct/coll.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace aqueduct::gasnet {
namespace {

/// Operators for one element size and team. They are used in turn, so that all members take the same one.
constexpr std::uint32_t kSlots = 64;
/// How long a reduction waits for its operator before it says so.
constexpr std::chrono::seconds kPatience{10};
constexpr std::uint32_t kMostTeams = 2048;
constexpr std::size_t kMostElement = 65536;

// Two layouts of an operator's number, told apart by the highest bit. The team of all ranks: size of the element (16 bits),
// commutativity (1), slot. Other teams, whose elements are short: size (7), commutativity (1), team (11), slot.
static_assert(kSlots * 2 * kMostElement <= 1u << 31);
static_assert(kSlots * kMostTeams * 2 * (kLongestReduced + 1) <= 1u << 31);
std::uint32_t number_of(std::uint32_t team, std::uint32_t kind, std::uint32_t slot) noexcept {
  if (team == 0) return kind * kSlots + slot;
  return 1u << 31 | ((kind * kMostTeams + team) * kSlots + slot);
}

/// Numbers of this rank's live teams. Two that have members in common have different ones.
struct Names {
  std::mutex mutex;
  std::bitset<kMostTeams> used{1};  // 0: the world
};
Names& names() {
  static auto* const all = new Names;
  return *all;
}
bool take_name(std::uint32_t name) {
  const std::lock_guard lock(names().mutex);
  if (names().used[name]) return false;
  names().used.set(name);
  return true;
}

void combine(void* to, const void* left, const void* right, std::size_t count, void* context) {
  const auto& use = *static_cast<const UserReduction*>(context);
  const std::size_t bytes = count * use.element;
  if (to == right) {
    use.function(left, to, count, use.data);
  } else if (to == left && use.commutative) {
    use.function(right, to, count, use.data);
  } else if (to == left) {
    std::vector<std::byte> result(static_cast<const std::byte*>(right),
                                  static_cast<const std::byte*>(right) + bytes);
    use.function(left, result.data(), count, use.data);
    std::memcpy(to, result.data(), bytes);
  } else {
    std::memcpy(to, right, bytes);
    use.function(left, to, count, use.data);
  }
}

/// Finds or registers the operator of that number.
UserReduction& user_operator(std::uint32_t number, std::size_t element, bool commutative) {
  constexpr const char* kCall = "a reduction by a function of the client's";
  static auto* const all =
      new std::map<std::uint32_t, UserReduction>;  // as long as the endpoint: progress may call it
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  const auto [at, is_new] = all->try_emplace(number);
  UserReduction& one = at->second;
  if (!is_new) return one;
  one.element = element;
  one.number = number;
  one.commutative = commutative;
  const Status added = add_operator(state().ep, number, {combine, &one, element, commutative});
  if (!added) fail(kCall, nullptr, added);
  return one;
}

/// Waits until no reduction in flight uses the operator.
void wait_for_operator(const char* call, const UserReduction& one) {
  const auto is_free = [&one] {
    return std::all_of(one.in_flight.begin(), one.in_flight.end(), [](const auto& event) {
      const Composite* const used = event.load(std::memory_order_acquire);
      return used == nullptr || composite_done(*used);
    });
  };
  const auto begun = std::chrono::steady_clock::now();
  bool told = false;
  const Status waited = state().ep.wait_until([&] {
    if (is_free()) return true;
    if (!told && std::chrono::steady_clock::now() - begun > kPatience) {
      told = true;
      std::fprintf(
          stderr,
          "*** GASNet: rank %u has waited 10 s in %s: %u of the team are in flight, with other functions or "
          "other data, and other members have not begun them. If they begin only after this call, it hangs\n",
          static_cast<unsigned>(state().me()), call, static_cast<unsigned>(kSlots));
    }
    return false;
  });
  if (!waited) fail(call, nullptr, waited);
}

}  // namespace

void combine_gathered(GatheredReduction* gathered) {
  const std::unique_ptr<GatheredReduction> one(gathered);
  if (one->all == nullptr || one->bytes == 0) return;
  std::byte* const last = one->all.get() + (one->members - 1) * one->bytes;
  for (std::size_t i = one->members - 1; i-- > 0;)
    one->function(one->all.get() + i * one->bytes, last, one->count, one->data);
  std::memcpy(one->result, last, one->bytes);
}

void give_back_name(std::uint32_t name) {
  const std::lock_guard lock(names().mutex);
  if (name < kMostTeams) names().used.reset(name);
}
// Takes the lowest number that no member uses. It is kMostTeams if all are in use.
std::uint32_t agree_on_name(const char* call, Team& team) {
  const auto must = [call](Status status) {
    if (!status) fail(call, nullptr, status);
  };
  for (;;) {
    std::array<std::uint64_t, kMostTeams / 64> used{};
    {
      const std::lock_guard lock(names().mutex);
      for (std::uint32_t i = 0; i < kMostTeams; ++i) used[i / 64] |= std::uint64_t{names().used[i]} << i % 64;
    }
    must(all_reduce(team, std::span(used), ReduceOp::bit_or));
    std::uint32_t name = 0;
    while (name < kMostTeams && (used[name / 64] >> name % 64 & 1) != 0) ++name;
    if (name == kMostTeams) return name;
    // Another thread may have taken it meanwhile, for another team.
    const bool taken = take_name(name);
    std::uint64_t all_have = taken ? 1 : 0;
    must(all_reduce(team, std::span(&all_have, 1), ReduceOp::min));
    if (all_have == 1) return name;
    if (taken) give_back_name(name);
  }
}

UserReduction& next_operator(Tm& tm, std::size_t element, bool commutative, gex_Coll_ReduceFn_t function,
                             void* data) {
  constexpr const char* kCall = "a reduction by a function of the client's";
  if (tm.name >= kMostTeams) fail(kCall, "too many teams live: destroy some before the team is made");
  if (element >= kMostElement) fail(kCall, "an element may have at most 65535 bytes");
  const auto kind = static_cast<std::uint32_t>(element << 1 | (commutative ? 1 : 0));
  const std::uint32_t slot = tm.reductions[kind]++ % kSlots;
  UserReduction& one = user_operator(number_of(tm.name, kind, slot), element, commutative);
  one.in_flight.remove_if([](const auto& event) { return event.load(std::memory_order_acquire) == nullptr; });
  if (one.function != function || one.data != data) {
    wait_for_operator(kCall, one);
    one.function = function;
    one.data = data;
  }
  one.in_flight.emplace_front(nullptr);
  return one;
}

}  // namespace aqueduct::gasnet
