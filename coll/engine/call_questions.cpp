#include "coll/engine/call_questions.hpp"

#include "am/messages.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace aqueduct::coll {

using aqueduct::detail::Incoming;

CallQuestions::CallQuestions(core::EndpointState& state, Last last, Said said, void* owner, HandlerId ask,
                             HandlerId tell)
    : state_(state), last_(last), said_(said), owner_(owner), ask_(ask), tell_(tell) {
  const std::shared_ptr<void> self(std::shared_ptr<void>(), this);
  const auto take_question = [](void* me, Incoming& in, const std::byte* args, core::MutableBytes) {
    CallQuestion question;
    std::memcpy(&question, args, sizeof question);
    static_cast<CallQuestions*>(me)->asked(in, question);
  };
  const auto take_answer = [](void* me, Incoming& in, const std::byte* args, core::MutableBytes) {
    CallAnswer answer;
    std::memcpy(&answer, args, sizeof answer);
    static_cast<CallQuestions*>(me)->answered(in.source, answer);
  };
  state.messages->add_internal(ask, AmCategory::short_request, sizeof(CallQuestion), {take_question, self});
  state.messages->add_internal(tell, AmCategory::short_reply, sizeof(CallAnswer), {take_answer, self});
}

CallQuestions::Answer* CallQuestions::find(std::uint64_t team, Rank peer) noexcept {
  const auto found = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& one) {
    return one.asked != 0 && one.said.team == team && one.peer == peer;
  });
  return found != answers_.end() ? &*found : nullptr;
}

void CallQuestions::ask(std::uint64_t team, Rank peer, std::uint64_t number) noexcept {
  Answer* place = find(team, peer);
  if (place != nullptr && place->under_way) return;
  const CallQuestion question{team, number};
  const core::Post post = state_.messages->try_request(peer, AmCategory::short_request, ask_,
                                                       {&question, sizeof question, 0}, nullptr, {}, 0);
  if (post.kind != core::Post::Kind::done && post.kind != core::Post::Kind::posted) return;
  if (place == nullptr) {
    // One that is not in use has `asked` 0.
    place = &*std::min_element(answers_.begin(), answers_.end(),
                               [](const Answer& a, const Answer& b) { return a.asked < b.asked; });
    *place = {};
    place->said.team = team;
    place->peer = peer;
  }
  place->asked = ++questions_;
  place->known = place->known && place->about == number;
  place->about = number;
  place->under_way = true;
}

void CallQuestions::asked(Incoming& in, const CallQuestion& question) noexcept {
  CallAnswer answer{question.team, question.number, {}};
  if (!last_(owner_, question.team, in.source, answer.number, answer.call)) {
    answer.number = 0;
    answer.call = {};
  }
  // A reply fails only if the asker is lost, or has more questions under way than it has credits.
  static_cast<void>(
      state_.messages->reply(in, AmCategory::short_reply, tell_, {&answer, sizeof answer, 0}, nullptr, {}));
}

// An answer to a question that is forgotten, or was never asked, is dropped.
void CallQuestions::answered(Rank from, const CallAnswer& answer) noexcept {
  Answer* const place = find(answer.team, from);
  if (place == nullptr || !place->under_way) return;
  place->said = answer;
  place->known = true;
  place->under_way = false;
  said_(owner_, answer.team, from, answer.number, answer.call);
}

void CallQuestions::compare(std::string& text, std::uint64_t team, std::uint64_t number,
                            const CallDescription& call) const {
  bool any = false;
  for (const Answer& one : answers_) {
    if (one.asked == 0 || !one.known || one.said.team != team || one.about != number) continue;
    if (one.said.number == 0) {
      text += fmt::format("; rank {} has made no call of the team", one.peer);
    } else if (one.said.number != number || one.said.call != call) {
      text += fmt::format("; rank {} is at call {} of the team, {}", one.peer, one.said.number,
                          text_of(one.said.call));
    } else {
      continue;
    }
    any = true;
  }
  if (any) text += fmt::format("; this rank is at call {}, {}", number, text_of(call));
}

void CallQuestions::forget(std::uint64_t team) noexcept {
  for (Answer& one : answers_) {
    if (one.asked != 0 && one.said.team == team) one = {};
  }
}

void CallQuestions::peer_lost(Rank peer) noexcept {
  for (Answer& one : answers_) {
    if (one.peer == peer) one = {};
  }
}

}  // namespace aqueduct::coll
