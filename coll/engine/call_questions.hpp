#pragma once

#include <aqueduct/rank.hpp>

#include "am/layer_handlers.hpp"
#include "coll/engine/agreement_wire.hpp"
#include "coll/engine/call_description.hpp"
#include "core/endpoint_state.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace aqueduct::coll {

/// Asks peers for their calls when a stall is reported: for that in which this rank waits, as the last one of both may be equal
/// behind one that is not. That is how a disagreement shows if the two members never exchange a message. One for each endpoint.
///
/// A report asks. The answer goes to the team, which ends its calls if they differ, and a later report names what has been
/// answered. Nothing here waits, and nothing is allocated except for texts.
class CallQuestions {
 public:
  /// For the answer to `asker`: description of this rank's call of the team with that number, or number and description of its
  /// last one, if it has not made that or does not remember it. False: it has made none, or there is no such team, or `asker` is not
  /// a member. It runs inside a handler.
  using Last = bool (*)(void* owner, std::uint64_t team, Rank asker, std::uint64_t& number,
                        CallDescription& call);
  /// What `from` has answered: number and description of a call of the team; 0: it has made none. It runs inside a handler.
  using Said = void (*)(void* owner, std::uint64_t team, Rank from, std::uint64_t number,
                        const CallDescription& call);

  /// `ask`, `tell`: for tests, which use numbers that are free.
  CallQuestions(core::EndpointState& state, Last last, Said said, void* owner, HandlerId ask = am::kCollAsk,
                HandlerId tell = am::kCollTell);
  CallQuestions(const CallQuestions&) = delete;
  CallQuestions& operator=(const CallQuestions&) = delete;

  /// Asks a member of the team for its call with that number. Nothing happens if there is no room to send, or a question to it
  /// is under way.
  ///
  /// Cost: one message there, one back.
  void ask(std::uint64_t team, Rank peer, std::uint64_t number) noexcept;

  /// Adds the members of the team that have answered, and with another call than this one of this rank.
  void compare(std::string& text, std::uint64_t team, std::uint64_t number,
               const CallDescription& call) const;

  /// The team has ended on this rank.
  void forget(std::uint64_t team) noexcept;
  void peer_lost(Rank peer) noexcept;

  /// The most members whose answers are kept; the one asked first gives way. Chosen: a report names few.
  static constexpr std::size_t kMostAnswers = 32;

 private:
  struct Answer {
    CallAnswer said{};
    std::uint64_t asked = 0;  ///< when, counted in questions; 0: not in use
    std::uint64_t about = 0;  ///< the number of the call that was asked for
    Rank peer = kNoRank;
    bool known = false;      ///< `said` is an answer
    bool under_way = false;  ///< a question is
  };

  Answer* find(std::uint64_t team, Rank peer) noexcept;
  void asked(aqueduct::detail::Incoming& in, const CallQuestion& question) noexcept;
  void answered(Rank from, const CallAnswer& answer) noexcept;

  core::EndpointState& state_;
  Last last_;
  Said said_;
  void* owner_;
  HandlerId ask_;
  HandlerId tell_;
  std::uint64_t questions_ = 0;
  std::array<Answer, kMostAnswers> answers_;
};

}  // namespace aqueduct::coll
