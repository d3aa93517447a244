#include <aqueduct/status.hpp>

#include <fmt/core.h>

#include <array>

namespace aqueduct {
namespace {

constexpr std::array kErrors{
    ErrorInfo{ErrorCode::ok, "ok", "all went well", "nothing to do"},
    ErrorInfo{ErrorCode::invalid_argument, "invalid_argument",
              "an argument is wrong, or the call is not legal at this point",
              "compare the call with the comment above it in its header; a checked build says more"},
    ErrorInfo{ErrorCode::out_of_range, "out_of_range",
              "a rank, team index, slot or address is outside its bounds",
              "compare ranks with ranks(), offsets with segment_bytes(), slots with AQUEDUCT_SIGNALS"},
    ErrorInfo{ErrorCode::misaligned, "misaligned", "an atomic's address is not a multiple of its size",
              "place the object where its owner has an address divisible by its size (4 or 8)"},
    ErrorInfo{ErrorCode::too_large, "too_large", "a payload or argument struct is above the declared limit",
              "ask the limit query of its category; split the payload, or put it and send a short message"},
    ErrorInfo{ErrorCode::wrong_handler, "wrong_handler",
              "there is no such handler, or it has another category or argument struct",
              "register the same handlers, in the same order, on every rank before the first message"},
    ErrorInfo{ErrorCode::in_handler, "in_handler",
              "a call that may block was made inside a handler or continuation",
              "reply or set a flag in the handler, and wait outside of it"},
    ErrorInfo{ErrorCode::refused, "refused",
              "there was no room for an immediate initiation; nothing happened",
              "call progress() and try again, or raise AQUEDUCT_OPERATIONS, _CREDITS or _SEGMENTS"},
    ErrorInfo{ErrorCode::peer_lost, "peer_lost", "the peer, or a member of the team, has died or left",
              "look in the launcher's output for who ended and why; calls among the others still work"},
    ErrorInfo{ErrorCode::timed_out, "timed_out", "a bounded wait came to its end",
              "wait again, or see with AQUEDUCT_LOG=info and AQUEDUCT_STALL_WARN what is being waited for"},
    ErrorInfo{ErrorCode::no_memory, "no_memory", "the machine cannot give that much memory",
              "lower AQUEDUCT_SEGMENT_BYTES or the ranks per host; see the log, free memory, `ulimit -l -v`"},
    ErrorInfo{ErrorCode::no_space, "no_space", "the file system behind shared memory is full",
              "free or enlarge /dev/shm (in a container --shm-size), or lower AQUEDUCT_SEGMENT_BYTES"},
    ErrorInfo{ErrorCode::bad_setting, "bad_setting", "a setting is unknown or its value cannot be read",
              "run aqinfo, which names each problem and lists every setting with its limits"},
    ErrorInfo{ErrorCode::version_mismatch, "version_mismatch",
              "two versions of the library, or of a conduit, met in one job",
              "start every rank with the same build; rebuild plug-ins against this version's headers"},
    ErrorInfo{ErrorCode::bootstrap_failed, "bootstrap_failed", "the ranks could not find one another",
              "start the program with aqrun, or raise AQUEDUCT_BOOTSTRAP_TIMEOUT"},
    ErrorInfo{ErrorCode::not_supported, "not_supported", "this conduit or this machine cannot do it",
              "run aqinfo to see what each conduit offers here, and choose one by AQUEDUCT_CONDUIT"},
    ErrorInfo{ErrorCode::network_failed, "network_failed",
              "the operating system or a network library refused",
              "the log has its own words; run aqinfo on that host and check limits, links and firewalls"},
    ErrorInfo{ErrorCode::closed, "closed", "the object has ended",
              "keep the Job, its teams and segments until the last call on them has returned"},
    ErrorInfo{ErrorCode::mismatch, "mismatch",
              "members of a team gave different values, or made different calls",
              "compare what each member passed; of collective calls the log names both"},
    ErrorInfo{ErrorCode::internal, "internal", "a bug in Aqueduct",
              "please report it, with the program and its output under AQUEDUCT_LOG=debug"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kErrors.size(); ++i) {
    if (static_cast<std::size_t>(kErrors[i].code) != i) return false;
  }
  return kErrors.back().code == ErrorCode::internal;
}
static_assert(in_order(), "describe() finds an entry by its number");

}  // namespace

std::span<const ErrorInfo> errors() noexcept { return kErrors; }

const ErrorInfo& describe(ErrorCode code) noexcept {
  // A peer can send a number that is no code. Only a bug of the library does that.
  const auto index = static_cast<std::size_t>(code);
  return index < kErrors.size() ? kErrors[index] : kErrors.back();
}

std::string Status::text() const {
  if (ok()) return "ok";
  const ErrorInfo& info = describe(code_);
  const std::string whom = peer_ == kNoRank ? "" : fmt::format(" (rank {})", peer_);
  return fmt::format("{}{}: {}; {}", info.name, whom, info.meaning, info.advice);
}

}  // namespace aqueduct
