#include <aqueduct/vis.hpp>

#include "core/entry.hpp"
#include "vis/many_dimensions.hpp"
#include "vis/piece_transfers.hpp"

// The functions of include/aqueduct/vis.hpp.

namespace aqueduct {

namespace {

using vis::Begun;
using vis::Completion;
using vis::What;

Begun put_by(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from, Completion completion,
             const PutOptions& options, const Signal* signal = nullptr) noexcept {
  core::Entry entry(ep.state());
  const auto here = reinterpret_cast<std::uintptr_t>(from.base());
  if (to.slowest() != nullptr || from.slowest() != nullptr) [[unlikely]]
    return vis::start_many(ep.state(),
                           {What::put, {}, to.base(), to.shape(), here, from.shape(), options, signal},
                           to.slowest().get(), from.slowest().get(), completion);
  return ep.state().vis->start({What::put, {}, to.base(), to.shape(), here, from.shape(), options, signal},
                               completion);
}

Begun get_by(Endpoint& ep, const LocalPieces& to, const RemotePieces& from, Completion completion,
             const GetOptions& options) noexcept {
  core::Entry entry(ep.state());
  const auto here = reinterpret_cast<std::uintptr_t>(to.base());
  PutOptions immediate;
  immediate.immediate = options.immediate;
  immediate.group = options.group;
  if (to.slowest() != nullptr || from.slowest() != nullptr) [[unlikely]]
    return vis::start_many(ep.state(),
                           {What::get, {}, from.base(), from.shape(), here, to.shape(), immediate},
                           from.slowest().get(), to.slowest().get(), completion);
  return ep.state().vis->start({What::get, {}, from.base(), from.shape(), here, to.shape(), immediate},
                               completion);
}

Begun accumulate_by(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from, AtomicType type,
                    Completion completion) noexcept {
  core::Entry entry(ep.state());
  const auto here = reinterpret_cast<std::uintptr_t>(from.base());
  if (to.slowest() != nullptr || from.slowest() != nullptr) [[unlikely]]
    return vis::start_many(ep.state(), {What::accumulate, type, to.base(), to.shape(), here, from.shape()},
                           to.slowest().get(), from.slowest().get(), completion);
  return ep.state().vis->start({What::accumulate, type, to.base(), to.shape(), here, from.shape()},
                               completion);
}

}  // namespace

Status put(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from) noexcept {
  return put_by(ep, to, from, Completion::blocking, {}).status;
}
Event put_nb(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
             const PutOptions& options) noexcept {
  return put_by(ep, to, from, Completion::event, options).event;
}
Status put_nbi(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
               const PutOptions& options) noexcept {
  return put_by(ep, to, from, Completion::group, options).status;
}

Status put_signal(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from, Signal what) noexcept {
  return put_by(ep, to, from, Completion::blocking, {}, &what).status;
}
Event put_signal_nb(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from, Signal what,
                    const PutOptions& options) noexcept {
  return put_by(ep, to, from, Completion::event, options, &what).event;
}

Status get(Endpoint& ep, const LocalPieces& to, const RemotePieces& from) noexcept {
  return get_by(ep, to, from, Completion::blocking, {}).status;
}
Event get_nb(Endpoint& ep, const LocalPieces& to, const RemotePieces& from,
             const GetOptions& options) noexcept {
  return get_by(ep, to, from, Completion::event, options).event;
}
Status get_nbi(Endpoint& ep, const LocalPieces& to, const RemotePieces& from,
               const GetOptions& options) noexcept {
  return get_by(ep, to, from, Completion::group, options).status;
}

namespace detail {

Event accumulate(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
                 AtomicType type) noexcept {
  return accumulate_by(ep, to, from, type, Completion::event).event;
}
Status accumulate_nbi(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
                      AtomicType type) noexcept {
  return accumulate_by(ep, to, from, type, Completion::group).status;
}

}  // namespace detail

}  // namespace aqueduct
