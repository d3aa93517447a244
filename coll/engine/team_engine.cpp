#include "coll/engine/team_engine.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "core/signals.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr core::OpKind kCollectiveKind{"a collective operation"};
/// Pieces, and the passes before and after them, are counted in 32 bits.
constexpr std::uint64_t kMostPieces = UINT32_MAX - 2;

std::uint64_t mixed_hash(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e37'79b9'7f4a'7c15;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of_shape(const Shape& shape) noexcept {
  const auto byte = [](auto value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t hash = byte(shape.operation) | byte(shape.in) << 8 | byte(shape.out) << 16 |
                       byte(shape.addresses) << 24 | byte(shape.order) << 32 | byte(shape.commutative) << 40;
  hash = mixed_hash(hash, shape.bytes);
  hash = mixed_hash(hash, shape.root);
  return mixed_hash(hash, shape.element);
}

/// Only of facts that are equal on all members: what they choose by these must be the same.
TeamTraits traits_of(const EndpointState& state, const TeamState& team) noexcept {
  TeamTraits traits{.ranks = team.size(), .most_transfer = state.least_transfer};
  for (Rank i = 0; i < team.size(); ++i) {
    if (state.host_of[team.members[i]] != state.host_of[team.members[0]]) traits.one_host = false;
  }
  traits.mapped = traits.one_host && state.near_serves_host;
  return traits;
}

}  // namespace

TeamEngine::TeamEngine(Collectives& all, TeamState& team)
    : layer_(all),
      state_(team.endpoint),
      team_(team),
      transfers_(*team.endpoint.transfers),
      id_(team.id),
      ranks_(team.size()),
      position_(team.index),
      traits_(traits_of(team.endpoint, team)),
      agreement_(team.endpoint.rank) {
  all_.kind = &core::kGroup;
  all_.pool = &state_.ops;
  all_.parts = 1;
}

void TeamEngine::have_scratch(const ScratchSizes& sizes, std::byte* bytes, std::span<std::uint64_t> words) {
  if (scratch_ && scratch_->layout().sizes() == sizes) return;
  base_ = bytes;
  scratch_.emplace(sizes, ranks_, position_, words.first(ScratchLayout(sizes, ranks_).counters()));
}

// What is still in flight refers to this object no more: its parts become those of the endpoint's unobserved operation.
TeamEngine::~TeamEngine() {
  for (Method* const method : methods_) {
    if (method == nullptr) continue;
    method->kept = false;
    if (method->uses == 0) layer_.methods().give_back(*method);
  }
  if (all_.parts > 1) state_.ops.move_members(all_, state_.unobserved);
  for (Plan* plan = plans_; plan != nullptr;) {
    Plan* const next = plan->next;
    plan->engine = nullptr;
    if (plan->method != nullptr) give_up(*std::exchange(plan->method, nullptr));
    if (plan->dropped) delete plan;
    plan = next;
  }
}

/// Whether the last piece can be done as the others are. It is shorter, but may have more segments.
bool TeamEngine::rest_fits(const Method& method, const Request& request) const noexcept {
  Shape rest = method.run;
  rest.bytes = method.piece != 0 ? method.shape.bytes % method.piece : 0;
  if (rest.bytes == 0) return true;
  if (method.wide) rest.pitch = rest.bytes;
  std::uint64_t temp_at = 0;
  std::uint64_t stage_at = 0;
  return Schedule::refusal(*method.algorithm, rest) == nullptr &&
         scratch_->refusal(needs_of(request, *method.algorithm, rest, temp_at, stage_at)) == nullptr;
}

/// Chooses how calls of this shape are carried out.
Status TeamEngine::choose_into(Method& method, const Shape& asked, const Request& request) noexcept {
  const Choice choice = layer_.chooser().choose(asked, traits_, scratch_->layout());
  method.asked = asked;
  method.wide = request.combiner.wide_element != 0;
  method.ticket = {};
  method.root = kNoRank;
  method.algorithm = choice.algorithm;
  if (choice.algorithm == nullptr) {
    state_.log.error("{} on a team of {} ranks: {}", text_of(request.description), ranks_, choice.why);
    return ErrorCode::invalid_argument;
  }
  method.shape = choice.shape;
  method.piece = std::min(choice.piece, asked.bytes);
  // Elements that are converted take more room than the choice knows of.
  for (;; method.piece = method.piece / 2 / method.shape.element * method.shape.element) {
    if (method.piece == 0 && asked.bytes != 0) {
      state_.log.error(
          "{} on a team of {} ranks: it does not fit into the team's scratch: raise AQUEDUCT_COLL_SCRATCH "
          "or AQUEDUCT_COLL_TEAM_SCRATCH",
          text_of(request.description), ranks_);
      return ErrorCode::no_memory;
    }
    Shape& run = method.run = method.shape;
    run.bytes = method.piece;
    // The pieces of an operation with Sync::all move freely between the passes; but each must have its own bytes in
    // place before the pass at the end.
    if (method.piece != asked.bytes) {
      if (run.in == Sync::all) run.in = Sync::none;
      if (run.out == Sync::all) run.out = Sync::mine;
    }
    if (method.wide) run.pitch = run.bytes;  // as they are staged
    method.needs = needs_of(request, *method.algorithm, run, method.temp_at, method.stage_at);
    if (scratch_->refusal(method.needs) == nullptr && rest_fits(method, request)) break;
  }
  method.index = Collectives::index_of(*method.algorithm);
  if (method.piece != 0 && (asked.bytes - 1) / method.piece >= kMostPieces) {
    CallText text;
    add_call(text, request.description);
    state_.log.error(
        "{} on a team of {} ranks: it would run in more than {} pieces of {} bytes each: pass fewer bytes, "
        "or raise AQUEDUCT_COLL_SCRATCH or AQUEDUCT_COLL_TEAM_SCRATCH",
        text.view(), ranks_, kMostPieces, method.piece);
    return ErrorCode::too_large;
  }
  method.hash = hash_of(method);
  return {};
}

std::uint32_t TeamEngine::hash_of(const Method& method) noexcept {
  std::uint64_t hash = method.piece;
  for (const char letter : method.algorithm->name)
    hash = mixed_hash(hash, static_cast<unsigned char>(letter));
  for (const std::uint32_t value : method.shape.parameters) hash = mixed_hash(hash, value);
  return static_cast<std::uint32_t>(hash >> 32) | 1u;
}

Result<Method*> TeamEngine::method_of(const Request& request) noexcept {
  Shape asked = request.shape;
  if (shifts_with_root(asked)) asked.root = 0;
  if (request.combiner.wide_element != 0) {
    asked.bytes = asked.bytes / asked.element * request.combiner.wide_element;
    asked.pitch = asked.bytes;
    asked.element = request.combiner.wide_element;
    asked.addresses = Addresses::local;  // peers cannot write wide elements into a user's buffer
  }
  Method*& kept = methods_[hash_of_shape(asked) >> 60];
  const bool wide = request.combiner.wide_element != 0;
  if (kept != nullptr && kept->asked == asked && kept->wide == wide) [[likely]]
    return kept;
  Method* method = kept;
  if (kept == nullptr || kept->uses != 0) {
    method = layer_.methods().take();
    if (method == nullptr) return ErrorCode::no_memory;
    if (kept != nullptr) kept->kept = false;
    method->uses = method->calls = 0;
    method->kept = true;
    kept = method;
  }
  if (const Status status = choose_into(*method, asked, request); !status) {
    kept = nullptr;
    method->kept = false;
    layer_.methods().give_back(*method);
    return status;
  }
  return method;
}

/// A call or plan names the method no longer.
void TeamEngine::give_up(Method& method) noexcept {
  if (--method.uses == 0 && !method.kept) layer_.methods().give_back(method);
}

TeamEngine::Begun TeamEngine::begin(const Request& request) noexcept {
  if (!broken_.ok()) return {broken_, Event(broken_)};
  if (ranks_ == 1) return alone(request);
  if (!scratch_) {
    // The others are told, since this member may be without scratch alone.
    log_no_scratch(request);
    refuse(refused_call(request.description, ErrorCode::no_memory));
    return {ErrorCode::no_memory, Event(Status(ErrorCode::no_memory))};
  }
  const auto method = method_of(request);
  if (!method) {
    refuse(refused_call(request.description, method.status().code()));
    return {method.status(), Event(method.status())};
  }
  return begin_with(request, **method, nullptr);
}

void TeamEngine::log_no_scratch(const Request& request) noexcept {
  if (std::exchange(scratch_missed_, true)) return;
  CallText text;
  add_call(text, request.description);
  state_.log.error(
      "{} on a team of {} ranks: the team has no memory for collective operations, because a member had too "
      "little left when the team was made: end teams that are not used any more (Team::end), or raise "
      "AQUEDUCT_COLL_SCRATCH and AQUEDUCT_COLL_COUNTERS on all ranks",
      text.view(), ranks_);
}

// A member alone copies. Its input is its output's first block, if it has any.
TeamEngine::Begun TeamEngine::alone(const Request& request) noexcept {
  const Shape& shape = request.shape;
  const bool nothing = shape.operation == Collective::barrier || shape.operation == Collective::exscan;
  if (!nothing && request.in.mine != request.out.mine && shape.bytes != 0)
    std::memmove(request.out.mine, request.in.mine, shape.bytes);
  return {};
}

TeamEngine::Begun TeamEngine::begin_with(const Request& request, Method& method, Plan* plan) noexcept {
  core::Op* op = state_.ops.acquire(kCollectiveKind, kNoRank, true);
  // A blocking call gives its record back by itself, so it may be one of the library's.
  if (op == nullptr && request.blocking) op = state_.ops.acquire(kCollectiveKind, kNoRank, false);
  if (op == nullptr) return {ErrorCode::refused, Event(Status(ErrorCode::refused))};
  const std::size_t algorithm = method.index;
  if (const Status status = begin_on(*op, request, method, plan); !status) {
    state_.ops.take_back(*op);
    return {status, Event(status)};
  }
  layer_.count(algorithm);
  return {{}, Event(op)};
}

/// Begins a call that ends `op`, perhaps at once. On failure `op` is as it was.
Status TeamEngine::begin_on(core::Op& op, const Request& request, Method& method, Plan* plan) noexcept {
  CallRecord* const record = layer_.operations().take();
  if (record == nullptr) return ErrorCode::refused;
  CallDescription call = request.description;
  call.algorithm = method.hash;
  if (const Status status = note(call); !status) {
    layer_.operations().give_back(*record);
    return status;
  }
  CallRecord& operation = *record;
  operation.kind = CallRecord::Kind::call;
  operation.op = &op;
  operation.plan = plan;
  operation.request = request;
  operation.method = &method;
  ++method.uses;
  ++method.calls;
  operation.number = calls_;
  operation.unit = std::uint64_t{1} | std::uint64_t{fingerprint(calls_, call)} << 16;
  operation.opened = operation.completed = operation.drained = 0;
  const Shape& shape = method.shape;
  const bool in_pieces = method.piece < shape.bytes;
  operation.before = in_pieces && shape.in == Sync::all;
  operation.after = in_pieces && shape.out == Sync::all;
  operation.runs = 1;
  if (in_pieces) {
    // choose_into has seen to it that they can be counted.
    operation.runs = static_cast<std::uint32_t>((shape.bytes - 1) / method.piece + 1) +
                     (operation.before ? 1 : 0) + (operation.after ? 1 : 0);
  }
  if (plan != nullptr) plan->running = 1;
  enqueue(operation);
  if (first_ == &operation) {
    static_cast<void>(advance());
  } else {
    // Not the earlier ones: with many in flight, each call would look at all of them.
    newest_ = nullptr;
    pump();
    if (newest_ != nullptr) look(*newest_);
  }
  layer_.look_busy(*this);
  return {};
}

void TeamEngine::enqueue(CallRecord& operation) noexcept {
  operation.next = nullptr;
  if (operation.plan != nullptr) ++operation.plan->held;
  (last_ != nullptr ? last_->next : first_) = &operation;
  last_ = &operation;
  if (opening_ == nullptr) opening_ = &operation;
}

/// This member's next call: counted, and compared with what others have told of theirs.
Status TeamEngine::note(const CallDescription& call) noexcept {
  const Status status = agreement_.calls(++calls_, call);
  settle();
  return status;
}

/// Does what the agreement asks for: tells the other members, ends what cannot end otherwise.
void TeamEngine::settle() noexcept {
  if (const auto news = agreement_.take_news()) layer_.tell(*this, news->number, news->call);
  if (!agreement_.broken()) [[likely]]
    return;
  if (broken_from_ > agreement_.broken_at()) state_.log.error("{}", agreement_.why());
  fail(agreement_.status(), agreement_.broken_at());
  layer_.look_busy(*this);
}

void TeamEngine::refuse(const CallDescription& call) noexcept {
  if (broken_.ok() && ranks_ > 1) static_cast<void>(note(call));
}

void TeamEngine::heard(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept {
  const Verdict verdict = agreement_.heard(from, number, theirs);
  if (verdict == Verdict::clearer) state_.log.error("{}", agreement_.why());
  settle();
}

void TeamEngine::heard_finish(Rank from, std::uint32_t calls) noexcept {
  // How far this member is ahead. If it is behind, the other's calls were made by all, so it has yet to make its own.
  const auto ahead = static_cast<std::uint32_t>(calls_ - calls) & 0x7fff'ffff;
  if (ahead == 0 || ahead > 0x3fff'ffff || !broken_.ok()) return;
  heard(from, calls_ - ahead + 1, refused_call({}, ErrorCode::closed));
}

void TeamEngine::saw_other(std::uint64_t number) noexcept {
  if (agreement_.broken()) return;
  static_cast<void>(agreement_.saw_other(number, kNoRank));
  settle();
}

Result<Plan*> TeamEngine::bind(const Request& request) noexcept {
  if (!broken_.ok()) return broken_;
  Plan* const plan = new (std::nothrow) Plan;
  if (plan == nullptr) return ErrorCode::no_memory;
  plan->request = request;
  if (ranks_ > 1) {
    if (!scratch_) log_no_scratch(request);
    Status status = scratch_ ? Status{} : Status(ErrorCode::no_memory);
    CallRecord* turn = nullptr;
    if (status) {
      const auto method = method_of(request);
      status = method.status();
      if (method) ++(plan->method = *method)->uses;
    }
    if (status && (turn = layer_.operations().take()) == nullptr) status = ErrorCode::no_memory;
    if (!status) {
      if (plan->method != nullptr) give_up(*plan->method);
      delete plan;
      return status;
    }
    // Only an operation of one run has a place of its own: its turn to take one comes in the order of the calls.
    if (plan->method->piece >= plan->method->shape.bytes) {
      turn->kind = CallRecord::Kind::bind;
      turn->method = nullptr;
      turn->op = nullptr;
      turn->plan = plan;
      turn->number = calls_ + 1;
      enqueue(*turn);
      pump();
    } else {
      layer_.operations().give_back(*turn);
    }
  }
  plan->engine = this;
  plan->next = plans_;
  plans_ = plan;
  return plan;
}

TeamEngine::Begun TeamEngine::start(Plan& plan) noexcept {
  if (!broken_.ok()) return {broken_, Event(broken_)};
  if (plan.running != 0) return {ErrorCode::invalid_argument, Event(Status(ErrorCode::invalid_argument))};
  return ranks_ == 1 ? alone(plan.request) : begin_with(plan.request, *plan.method, &plan);
}

Status TeamEngine::end(Plan& plan) noexcept {
  if (plan.running != 0) return ErrorCode::invalid_argument;
  const bool in_turn = ranks_ > 1 && broken_.ok();
  CallRecord* const turn = in_turn ? layer_.operations().take() : nullptr;
  if (in_turn && turn == nullptr) return ErrorCode::no_memory;
  if (turn != nullptr) {
    turn->kind = CallRecord::Kind::end;
    turn->method = nullptr;
    turn->op = nullptr;
    turn->plan = &plan;
    turn->number = calls_ + 1;
    enqueue(*turn);
  }
  plan.dropped = true;
  if (turn != nullptr) {
    pump();
  } else {
    release(plan);
  }
  return {};
}

void TeamEngine::drop(Plan& plan) noexcept {
  plan.dropped = true;
  if (!plan.lease) release(plan);
}

/// Frees a plan that the program has given up, once nothing names it. One that holds a place stays until the team ends.
void TeamEngine::release(Plan& plan) noexcept {
  if (!plan.dropped || plan.held != 0 || plan.lease) return;
  for (Plan** at = &plans_; *at != nullptr; at = &(*at)->next) {
    if (*at != &plan) continue;
    *at = plan.next;
    if (plan.method != nullptr) give_up(*plan.method);
    delete &plan;
    return;
  }
}

std::string TeamEngine::explain(const Shape& shape) const {
  if (ranks_ == 1) return "a team of one rank: a copy";
  if (!scratch_) return "the team has no scratch: no collective operation can run";
  return layer_.chooser().explain(shape, traits_, scratch_->layout());
}

Choice TeamEngine::choice(const Shape& shape) const noexcept {
  if (ranks_ == 1 || !scratch_) return {};
  return layer_.chooser().choose(shape, traits_, scratch_->layout());
}

void TeamEngine::describe(std::string& text, CallQuestions& questions) const {
  // The oldest: the others of the team are behind it.
  const Run* const run = active_ != nullptr ? active_ : held_;
  if (run == nullptr) return;
  const CallRecord& operation = *run->operation;
  text += fmt::format("; call {} of a team of {} ranks, {}", operation.number, ranks_,
                      text_of(operation.request.description));
  if (run == held_) text += ", is held until its scratch is free";
  for (std::uint32_t i = 0; i < run->lane_count && run != held_; ++i) {
    const Run::Lane& lane = run->lanes[i];
    if (lane.ended || lane.step == nullptr) continue;
    text += fmt::format(", step {} of {}", lane.next + 1, lane.length);
    if (lane.step->wait_for != kNoCounter) {
      text +=
          fmt::format(" waits for {} of {} arrivals",
                      lane.step->wait_until - (scratch_->count(run->portion, lane.step->wait_for) & 0xffff),
                      lane.step->wait_until);
    }
    if (lane.step->peer == kNoRank) continue;
    text += fmt::format(" to rank {}", team_.members[lane.step->peer]);
    if (!scratch_->may_write(run->portion, lane.step->peer))
      text += ", whose scratch was in use when it last said so";
  }
  // Who is waited for is not known of every step; a few members say what they do, and the next report compares.
  constexpr Rank kMostAsked = 8;
  for (Rank i = 1; i < std::min(ranks_, kMostAsked); ++i)
    questions.ask(id_, team_.members[(position_ + ranks_ - i) % ranks_]);
  questions.compare(text, id_, agreement_.made(), agreement_.last());
}

}  // namespace aqueduct::coll
