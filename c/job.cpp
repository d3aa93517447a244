#include <aqueduct/version.hpp>

#include "c/convert.hpp"

#include <cstdlib>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

Job& whole_job(aq_job* job) noexcept { return *reinterpret_cast<Job*>(job); }
// Job has no const forms of some calls that change nothing.
Job& whole_job(const aq_job* job) noexcept { return *reinterpret_cast<Job*>(const_cast<aq_job*>(job)); }

/// The given settings, or those of the environment.
Config settings_or_environment(const aq_config* config) {
  return config != nullptr ? *reinterpret_cast<const Config*>(config) : Config::from_environment();
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_job_start_of_layout(uint32_t layout, const aq_config* config, aq_job** job) {
  if (c::lacks("aq_job_start_of_layout", {{"job", job}})) return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&]() -> Status {
    const Config settings = c::settings_or_environment(config);
    if (const Status status = check_layout(layout, settings); !status) return status;
    return c::hand_over([&] { return Job::start(settings); }, job);
  });
}
aq_status aq_job_in_process_of_layout(uint32_t layout, uint32_t ranks, const aq_config* config,
                                      aq_job** job) {
  if (c::lacks("aq_job_in_process_of_layout", {{"job", job}})) return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&]() -> Status {
    const Config settings = c::settings_or_environment(config);
    if (const Status status = check_layout(layout, settings); !status) return status;
    return c::hand_over([&] { return Job::in_process(ranks, settings); }, job);
  });
}

uint32_t aq_job_ranks(const aq_job* job) {
  if (c::lacks("aq_job_ranks", {{"job", job}})) return 0;
  return c::whole_job(job).ranks();
}
size_t aq_job_endpoints(const aq_job* job) {
  if (c::lacks("aq_job_endpoints", {{"job", job}})) return 0;
  return c::whole_job(job).endpoints();
}
aq_endpoint* aq_job_endpoint(aq_job* job, size_t index) {
  if (c::lacks("aq_job_endpoint", {{"job", job}})) return nullptr;
  Job& whole = c::whole_job(job);
  return index < whole.endpoints() ? c::plain(whole.endpoint(index)) : nullptr;
}
aq_status aq_job_run_each(aq_job* job, void (*body)(aq_endpoint* ep, void* context), void* context) {
  if (c::lacks("aq_job_run_each", {{"job", job}})) return c::plain(ErrorCode::invalid_argument);
  if (body == nullptr) return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&]() -> Status {
    c::whole_job(job).run_each([&](Endpoint& ep) { body(c::plain(ep), context); });
    return {};
  });
}

aq_status aq_job_finish(aq_job* job) {
  if (c::lacks("aq_job_finish", {{"job", job}})) return c::plain(ErrorCode::invalid_argument);
  const aq_status status = c::guarded([&] { return c::whole_job(job).finish(); });
  if (status.code != AQ_IN_HANDLER) aq_job_destroy(job);  // otherwise its endpoint is in use
  return status;
}
void aq_job_destroy(aq_job* job) { delete reinterpret_cast<Job*>(job); }
void aq_job_abort(aq_job* job, int exit_code, const char* why) {
  if (c::lacks("aq_job_abort", {{"job", job}})) return;
  c::whole_job(job).abort(exit_code, why != nullptr ? why : "");
}
void aq_job_leave(aq_job* job, int code) {
  if (c::lacks("aq_job_leave", {{"job", job}}))
    std::_Exit(code);  // what the caller expects: this call does not return
  c::whole_job(job).leave(code);
}
void aq_job_request_leave(aq_job* job, int code) {
  if (job != nullptr) c::whole_job(job).request_leave(code);  // signal handlers call it: no log
}

size_t aq_job_launcher(const aq_job* job, char* text, size_t bytes) {
  if (c::lacks("aq_job_launcher", {{"job", job}})) return c::copy_text({}, text, bytes);
  return c::copy_text(c::whole_job(job).launcher(), text, bytes);
}
const aq_config* aq_job_config(const aq_job* job) {
  if (c::lacks("aq_job_config", {{"job", job}})) return nullptr;
  return reinterpret_cast<const aq_config*>(&c::whole_job(job).config());
}
