// How the calls of a shape are carried out: chosen once, and kept for the next call.

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/board_choice.hpp"

#include <algorithm>
#include <new>

namespace aqueduct::coll {

namespace {

/// Pieces, and the passes before and after them, are counted in 32 bits.
constexpr std::uint64_t kMostPieces = UINT32_MAX - 2;
/// Members whose steps each of them looks at. Chosen: it takes about as many calls of `build` for each new shape.
constexpr Rank kMostLookedAt = 64;
/// A counter counts in 16 bits; the others are the mark of the call (fits, in steps.cpp).
constexpr Rank kMostCounted = 0xffff;

std::uint64_t mixed_hash(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e37'79b9'7f4a'7c15;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of_shape(const Shape& shape) noexcept {
  const auto byte = [](auto value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t hash = byte(shape.operation) | byte(shape.in) << 8 | byte(shape.out) << 16 |
                       byte(shape.addresses) << 24 | byte(shape.order) << 32 | byte(shape.commutative) << 40 |
                       byte(shape.op) << 48 | byte(shape.type) << 56;
  hash = mixed_hash(hash, shape.bytes);
  hash = mixed_hash(hash, shape.root);
  return mixed_hash(hash, shape.element);
}

}  // namespace

/// Whether the last piece can be done as the others are. It is shorter, but may have more segments.
bool TeamChoices::rest_fits(const Method& method, const Request& request) const noexcept {
  Shape rest = method.run;
  rest.bytes = method.piece != 0 ? method.shape.bytes % method.piece : 0;
  if (rest.bytes == 0) return true;
  if (method.wide) rest.pitch = rest.bytes;
  std::uint64_t temp_at = 0;
  std::uint64_t stage_at = 0;
  return Schedule::refusal(*method.algorithm, rest) == nullptr &&
         layout_->refusal(needs_of(request, *method.algorithm, rest, temp_at, stage_at)) == nullptr;
}

/// What is wrong with the steps in a whole piece and in the last one, if the program has made the algorithm. In a team of up to
/// kMostLookedAt members all members look at the steps of all of them, and so find out alike that the call cannot be.
/// Shapes that were found right lately are not looked at again: trials choose anew for each call, and so may many roots.
std::string TeamChoices::wrong_steps_of(const Method& method) const {
  if (method.algorithm->added == nullptr) return {};
  Shape rest = method.run;
  rest.bytes = method.piece != 0 ? method.shape.bytes % method.piece : 0;
  if (method.wide) rest.pitch = rest.bytes;
  std::uint64_t hash =
      mixed_hash(hash_of_shape(method.run), reinterpret_cast<std::uintptr_t>(method.algorithm));
  for (const std::uint32_t parameter : method.run.parameters) hash = mixed_hash(hash, parameter);
  hash = mixed_hash(mixed_hash(hash, method.run.pitch), rest.bytes);
  hash = mixed_hash(hash, std::uint64_t{ranks_} << 32 | position_) | 1;
  std::uint64_t& found_right = layer_.found_right(hash);
  if (found_right == hash) return {};
  const bool all = ranks_ <= kMostLookedAt;
  std::string wrong;
  for (Rank position = all ? 0 : position_; position < ranks_ && wrong.empty(); ++position) {
    wrong = wrong_steps(*method.algorithm, method.run, position);
    if (wrong.empty() && rest.bytes != 0) wrong = wrong_steps(*method.algorithm, rest, position);
    if (!all) break;
  }
  if (wrong.empty()) found_right = hash;
  return wrong;
}

/// Chooses how calls of this shape are carried out.
Status TeamChoices::choose_into(Method& method, const Shape& asked, const Request& request) noexcept try {
  const Choice choice = chooser_.choose(asked, traits_for(asked), *layout_);
  method.asked = asked;
  method.wide = request.combiner.wide_element != 0;
  method.ticket = {};
  method.root = method.seen_root = kNoRank;
  method.algorithm = choice.algorithm;
  CallText text;
  add_call(text, request.description);
  if (ranks_ > kMostCounted) {
    state_.log.error(
        "{} on a team of {} ranks: a counter has {} arrivals at most, so no team of more members has "
        "collective "
        "operations: split the team",
        text.view(), ranks_, kMostCounted);
    return ErrorCode::not_supported;
  }
  if (choice.algorithm == nullptr) {
    state_.log.error("{} on a team of {} ranks: {}", text.view(), ranks_, choice.why);
    if (choice.lacks_here) return no_memory_here();
    return choice.no_memory ? ErrorCode::no_memory : ErrorCode::invalid_argument;
  }
  method.shape = choice.shape;
  method.piece = std::min(choice.piece, asked.bytes);
  // Elements that are converted take more room than the choice knows of.
  for (;; method.piece = method.piece / 2 / method.shape.element * method.shape.element) {
    if (method.piece == 0 && asked.bytes != 0) {
      state_.log.error(
          "{} on a team of {} ranks: it does not fit into the team's scratch: raise AQUEDUCT_COLL_SCRATCH "
          "or AQUEDUCT_COLL_TEAM_SCRATCH",
          text.view(), ranks_);
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
    if (method.algorithm->board != BoardMethod::none) break;
    method.needs = needs_of(request, *method.algorithm, run, method.temp_at, method.stage_at);
    if (layout_->refusal(method.needs) == nullptr && rest_fits(method, request)) break;
  }
  if (const std::string wrong = wrong_steps_of(method); !wrong.empty()) {
    state_.log.error(
        "{} on a team of {} ranks: the program's algorithm {} is wrong: {}; correct its `build` or its "
        "`needs`",
        text.view(), ranks_, method.algorithm->name, wrong);
    return ErrorCode::invalid_argument;
  }
  // What runs is counted.
  const Algorithm* ran = method.algorithm;
  if (ran->board != BoardMethod::none)
    ran = run_on_board(*ran, method.run, method.wide ? request.shape.element : 0).algorithm;
  method.index = layer_.index_of(*ran);
  if (method.piece != 0 && (asked.bytes - 1) / method.piece >= kMostPieces) {
    state_.log.error(
        "{} on a team of {} ranks: it would run in more than {} pieces of {} bytes each: pass fewer bytes, "
        "or raise AQUEDUCT_COLL_SCRATCH or AQUEDUCT_COLL_TEAM_SCRATCH",
        text.view(), ranks_, kMostPieces, method.piece);
    return ErrorCode::too_large;
  }
  const bool in_pieces = method.piece < asked.bytes;
  method.before = in_pieces && method.shape.in == Sync::all;
  method.after = in_pieces && method.shape.out == Sync::all;
  method.runs = 1;
  if (in_pieces) {
    method.runs = static_cast<std::uint32_t>((asked.bytes - 1) / method.piece + 1) + (method.before ? 1 : 0) +
                  (method.after ? 1 : 0);
  }
  method.hash = hash_of(method);
  method.on_board = method.algorithm->board != BoardMethod::none;
  if (method.on_board) method.needs = {};
  return {};
} catch (const std::bad_alloc&) {
  return no_memory_here();
}

/// Of what members that have chosen alike have alike. May throw std::bad_alloc.
std::uint32_t TeamChoices::hash_of(const Method& method) const {
  std::uint64_t hash = method.piece;
  for (const char letter : method.algorithm->name)
    hash = mixed_hash(hash, static_cast<unsigned char>(letter));
  for (const std::uint32_t value : method.shape.parameters) hash = mixed_hash(hash, value);
  if (method.algorithm->added != nullptr) {
    // Members may have built different programs, which agree on the calls that were compared when the job started.
    const Needs needs = Schedule::needs(*method.algorithm, method.run);
    for (const std::uint64_t value : {needs.scratch, needs.temp, std::uint64_t{needs.counters}})
      hash = mixed_hash(hash, value);
  }
  if (const topology::Placement* const where =
          keeps_to_domains(method.algorithm->board) ? placement() : nullptr) {
    for (std::uint32_t label = 0; label < where->size(); ++label)
      hash = mixed_hash(hash, where->member(label));
    for (const topology::Placement::Cut& cut : where->cuts()) {
      for (const std::uint32_t first : cut.first) hash = mixed_hash(hash, first);
    }
  }
  if (method.algorithm->team_tree) {  // the edges, and the order of those that have one parent
    for (Rank member = 0; member < ranks_; ++member) {
      hash = mixed_hash(hash, traits_.tree->parent(member));
      hash = mixed_hash(hash, traits_.tree->place_of(member));
    }
  }
  return static_cast<std::uint32_t>(hash >> 32) | 1u;
}

/// The shape by which an algorithm is chosen. A schedule of the program's need not be the same one for each root either.
Shape TeamChoices::asked_of(const Request& request) const noexcept {
  Shape asked = request.shape;
  // A schedule that goes by hosts, or by the team's tree, is another one for each root.
  const auto has_operation = [&](const Algorithm* one) { return one->operation == asked.operation; };
  if (shifts_with_root(asked) && traits_.groups == nullptr && traits_.tree == nullptr &&
      (traits_.added == nullptr ||
       std::ranges::none_of(aqueduct::detail::algorithms_of(traits_.added), has_operation)))
    asked.root = 0;
  if (request.combiner.wide_element != 0) {
    asked.bytes = asked.bytes / asked.element * request.combiner.wide_element;
    asked.pitch = asked.bytes;
    asked.element = request.combiner.wide_element;
    asked.addresses = Addresses::local;  // peers cannot write wide elements into a user's buffer
  }
  if (traits_.native != nullptr && reduces(asked.operation)) {
    asked.op = request.description.op;
    // Half and Bfloat16 are combined as float (kernels::combine_of).
    asked.type = request.combiner.wide_element != 0 ? ElementType::f32 : request.description.type;
  }
  return asked;
}

Result<Method*> TeamEngine::method_of(const Request& request) noexcept {
  const Shape asked = asked_of(request);
  if (trying_) return method_to_try(asked, request);
  Method*& kept = latest_->methods[hash_of_shape(asked) >> 60];
  const bool wide = request.combiner.wide_element != 0;
  if (kept != nullptr && kept->asked == asked && kept->wide == wide) [[likely]]
    return kept;
  Method* method = kept;
  if (kept == nullptr || kept->uses != 0) {
    method = layer_.methods().take();
    if (method == nullptr) return no_memory_here();
    if (kept != nullptr) kept->kept = false;
    method->uses = 0;
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

/// A method for one call.
Result<Method*> TeamEngine::method_to_try(const Shape& asked, const Request& request) noexcept {
  Method* const method = layer_.methods().take();
  if (method == nullptr) return no_memory_here();
  method->uses = 0;
  method->kept = false;
  if (const Status status = choose_into(*method, asked, request); !status) {
    layer_.methods().give_back(*method);
    return status;
  }
  return method;
}

/// A known call names the method no longer.
void TeamEngine::give_up(Method& method) noexcept {
  if (--method.uses == 0 && !method.kept) layer_.methods().give_back(method);
}

}  // namespace aqueduct::coll
