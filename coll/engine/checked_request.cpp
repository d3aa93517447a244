#include "coll/engine/checked_request.hpp"

#include "coll/engine/checked_buffers.hpp"
#include "coll/engine/refusal_text.hpp"
#include "kernels/reduce.hpp"

#include <algorithm>
#include <limits>

namespace aqueduct::coll {

using aqueduct::detail::CollBuffer;
using aqueduct::detail::CollCall;
using aqueduct::detail::TeamState;

namespace {

/// The bytes of a block as the call's own buffers give them. Member calls that fit together give the same number.
std::uint64_t block_of_call(const CollCall& call, Rank ranks) noexcept {
  switch (call.operation) {
    case Collective::barrier:
    case Collective::scatter_v:
    case Collective::gather_v:
    case Collective::all_gather_v:
    case Collective::all_to_all_v: return 0;
    case Collective::permute:
    case Collective::gather:
    case Collective::reduce: return call.in.bytes;
    case Collective::all_gather:
      return call.in.where != CollBuffer::Where::nowhere ? call.in.bytes : call.out.bytes / ranks;
    case Collective::all_to_all: return call.out.bytes / ranks;
    default: return call.out.bytes;
  }
}

Shape shape_of_call(const TeamState& team, const CollCall& call) noexcept {
  Shape shape;
  shape.operation = call.operation;
  shape.in = call.options.in;
  shape.out = call.options.out;
  shape.order = reduces(call.operation) ? call.options.order : Order::any;
  shape.addresses = is_known(call.in) || is_known(call.out) ? Addresses::single : Addresses::local;
  shape.ranks = team.size();
  shape.root = has_root(call.operation) ? call.root : 0;
  shape.element = call.element;
  shape.bytes = block_of_call(call, team.size());
  shape.pitch = shape.bytes;
  return shape;
}

Status check_block(const CollCall& call, const Shape& shape, std::string& why) noexcept {
  const char* const name =
      call.operation == Collective::gather || call.operation == Collective::reduce ||
              (call.operation == Collective::all_gather && call.in.where != CollBuffer::Where::nowhere)
          ? "in"
          : "out";
  const bool cut = call.operation == Collective::all_to_all ||
                   (call.operation == Collective::all_gather && call.in.where == CollBuffer::Where::nowhere);
  if (cut && call.out.bytes % shape.ranks != 0)
    return refusal(why, "out has {} bytes, which {} members cannot share: it needs a block for each member",
                   call.out.bytes, shape.ranks);
  if (shape.bytes % shape.element != 0)
    return refusal(why, "a block of {} has {} bytes, which is not a multiple of an element's {}", name,
                   shape.bytes, shape.element);
  if (shape.bytes > std::numeric_limits<std::uint64_t>::max() / shape.ranks)
    return refusal(why, "{} has {} bytes, and as many for each of {} members cannot be counted in 64 bits",
                   name, shape.bytes, shape.ranks);
  return {};
}

Status find_combiner(const CollCall& call, const UserOperators& operators, Request& request,
                     std::string& why) noexcept {
  if (!reduces(call.operation)) return {};
  Combiner& combiner = request.combiner;
  if (call.reducer.op == ReduceOp::user) {
    const UserOperator* const found = operators.find(call.reducer.number);
    if (found == nullptr)
      return refusal(why, "no operator has number {} on this rank: call add_operator before",
                     call.reducer.number);
    if (found->element != call.element)
      return refusal(why, "operator {} is for elements of {} bytes, and these have {}: add one for them",
                     call.reducer.number, found->element, call.element);
    combiner.combine = found->combine;
    combiner.context = found->context;
    request.shape.commutative = found->commutative;
    return {};
  }
  if (call.reducer.op > ReduceOp::user)
    return refusal(why, "there is no operator {}: use one of enum ReduceOp",
                   static_cast<unsigned>(call.reducer.op));
  combiner.combine = kernels::combine_of(call.type, call.reducer.op);
  if (combiner.combine == nullptr)
    return refusal(why,
                   "elements of this type do not have this operator: see enum ReduceOp, or add your own");
  if (const kernels::Widening* const wide = kernels::widening_of(call.type)) {
    combiner.widen = wide->widen;
    combiner.narrow = wide->narrow;
    combiner.wide_element = wide->wide_element;
    const Shape& shape = request.shape;
    if (shape.bytes / shape.element >
        std::numeric_limits<std::uint64_t>::max() / wide->wide_element / shape.ranks)
      return refusal(why, "a block has {} bytes, and its elements cannot be counted as ones of {} bytes",
                     shape.bytes, wide->wide_element);
  }
  return {};
}

}  // namespace

/// Enumerations may hold any number: the C face passes on what it was given.
Status check_options(const CollCall& call, Rank ranks, std::string& why) noexcept {
  const auto number = [](auto value) { return static_cast<unsigned>(value); };
  if (call.options.in > Sync::all || call.options.out > Sync::all)
    return refusal(why, "the options have sync mode {}, and the last one is {}: use one of enum Sync",
                   number(std::max(call.options.in, call.options.out)), number(Sync::all));
  if (call.options.order > ReduceOrder::exact)
    return refusal(why, "the options have order {}, and the last one is {}: use one of enum ReduceOrder",
                   number(call.options.order), number(ReduceOrder::exact));
  if (call.type > ElementType::f64_index)
    return refusal(why, "there is no element type {}: use one of enum ElementType", number(call.type));
  const std::uint32_t usual = kernels::element_bytes(call.type);
  if (call.element == 0) return refusal(why, "an element has 0 bytes: give the size of one element");
  if (usual != 0 && usual != call.element)
    return refusal(why, "an element has {} bytes, but one of its type has {}: give that size, or type bytes",
                   call.element, usual);
  if (has_root(call.operation) && call.root >= ranks)
    return refusal(why,
                   "root is {}, but the members of the team are 0 to {}: Team::index_of gives a rank's index",
                   call.root, ranks - 1);
  return {};
}

CallDescription description_of(const CollCall& call, Rank ranks) noexcept {
  CallDescription description;
  description.operation = call.operation;
  description.in = call.options.in;
  description.out = call.options.out;
  if (call.operation == Collective::barrier) return description;
  description.type = call.type;
  description.element = call.element;
  description.bytes = block_of_call(call, ranks);
  if (has_root(call.operation)) description.root = call.root;
  if (is_known(call.in) || is_known(call.out)) description.facts = CallDescription::kKnownPlaces;
  if (call.options.no_trials && call.operation <= Collective::exscan)
    description.facts |= CallDescription::kNoTrial;
  if (!reduces(call.operation)) return description;
  description.op = call.reducer.op;
  description.order = call.options.order;
  if (call.reducer.op == ReduceOp::user) description.number = call.reducer.number;
  return description;
}

Result<Request> checked_request(TeamState& team, const CollCall& call, const UserOperators& operators,
                                std::string& why) noexcept {
  if (call.operation >= Collective::permute)
    return refusal(why, "no operation with number {} can be called: see enum Collective",
                   static_cast<unsigned>(call.operation));
  if (const Status status = check_options(call, team.size(), why); !status) return status;
  Request request;
  request.shape = shape_of_call(team, call);
  request.description = description_of(call, team.size());
  if (call.operation == Collective::barrier) return request;
  if (const Status status = check_block(call, request.shape, why); !status) return status;
  if (const Status status = find_combiner(call, operators, request, why); !status) return status;
  if (!request.shape.commutative) request.description.facts |= CallDescription::kOrdered;
  if (const Status status = find_buffers(team, call, request, why); !status) return status;
  return request;
}

}  // namespace aqueduct::coll
