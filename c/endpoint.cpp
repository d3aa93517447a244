#include "c/convert.hpp"

using namespace aqueduct;

void* aq_my_segment(const aq_endpoint* ep, uint32_t segment, size_t* bytes) {
  if (c::lacks("aq_my_segment", {{"ep", ep}, {"bytes", bytes}})) return nullptr;
  const std::span<std::byte> mine = c::whole(ep).segment_of(segment);
  *bytes = mine.size();
  return mine.data();
}
uint64_t aq_segment_bytes(const aq_endpoint* ep, uint32_t rank, uint32_t segment) {
  if (c::lacks("aq_segment_bytes", {{"ep", ep}})) return 0;
  return c::whole(ep).segment_bytes(rank, segment);
}
uint64_t aq_base_of(aq_endpoint* ep, uint32_t rank, uint32_t segment) {
  if (c::lacks("aq_base_of", {{"ep", ep}})) return 0;
  return base_of(c::whole(ep), rank, segment);
}

void* aq_local(aq_endpoint* ep, aq_ptr at, size_t bytes) {
  if (c::lacks("aq_local", {{"ep", ep}})) return nullptr;
  return c::whole(ep).local(c::whole(at), bytes);
}
bool aq_is_mapped_without_window(const aq_endpoint* ep, uint32_t rank, uint32_t segment) {
  if (c::lacks("aq_is_mapped_without_window", {{"ep", ep}})) return false;
  return is_mapped(c::whole(ep), rank, segment);
}
uint32_t aq_map_all(aq_endpoint* ep, uint32_t segment) {
  if (c::lacks("aq_map_all", {{"ep", ep}})) return 0;
  return map_all(c::whole(ep), segment);
}

const uint32_t* aq_neighbours(const aq_endpoint* ep, size_t* count) {
  if (c::lacks("aq_neighbours", {{"ep", ep}, {"count", count}})) return nullptr;
  const std::span<const Rank> ranks = c::whole(ep).neighbours();
  *count = ranks.size();
  return ranks.data();
}
bool aq_is_neighbour(const aq_endpoint* ep, uint32_t rank) {
  if (c::lacks("aq_is_neighbour", {{"ep", ep}})) return false;
  return c::whole(ep).is_neighbour(rank);
}
uint32_t aq_host_of(const aq_endpoint* ep, uint32_t rank) {
  if (c::lacks("aq_host_of", {{"ep", ep}})) return AQ_NO_RANK;
  return c::whole(ep).host_of(rank);
}
bool aq_shares_processors(aq_endpoint* ep, uint32_t rank) {
  if (c::lacks("aq_shares_processors", {{"ep", ep}})) return false;
  return shares_processors(c::whole(ep), rank);
}
bool aq_is_lost(const aq_endpoint* ep, uint32_t rank) {
  if (c::lacks("aq_is_lost", {{"ep", ep}})) return false;
  return c::whole(ep).is_lost(rank);
}
size_t aq_conduit_of(const aq_endpoint* ep, uint32_t rank, char* text, size_t bytes) {
  if (c::lacks("aq_conduit_of", {{"ep", ep}})) return c::copy_text({}, text, bytes);
  try {
    return c::copy_text(c::whole(ep).conduit_of(rank), text, bytes);
  } catch (...) {
    return c::copy_text({}, text, bytes);
  }
}
int aq_threads_of(const aq_endpoint* ep) {
  if (c::lacks("aq_threads_of", {{"ep", ep}})) return AQ_THREADS_SINGLE;
  return static_cast<int>(c::whole(ep).threads());
}

int aq_progress(aq_endpoint* ep) {
  if (c::lacks("aq_progress", {{"ep", ep}})) return 0;
  return c::whole(ep).progress();
}
bool aq_in_handler(const aq_endpoint* ep) {
  if (c::lacks("aq_in_handler", {{"ep", ep}})) return false;
  return c::whole(ep).in_handler();
}

size_t aq_statistics(const aq_endpoint* ep, aq_statistic* rows, size_t most) {
  if (c::lacks("aq_statistics", {{"ep", ep}})) return 0;
  if (most != 0 && c::lacks("aq_statistics", {{"rows", rows}})) most = 0;
  const std::span<const StatisticsRow> all = c::whole(ep).statistics_rows();
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    rows[i] = {all[i].name.data(), all[i].unit.data(), all[i].name.size(), all[i].unit.size(),
               *all[i].counter};
  }
  return all.size();
}
uint64_t aq_statistic_value(const aq_endpoint* ep, const char* name) {
  if (c::lacks("aq_statistic_value", {{"ep", ep}, {"name", name}})) return 0;
  for (const StatisticsRow& row : c::whole(ep).statistics_rows()) {
    if (row.name == name) return *row.counter;
  }
  return 0;
}
