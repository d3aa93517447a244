#pragma once

#include <aqueduct/c/team.h>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/group.hpp>
#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

/// The same objects by the names of C (aqueduct/aqueduct.h): for a layer whose inline functions are C, and for programs
/// of both languages. A handle is the object: it lives as long, and nobody destroys it by a call of the C face.
namespace aqueduct {

/// The name of an object in C.
inline aq_endpoint* handle_of(Endpoint& ep) noexcept { return reinterpret_cast<aq_endpoint*>(&ep); }
inline aq_team* handle_of(Team& team) noexcept { return reinterpret_cast<aq_team*>(&team); }
inline aq_group* handle_of(Group& group) noexcept { return reinterpret_cast<aq_group*>(&group); }
inline aq_ptr handle_of(GlobalPtr<std::byte> at) noexcept {
  return aq_at(at.rank(), at.segment(), at.offset());
}
/// Gives the Event up as one of C.
inline aq_event handle_of(Event&& event) noexcept { return {event.release()}; }

/// The object that a handle of C names.
inline Endpoint& object_of(aq_endpoint* ep) noexcept { return *reinterpret_cast<Endpoint*>(ep); }
inline Team& object_of(aq_team* team) noexcept { return *reinterpret_cast<Team*>(team); }
inline Group& object_of(aq_group* group) noexcept { return *reinterpret_cast<Group*>(group); }
inline GlobalPtr<std::byte> object_of(aq_ptr at) noexcept { return {at.rank, at.offset, at.segment}; }
/// Takes over the event of C, which is finished afterwards.
inline Event object_of(aq_event&& event) noexcept { return Event::adopt(std::exchange(event.word, nullptr)); }
inline Status object_of(aq_status status) noexcept {
  return {static_cast<ErrorCode>(status.code), status.peer};
}

}  // namespace aqueduct
