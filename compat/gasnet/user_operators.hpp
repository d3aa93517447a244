#pragma once

#include "compat/gasnet/state.hpp"

#include <gasnet_coll.h>

#include <list>

// Reductions by functions of the client's. The operators that they need are numbered, and a number has a part for the team.

namespace aqueduct::gasnet {

/// An operator for reductions by a function of the client's. Aqueduct's operators are registered for good, under numbers that are
/// equal on all members, so later teams use them again. This says which function the operator calls now.
struct UserReduction {
  std::size_t element = 0;
  std::uint32_t number = 0;
  bool commutative = true;
  gex_Coll_ReduceFn_t function = nullptr;
  void* data = nullptr;
  /// The events of operations with it, each until it is synced. The first one is of the operation that begins.
  std::list<std::atomic<Composite*>> in_flight;
};

/// The longest element that teams other than the world reduce by schedules. Longer ones may not fit into the memory for
/// collective operations of a team that was made while many live: they are gathered, and combined when the event is synced.
inline constexpr std::size_t kLongestReduced = 64;

/// A reduction whose values are gathered, in the order of the team.
struct GatheredReduction {
  std::unique_ptr<std::byte[]> all;  ///< null: another rank gets the result
  std::size_t members = 0;
  std::size_t bytes = 0;  ///< of a member's elements
  std::size_t count = 0;
  gex_Coll_ReduceFn_t function = nullptr;
  void* data = nullptr;
  void* result = nullptr;
};
/// Combines the values and writes the result, where this rank gets it. Deletes the reduction.
void combine_gathered(GatheredReduction* gathered);
/// The handle of the operation that gathers. The values are combined when it is synced, or now if it is over. GEX_EVENT_NO_OP: the
/// operation was refused, and the reduction remains the caller's.
gex_Event_t handle(const char* call, Event&& event, GatheredReduction* gathered);

/// Chooses the part for a team: equal on all members, and different for any two teams that have a member in common. Collective.
std::uint32_t agree_on_name(const char* call, Team& team);
/// The team has ended: later teams may have its part.
void give_back_name(std::uint32_t name);

/// The next operator of a team for a function of the client's. All members take the same one, because they make the same
/// calls in the same order.
UserReduction& next_operator(Tm& tm, std::size_t element, bool commutative, gex_Coll_ReduceFn_t function,
                             void* data);

}  // namespace aqueduct::gasnet
