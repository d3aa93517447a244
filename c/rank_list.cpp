#include <aqueduct/rank_list.hpp>

#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

// As they lie: c/layout.cpp.
std::span<const RankRange> whole_ranges(const aq_rank_range* ranges, std::size_t count) noexcept {
  return {reinterpret_cast<const RankRange*>(ranges), count};
}
std::span<const Rank> numbers(const std::uint32_t* list, std::size_t count) noexcept { return {list, count}; }

/// Stores a handle of the list that `make` returns.
template <class F>
aq_status new_list(aq_rank_list** made, F make) noexcept {
  return guarded([&] { return hand_over(make, made); });
}
/// The same of `count` numbers or ranges at `from`.
template <class F>
aq_status new_list_of(const void* from, std::size_t count, aq_rank_list** made, F make) noexcept {
  if (from == nullptr && count != 0) return plain(ErrorCode::invalid_argument);
  return new_list(made, make);
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_rank_list_of(const uint32_t* ranks, size_t count, aq_rank_list** made) {
  if (c::lacks("aq_rank_list_of", {{"made", made}})) return c::plain(ErrorCode::invalid_argument);
  return c::new_list_of(ranks, count, made, [&] { return RankList::of(c::numbers(ranks, count)); });
}
aq_status aq_rank_list_of_ranges(const aq_rank_range* ranges, size_t count, aq_rank_list** made) {
  if (c::lacks("aq_rank_list_of_ranges", {{"made", made}})) return c::plain(ErrorCode::invalid_argument);
  return c::new_list_of(ranges, count, made,
                        [&] { return RankList::of_ranges(c::whole_ranges(ranges, count)); });
}
void aq_rank_list_destroy(aq_rank_list* list) { delete reinterpret_cast<RankList*>(list); }

uint32_t aq_rank_list_size(const aq_rank_list* list) {
  if (c::lacks("aq_rank_list_size", {{"list", list}})) return 0;
  return c::whole(list).size();
}
uint32_t aq_rank_list_rank_of(const aq_rank_list* list, uint32_t index) {
  if (c::lacks("aq_rank_list_rank_of", {{"list", list}})) return AQ_NO_RANK;
  return c::whole(list).rank_of(index);
}
uint32_t aq_rank_list_index_of(const aq_rank_list* list, uint32_t rank) {
  if (c::lacks("aq_rank_list_index_of", {{"list", list}})) return AQ_NO_RANK;
  return c::whole(list).index_of(rank);
}

aq_status aq_rank_list_union(const aq_rank_list* a, const aq_rank_list* b, aq_rank_list** made) {
  if (c::lacks("aq_rank_list_union", {{"a", a}, {"b", b}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list(made, [&] { return c::whole(a).union_with(c::whole(b)); });
}
aq_status aq_rank_list_intersection(const aq_rank_list* a, const aq_rank_list* b, aq_rank_list** made) {
  if (c::lacks("aq_rank_list_intersection", {{"a", a}, {"b", b}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list(made, [&] { return c::whole(a).intersection_with(c::whole(b)); });
}
aq_status aq_rank_list_difference(const aq_rank_list* a, const aq_rank_list* b, aq_rank_list** made) {
  if (c::lacks("aq_rank_list_difference", {{"a", a}, {"b", b}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list(made, [&] { return c::whole(a).difference_with(c::whole(b)); });
}

aq_status aq_rank_list_include(const aq_rank_list* list, const uint32_t* indices, size_t count,
                               aq_rank_list** made) {
  if (c::lacks("aq_rank_list_include", {{"list", list}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list_of(indices, count, made,
                        [&] { return c::whole(list).include(c::numbers(indices, count)); });
}
aq_status aq_rank_list_exclude(const aq_rank_list* list, const uint32_t* indices, size_t count,
                               aq_rank_list** made) {
  if (c::lacks("aq_rank_list_exclude", {{"list", list}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list_of(indices, count, made,
                        [&] { return c::whole(list).exclude(c::numbers(indices, count)); });
}
aq_status aq_rank_list_include_ranges(const aq_rank_list* list, const aq_rank_range* indices, size_t count,
                                      aq_rank_list** made) {
  if (c::lacks("aq_rank_list_include_ranges", {{"list", list}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list_of(indices, count, made,
                        [&] { return c::whole(list).include(c::whole_ranges(indices, count)); });
}
aq_status aq_rank_list_exclude_ranges(const aq_rank_list* list, const aq_rank_range* indices, size_t count,
                                      aq_rank_list** made) {
  if (c::lacks("aq_rank_list_exclude_ranges", {{"list", list}, {"made", made}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::new_list_of(indices, count, made,
                        [&] { return c::whole(list).exclude(c::whole_ranges(indices, count)); });
}

aq_status aq_rank_list_translate(const aq_rank_list* from, const uint32_t* indices, size_t count,
                                 const aq_rank_list* to, uint32_t* into) {
  if (c::lacks("aq_rank_list_translate", {{"from", from}, {"to", to}}))
    return c::plain(ErrorCode::invalid_argument);
  if ((indices == nullptr || into == nullptr) && count != 0) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole(from).translate(c::numbers(indices, count), c::whole(to), {into, count}));
}
int aq_rank_list_compare(const aq_rank_list* a, const aq_rank_list* b) {
  if (c::lacks("aq_rank_list_compare", {{"a", a}, {"b", b}})) return AQ_LIKENESS_DIFFERENT;
  return static_cast<int>(c::whole(a).compare(c::whole(b)));
}
