#include <aqueduct/coll.hpp>
#include <aqueduct/coll_scratch.hpp>
#include <aqueduct/coll_v.hpp>

#include "c/convert.hpp"

#include <limits>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

Team& whole_caller(aq_team* team) noexcept { return *reinterpret_cast<Team*>(team); }
CollPlan* whole_plan(aq_plan* plan) noexcept { return reinterpret_cast<CollPlan*>(plan); }

/// An enumeration of the library. A number that is too large becomes one that it does not have, so that the library
/// refuses it: the other members are told of a refused call.
template <class E>
E number_of(std::uint32_t value) noexcept {
  return static_cast<E>(std::min<std::uint32_t>(value, 0xff));
}
Sync sync_of(std::uint32_t value) noexcept {
  switch (value) {
    case AQ_SYNC_ALL: return Sync::all;
    case AQ_SYNC_MINE: return Sync::mine;
    case AQ_SYNC_NONE: return Sync::none;
    default: return number_of<Sync>(0xff);
  }
}
CollOptions coll_options_of(const aq_coll_options* from) noexcept {
  CollOptions options;
  if (from == nullptr) return options;
  constexpr std::uint32_t kKnown = AQ_COLL_NO_TRIALS;
  options.in = (from->flags & ~kKnown) == 0 ? sync_of(from->in) : number_of<Sync>(0xff);
  options.out = sync_of(from->out);
  options.order = number_of<ReduceOrder>(from->order);
  options.no_trials = (from->flags & AQ_COLL_NO_TRIALS) != 0;
  if (from->limit != 0) options.limit = limit_of(from->limit);
  return options;
}

std::uint32_t element_of(const aq_block& block) noexcept {
  if (block.element != 0) return block.element;
  switch (block.type) {
    case AQ_ELEMENT_I16:
    case AQ_ELEMENT_U16:
    case AQ_ELEMENT_HALF:
    case AQ_ELEMENT_BFLOAT16: return 2;
    case AQ_ELEMENT_I32:
    case AQ_ELEMENT_U32:
    case AQ_ELEMENT_F32: return 4;
    case AQ_ELEMENT_I64:
    case AQ_ELEMENT_U64:
    case AQ_ELEMENT_F64:
    case AQ_ELEMENT_COMPLEX_F32: return 8;
    case AQ_ELEMENT_COMPLEX_F64:
    case AQ_ELEMENT_I32_INDEX:
    case AQ_ELEMENT_I64_INDEX:
    case AQ_ELEMENT_F32_INDEX:
    case AQ_ELEMENT_F64_INDEX: return 16;
    default: return 1;
  }
}

/// A product that is too large becomes the largest number, which no buffer can have.
std::uint64_t product_of(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

detail::CollBuffer coll_buffer_of(const aq_buffer& from, std::uint64_t bytes) noexcept {
  detail::CollBuffer buffer;
  buffer.where = number_of<detail::CollBuffer::Where>(from.kind);
  buffer.memory = from.memory;
  buffer.each = from.each;
  buffer.segment = from.segment;
  buffer.offset = from.offset;
  buffer.bytes = bytes;
  return buffer;
}

/// A call as C++ makes it. The numbers of blocks are those at a member that has all that a member can have.
detail::CollCall coll_call_of(Collective operation, aq_team* team, const aq_buffer& in, const aq_buffer& out,
                              const aq_block& block, std::uint32_t root, aq_reducer reducer,
                              const aq_coll_options* options) noexcept {
  using enum Collective;
  const bool many_in = operation == scatter || operation == all_to_all || operation == reduce_scatter;
  const bool many_out = operation == gather || operation == all_gather || operation == all_to_all;
  detail::CollCall call;
  call.operation = operation;
  call.type = number_of<ElementType>(block.type);
  call.element = element_of(block);
  call.root = root;
  const std::uint64_t bytes = product_of(block.count, call.element);
  const std::uint64_t all = product_of(bytes, whole_caller(team).size());
  call.in = coll_buffer_of(in, many_in ? all : bytes);
  call.out = coll_buffer_of(out, many_out ? all : bytes);
  call.reducer.op = number_of<ReduceOp>(reducer.op);
  call.reducer.number = reducer.number;
  call.options = coll_options_of(options);
  return call;
}

constexpr aq_reducer kNoReducer{};

/// The blocks of a buffer. C gives no lengths, so the arrays have a number for each member, if they are there.
CollBlocks coll_blocks_of(aq_team* team, const aq_blocks& from) noexcept {
  const std::size_t members = whole_caller(team).size();
  CollBlocks blocks;
  if (from.counts != nullptr) blocks.counts = {from.counts, members};
  if (from.displacements != nullptr) blocks.displacements = {from.displacements, members};
  return blocks;
}

/// A call whose blocks may differ, as C++ makes it. A buffer with blocks is as long as memory is: its end is not known.
detail::CollBlocksCall coll_blocks_call_of(Collective operation, aq_team* team, const aq_buffer& in,
                                           const aq_blocks& in_blocks, const aq_buffer& out,
                                           const aq_blocks& out_blocks, const aq_block& block,
                                           std::uint32_t root, const aq_coll_options* options) noexcept {
  using enum Collective;
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  detail::CollBlocksCall call;
  static_cast<detail::CollCall&>(call) =
      coll_call_of(operation, team, in, out, block, root, kNoReducer, options);
  const std::uint64_t bytes = product_of(block.count, call.element);
  const bool whole_in = operation == gather_v || operation == all_gather_v || operation == permute;
  const bool whole_out = operation == scatter_v || operation == permute;
  call.in.bytes = whole_in ? bytes : kMost;
  call.out.bytes = whole_out ? bytes : kMost;
  call.in_blocks = coll_blocks_of(team, in_blocks);
  call.out_blocks = coll_blocks_of(team, out_blocks);
  return call;
}
detail::CollBlocksCall coll_permute_of(aq_team* team, const aq_buffer& in, const aq_buffer& out,
                                       const aq_block& block, std::uint32_t to, std::uint32_t from,
                                       const aq_coll_options* options) noexcept {
  detail::CollBlocksCall call =
      coll_blocks_call_of(Collective::permute, team, in, {}, out, {}, block, 0, options);
  call.to = to;
  call.from = from == AQ_ANY_SOURCE ? kNoRank : from;
  return call;
}

}  // namespace
}  // namespace aqueduct::c

// The three forms of an operation, from the call that C++ makes for it. `parameters` in brackets.
#define AQ_COLL_UNPACK(...) __VA_ARGS__
#define AQ_COLL_FORMS_OF(name, parameters, ...)                                                        \
  aq_status aq_##name(aq_team* team, AQ_COLL_UNPACK parameters, const aq_coll_options* options) {      \
    if (c::lacks("aq_" #name, {{"team", team}})) return c::plain(ErrorCode::invalid_argument);         \
    return c::plain(detail::coll_run(c::whole_caller(team), __VA_ARGS__));                             \
  }                                                                                                    \
  aq_event aq_##name##_nb(aq_team* team, AQ_COLL_UNPACK parameters, const aq_coll_options* options) {  \
    if (c::lacks("aq_" #name "_nb", {{"team", team}}))                                                 \
      return c::plain(Event(Status(ErrorCode::invalid_argument)));                                     \
    return c::plain(detail::coll_begin(c::whole_caller(team), __VA_ARGS__));                           \
  }                                                                                                    \
  aq_status aq_##name##_plan(aq_team* team, AQ_COLL_UNPACK parameters, const aq_coll_options* options, \
                             aq_plan** made) {                                                         \
    if (c::lacks("aq_" #name "_plan", {{"team", team}, {"made", made}}))                               \
      return c::plain(ErrorCode::invalid_argument);                                                    \
    return c::guarded([&] {                                                                            \
      const auto bind = [&] { return detail::coll_bind(c::whole_caller(team), __VA_ARGS__); };         \
      return c::hand_over(bind, made);                                                                 \
    });                                                                                                \
  }
#define AQ_COLL_FORMS(name, root, reducer, ...) \
  AQ_COLL_FORMS_OF(name, (__VA_ARGS__),         \
                   c::coll_call_of(Collective::name, team, in, out, block, root, reducer, options))

AQ_COLL_FORMS(broadcast, root, c::kNoReducer, aq_buffer in, aq_buffer out, aq_block block, uint32_t root)
AQ_COLL_FORMS(scatter, root, c::kNoReducer, aq_buffer in, aq_buffer out, aq_block block, uint32_t root)
AQ_COLL_FORMS(gather, root, c::kNoReducer, aq_buffer in, aq_buffer out, aq_block block, uint32_t root)
AQ_COLL_FORMS(all_gather, 0, c::kNoReducer, aq_buffer in, aq_buffer out, aq_block block)
AQ_COLL_FORMS(all_to_all, 0, c::kNoReducer, aq_buffer in, aq_buffer out, aq_block block)
AQ_COLL_FORMS(reduce, root, reducer, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer,
              uint32_t root)
AQ_COLL_FORMS(all_reduce, 0, reducer, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer)
AQ_COLL_FORMS(reduce_scatter, 0, reducer, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer)
AQ_COLL_FORMS(scan, 0, reducer, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer)
AQ_COLL_FORMS(exscan, 0, reducer, aq_buffer in, aq_buffer out, aq_block block, aq_reducer reducer)

AQ_COLL_FORMS_OF(scatter_v, (aq_buffer in, aq_blocks in_blocks, aq_buffer out, aq_block block, uint32_t root),
                 c::coll_blocks_call_of(Collective::scatter_v, team, in, in_blocks, out, {}, block, root,
                                        options))
AQ_COLL_FORMS_OF(gather_v, (aq_buffer in, aq_buffer out, aq_blocks out_blocks, aq_block block, uint32_t root),
                 c::coll_blocks_call_of(Collective::gather_v, team, in, {}, out, out_blocks, block, root,
                                        options))
AQ_COLL_FORMS_OF(all_gather_v, (aq_buffer in, aq_buffer out, aq_blocks out_blocks, aq_block block),
                 c::coll_blocks_call_of(Collective::all_gather_v, team, in, {}, out, out_blocks, block, 0,
                                        options))
AQ_COLL_FORMS_OF(all_to_all_v,
                 (aq_buffer in, aq_blocks in_blocks, aq_buffer out, aq_blocks out_blocks, aq_block block),
                 c::coll_blocks_call_of(Collective::all_to_all_v, team, in, in_blocks, out, out_blocks, block,
                                        0, options))
AQ_COLL_FORMS_OF(permute, (aq_buffer in, aq_buffer out, aq_block block, uint32_t to, uint32_t from),
                 c::coll_permute_of(team, in, out, block, to, from, options))

#undef AQ_COLL_FORMS
#undef AQ_COLL_FORMS_OF
#undef AQ_COLL_UNPACK

aq_event aq_plan_start(aq_plan* plan) {
  if (c::lacks("aq_plan_start", {{"plan", plan}}))
    return c::plain(Event(Status(ErrorCode::invalid_argument)));
  return c::plain(c::whole_plan(plan)->start());
}
aq_status aq_plan_run(aq_plan* plan) {
  if (c::lacks("aq_plan_run", {{"plan", plan}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_plan(plan)->run());
}
aq_status aq_plan_end(aq_plan* plan) {
  if (c::lacks("aq_plan_end", {{"plan", plan}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole_plan(plan)->end());
}
void aq_plan_destroy(aq_plan* plan) { delete c::whole_plan(plan); }

aq_status aq_operator_add(aq_endpoint* ep, uint32_t number, const aq_operator* with) {
  if (c::lacks("aq_operator_add", {{"ep", ep}, {"with", with}})) return c::plain(ErrorCode::invalid_argument);
  if (with->reserved != 0 || with->commutative > 1) return c::plain(ErrorCode::invalid_argument);
  return c::plain(add_operator(c::whole(ep), number,
                               {with->combine, with->context, with->element, with->commutative != 0}));
}

uint64_t aq_team_least_scratch(const aq_team* team) {
  if (c::lacks("aq_team_least_scratch", {{"team", team}})) return 0;
  return least_scratch(*reinterpret_cast<const Team*>(team));
}
aq_status aq_team_use_scratch(aq_team* team, void* memory, size_t bytes) {
  if (c::lacks("aq_team_use_scratch", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(use_scratch(c::whole_caller(team), {static_cast<std::byte*>(memory), bytes}));
}
aq_status aq_team_use_tree(aq_team* team, const char* words) {
  if (c::lacks("aq_team_use_tree", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  // Null is no tree: all members get the error.
  return c::plain(c::whole_caller(team).use_tree(std::string_view(words != nullptr ? words : "")));
}
aq_status aq_team_use_tree_of(aq_team* team, const uint32_t* parents, size_t count) {
  if (c::lacks("aq_team_use_tree_of", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  if (parents == nullptr && count != 0) return aq_team_use_tree(team, nullptr);
  return c::plain(c::whole_caller(team).use_tree(std::span<const Rank>(parents, count)));
}

size_t aq_team_explain(aq_team* team, int operation, aq_block block, const aq_coll_options* options,
                       char* text, size_t bytes) {
  if (c::lacks("aq_team_explain", {{"team", team}})) return c::copy_text({}, text, bytes);
  try {
    const std::uint32_t element = c::element_of(block);
    const auto which = c::number_of<Collective>(static_cast<std::uint32_t>(operation));
    const std::uint64_t size = c::product_of(block.count, element);
    const auto how = c::coll_options_of(options);
    Team& asked = c::whole_caller(team);
    // A size of elements that is not the type's is refused, as in a call; elements of no type have any size.
    const bool typed = block.type != AQ_ELEMENT_BYTES && element == c::element_of({0, block.type, 0});
    return c::copy_text(typed ? asked.explain(which, size, c::number_of<ElementType>(block.type), how)
                              : asked.explain(which, size, element, how),
                        text, bytes);
  } catch (...) {
    return c::copy_text({}, text, bytes);  // no memory for the text
  }
}
