#include <aqueduct/group.hpp>

#include "c/convert.hpp"

using namespace aqueduct;

aq_status aq_group_create(aq_endpoint* ep, aq_group** group) {
  if (c::lacks("aq_group_create", {{"ep", ep}, {"group", group}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&]() -> Status {
    *group = reinterpret_cast<aq_group*>(new Group(c::whole(ep)));
    return {};
  });
}
void aq_group_destroy(aq_group* group) { delete c::whole(group); }

bool aq_group_done(const aq_group* group) {
  if (c::lacks("aq_group_done", {{"group", group}})) return true;
  return c::whole(group)->done();
}
bool aq_group_source_done(const aq_group* group) {
  if (c::lacks("aq_group_source_done", {{"group", group}})) return true;
  return c::whole(group)->source_done();
}
bool aq_group_test(aq_group* group) {
  if (c::lacks("aq_group_test", {{"group", group}})) return true;
  return c::whole(group)->test();
}
bool aq_group_test_source(aq_group* group) {
  if (c::lacks("aq_group_test_source", {{"group", group}})) return true;
  return c::whole(group)->test_source();
}
aq_status aq_group_wait(aq_group* group, int64_t limit) {
  if (c::lacks("aq_group_wait", {{"group", group}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole(group)->wait_for(c::limit_of(limit)));
}
aq_status aq_group_wait_source(aq_group* group) {
  if (c::lacks("aq_group_wait_source", {{"group", group}})) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::whole(group)->wait_source());
}
uint32_t aq_group_in_flight(const aq_group* group) {
  if (c::lacks("aq_group_in_flight", {{"group", group}})) return 0;
  return c::whole(group)->in_flight();
}
uint32_t aq_group_sources_in_flight(const aq_group* group) {
  if (c::lacks("aq_group_sources_in_flight", {{"group", group}})) return 0;
  return c::whole(group)->sources_in_flight();
}
