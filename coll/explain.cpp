// Which algorithm a collective call would use.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "core/entry.hpp"
#include "kernels/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace aqueduct {

namespace {

/// Why no call can be so; empty: one can. Enumerations may hold any number.
std::string why_no_call(Collective operation, std::uint64_t bytes, std::uint32_t element,
                        const CollOptions& options) {
  const auto number = [](auto value) { return static_cast<unsigned>(value); };
  if (operation > Collective::all_to_all_v)
    return fmt::format("there is no such operation: {}\n", number(operation));
  if (options.in > Sync::all || options.out > Sync::all)
    return fmt::format("there is no such sync mode: {}\n", number(std::max(options.in, options.out)));
  if (options.order > ReduceOrder::exact)
    return fmt::format("there is no such order of a reduction: {}\n", number(options.order));
  if (element == 0 || bytes % element != 0)
    return fmt::format("a block of {} bytes does not consist of elements of {} bytes\n", bytes, element);
  return {};
}

/// The operator by which a conduit that combines by itself is asked: the explanation names none.
ReduceOp usual_operator(ElementType type) noexcept {
  if (type == ElementType::bytes) return ReduceOp::user;
  return type >= ElementType::i32_index ? ReduceOp::min_index : ReduceOp::sum;
}

/// `narrow`: bytes of an element in the users' buffers, if it is converted for combining.
std::string explain_elements(detail::TeamState& team, Collective operation, std::uint64_t bytes,
                             std::uint32_t element, ElementType type, const CollOptions& options,
                             std::uint32_t narrow = 0) {
  if (coll::barrier_of(team) == nullptr) return "the team has ended\n";
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return "a forked child has no teams\n";
  if (auto why = why_no_call(operation, bytes, element, options); !why.empty()) return why;
  if (operation == Collective::barrier && coll::Barriers::has_native(team))
    return fmt::format("barrier, {} members\n  that of the conduit\n", team.size());
  if (bytes > std::numeric_limits<std::uint64_t>::max() / team.size())
    return fmt::format("blocks of {} bytes for {} members cannot be counted in 64 bits\n", bytes,
                       team.size());
  coll::Shape shape;
  shape.operation = operation;
  shape.in = options.in;
  shape.out = options.out;
  shape.order = coll::reduces(operation) ? options.order : coll::Order::any;
  shape.ranks = team.size();
  shape.element = element;
  shape.bytes = operation == Collective::barrier ? 0 : bytes;
  shape.pitch = shape.bytes;
  if (coll::reduces(operation)) {
    shape.op = usual_operator(type);
    shape.type = type;
  }
  return team.endpoint.layer<coll::Collectives>()->explain(team, shape, narrow);
}

}  // namespace

std::string Team::explain(Collective operation, std::uint64_t bytes, std::uint32_t element,
                          const CollOptions& options) {
  return explain_elements(*state_, operation, bytes, element, ElementType::bytes, options);
}

std::string Team::explain(Collective operation, std::uint64_t bytes, ElementType type,
                          const CollOptions& options) {
  if (type > ElementType::f64_index)
    return fmt::format("there is no such element type: {}\n", static_cast<unsigned>(type));
  const std::uint32_t usual = kernels::element_bytes(type);
  const std::uint32_t element = usual != 0 ? usual : 1;
  const kernels::Widening* const wide = coll::reduces(operation) ? kernels::widening_of(type) : nullptr;
  if (wide == nullptr || bytes % element != 0)
    return explain_elements(*state_, operation, bytes, element, type, options);
  // The engine chooses for the wide elements.
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t count = bytes / element;
  if (count > kMost / wide->wide_element)
    return fmt::format("{} elements cannot be counted in bytes as wide ones\n", count);
  return explain_elements(*state_, operation, count * wide->wide_element, wide->wide_element,
                          ElementType::f32, options, element);
}

}  // namespace aqueduct
