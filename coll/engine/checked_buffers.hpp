#pragma once

#include <aqueduct/coll.hpp>

#include "coll/engine/request.hpp"
#include "team/team_state.hpp"

#include <string>

namespace aqueduct::coll {

/// Whether a buffer lies at places that all members know.
inline bool is_known(const aqueduct::detail::CollBuffer& buffer) noexcept {
  return buffer.where == aqueduct::detail::CollBuffer::Where::common ||
         buffer.where == aqueduct::detail::CollBuffer::Where::each;
}

/// The part of checked_request that is about buffers: their kinds, lengths, places and overlap. Sets the request's
/// buffers. Requires: request.shape is complete, and its blocks can be counted.
Status find_buffers(aqueduct::detail::TeamState& team, const aqueduct::detail::CollCall& call,
                    Request& request, std::string& why) noexcept;

}  // namespace aqueduct::coll
