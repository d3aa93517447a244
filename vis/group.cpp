#include <aqueduct/vis.hpp>

#include "core/endpoint_state.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>
#include <vector>

namespace aqueduct::detail {
namespace {

/// One element of the caller's list.
struct Named {
  GlobalPtr<std::byte> remote;
  std::uint64_t index;  ///< in the caller's list
};

/// May throw std::bad_alloc.
std::vector<Named> sorted(std::span<const GlobalPtr<std::byte>> list) {
  std::vector<Named> all;
  // A list that no memory holds, whose length is wrong: reserve would throw another exception, and sanitizers end the program.
  constexpr std::size_t kMostAddresses = std::size_t{1} << 56;
  if (list.size() > kMostAddresses / sizeof list.front()) throw std::bad_alloc();
  all.reserve(list.size());
  for (std::uint64_t i = 0; i < list.size(); ++i) all.push_back({list[i], i});
  // With the index as the last key: of pointers to the same element, the first in the caller's list is read.
  std::ranges::sort(all, {}, [](const Named& n) {
    return std::tuple(n.remote.rank(), n.remote.segment(), n.remote.offset(), n.index);
  });
  return all;
}

bool same_part(GlobalPtr<std::byte> a, GlobalPtr<std::byte> b) noexcept {
  return a.rank() == b.rank() && a.segment() == b.segment();
}
/// The number of pairs of an owner and a segment. Requires: `all` is sorted.
std::size_t owners_of(std::span<const Named> all) noexcept {
  std::size_t owners = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    owners += i == 0 || !same_part(all[i].remote, all[i - 1].remote) ? 1 : 0;
  return owners;
}

/// Calls `transfer(base, remote offsets, local offsets)` for each owner and segment, then waits for all of them.
template <class F>
Status for_each_owner(Endpoint& ep, std::span<const Named> all, std::size_t bytes, const F& transfer) {
  std::vector<std::int64_t> there;
  std::vector<std::int64_t> here;
  // Reserved in full, so that no list moves: transfers to earlier owners are still in flight.
  there.reserve(all.size());
  here.reserve(all.size());
  // Nothing may throw once the first one has begun: it uses the lists.
  std::vector<Event> events;
  events.reserve(owners_of(all));
  for (std::size_t i = 0; i < all.size();) {
    const GlobalPtr<std::byte> first = all[i].remote;
    const std::size_t start = there.size();
    for (; i < all.size(); ++i) {
      const GlobalPtr<std::byte> at = all[i].remote;
      if (!same_part(at, first)) break;
      there.push_back(static_cast<std::int64_t>(at.offset()));
      here.push_back(static_cast<std::int64_t>(all[i].index * bytes));
    }
    const auto of = [&](const std::vector<std::int64_t>& list) {
      return Indexed{std::span(list).subspan(start), bytes};
    };
    events.push_back(transfer(GlobalPtr<std::byte>{first.rank(), 0, first.segment()}, of(there), of(here)));
  }
  Status first;
  for (Event& event : events) {
    if (const Status status = ep.wait(event); first) first = status;
  }
  return first;
}

/// Of the elements of each owner only the place of the first one tells that the memory is missing.
Status refuse_null(Endpoint& ep, const char* what, std::size_t count, std::size_t bytes) noexcept {
  if (!ep.state().in_child())
    ep.state().log.error("{}: a null pointer to {} elements of {} bytes here", what, count, bytes);
  return ErrorCode::invalid_argument;
}

}  // namespace

Status get_group(Endpoint& ep, std::byte* to, std::span<const GlobalPtr<std::byte>> from,
                 std::size_t bytes) noexcept try {
  if (ep.in_handler()) return ErrorCode::in_handler;
  if (is_missing(to, from.size() * bytes)) return refuse_null(ep, "get_group", from.size(), bytes);
  std::vector<Named> all = sorted(from);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> again;  // repeated elements: index to, index from
  std::size_t kept = 0;
  for (const Named& one : all) {
    if (kept != 0 && all[kept - 1].remote == one.remote) {
      again.emplace_back(one.index, all[kept - 1].index);
    } else {
      all[kept++] = one;
    }
  }
  all.resize(kept);
  const Status status = for_each_owner(
      ep, all, bytes, [&](GlobalPtr<std::byte> base, const Indexed& there, const Indexed& here) {
        return get_nb(ep, pieces(to, here), pieces(base, there));
      });
  if (!status) return status;
  if (bytes == 0) return {};  // there may be no memory here
  for (const auto& [copy, original] : again) std::memcpy(to + copy * bytes, to + original * bytes, bytes);
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Status put_group(Endpoint& ep, std::span<const GlobalPtr<std::byte>> to, const std::byte* from,
                 std::size_t bytes) noexcept try {
  if (ep.in_handler()) return ErrorCode::in_handler;
  if (is_missing(from, to.size() * bytes)) return refuse_null(ep, "put_group", to.size(), bytes);
  return for_each_owner(ep, sorted(to), bytes,
                        [&](GlobalPtr<std::byte> base, const Indexed& there, const Indexed& here) {
                          return put_nb(ep, pieces(base, there), pieces(from, here));
                        });
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

}  // namespace aqueduct::detail
