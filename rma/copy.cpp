#include <aqueduct/rma.hpp>

#include "core/entry.hpp"
#include "core/refuse.hpp"
#include "rma/transfers.hpp"

#include <algorithm>
#include <array>

namespace aqueduct {

Status copy(Endpoint& ep, GlobalPtr<std::byte> to, GlobalPtr<const std::byte> from,
            std::size_t bytes) noexcept {
  const GlobalPtr<std::byte> source{from.rank(), from.offset(), from.segment()};
  {
    core::Entry entry(ep.state());
    auto& state = ep.state();
    for (const GlobalPtr<std::byte> place : {to, source}) {
      if (auto part = state.segments.check(place, bytes); !part)
        return core::refuse_place(state, place, bytes, part.status());
    }
  }
  if (bytes == 0) return {};
  // The copy may be a store to mapped memory, which no queue of a fence would see.
  {
    core::Entry entry(ep.state());
    if (const Status status = ep.state().transfers->wait_for_turn(to.rank(), false); !status) return status;
  }
  if (const std::byte* here = ep.local(source, bytes)) {
    return put(ep, to, std::span<const std::byte>(here, bytes));
  }
  if (std::byte* here = ep.local(to, bytes)) return get(ep, std::span<std::byte>(here, bytes), source);
  // Neither is mapped here: the bytes pass through a buffer of this rank.
  std::array<std::byte, 16384> piece;
  for (std::size_t at = 0; at < bytes; at += piece.size()) {
    const std::span<std::byte> part(piece.data(), std::min(piece.size(), bytes - at));
    const auto offset = static_cast<std::int64_t>(at);
    if (const Status status = get(ep, part, source + offset); !status) return status;
    if (const Status status = put(ep, to + offset, part); !status) return status;
  }
  return {};
}

}  // namespace aqueduct
