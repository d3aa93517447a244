#pragma once

#include <aqueduct/aqueduct.hpp>

#include <array>
#include <chrono>
#include <span>
#include <thread>

namespace aqueduct::conformance {

/// The ways in which an operation can complete.
enum class Form { blocking, nb, nbi, region, group };
inline constexpr std::array kForms = {Form::blocking, Form::nb, Form::nbi, Form::region, Form::group};

constexpr const char* name_of(Form form) noexcept {
  switch (form) {
    case Form::blocking: return "blocking";
    case Form::nb: return "nb";
    case Form::nbi: return "nbi";
    case Form::region: return "region";
    case Form::group: return "group";
  }
  return "";
}

/// Puts in the given form, and waits.
inline Status put_by(Form form, Endpoint& me, GlobalPtr<std::byte> to, std::span<const std::byte> from) {
  if (form == Form::blocking) return put(me, to, from);
  if (form == Form::nb) return me.wait(put_nb(me, to, from));
  if (form == Form::group) {
    Group group(me);
    const Status begun = put_nbi(me, to, from, {.group = &group});
    const Status done = group.wait();
    return begun ? done : begun;
  }
  if (form == Form::region) {
    if (Status status = me.begin_region(); !status) return status;
  }
  const Status begun = put_nbi(me, to, from);
  const Status done = form == Form::region ? me.wait(me.end_region()) : me.wait_implicit();
  return begun ? done : begun;
}

/// Gets in the given form, and waits.
inline Status get_by(Form form, Endpoint& me, std::span<std::byte> to, GlobalPtr<std::byte> from) {
  if (form == Form::blocking) return get(me, to, from);
  if (form == Form::nb) return me.wait(get_nb(me, to, from));
  if (form == Form::group) {
    Group group(me);
    const Status begun = get_nbi(me, to, from, {.group = &group});
    const Status done = group.wait();
    return begun ? done : begun;
  }
  if (form == Form::region) {
    if (Status status = me.begin_region(); !status) return status;
  }
  const Status begun = get_nbi(me, to, from);
  const Status done = form == Form::region ? me.wait(me.end_region()) : me.wait_implicit();
  return begun ? done : begun;
}

/// Makes progress until `condition` holds, with a time limit; returns whether it does.
template <class Condition>
bool progress_until(Endpoint& me, Condition condition,
                    std::chrono::nanoseconds limit = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (me.progress() == 0) std::this_thread::yield();
    if (std::chrono::steady_clock::now() > end) return condition();
  }
  return true;
}

/// Waits, with a time limit and without making progress, for an event outside the library.
template <class Condition>
bool idle_until(Condition condition, std::chrono::nanoseconds limit = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() > end) return condition();
  }
  return true;
}

}  // namespace aqueduct::conformance
