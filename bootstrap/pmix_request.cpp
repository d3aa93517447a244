#include "bootstrap/pmix_request.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::bootstrap {
namespace {

using namespace std::chrono_literals;

constexpr auto kStep = 100ms;

/// Takes over the share that PMIx had.
std::shared_ptr<PmixRequest> share_of(void* reference) {
  const std::unique_ptr<std::shared_ptr<PmixRequest>> mine(
      static_cast<std::shared_ptr<PmixRequest>*>(reference));
  return *mine;
}

/// A copy of a value, which PMIx frees after the callback.
PmixRequest::Value copy_of(const pmix_value_t& value) {
  switch (value.type) {
    case PMIX_UINT32: return value.data.uint32;
    case PMIX_STRING:
      if (value.data.string == nullptr) return {};
      return std::string(value.data.string);
    case PMIX_BYTE_OBJECT: {
      const auto* const bytes = reinterpret_cast<const std::byte*>(value.data.bo.bytes);
      return std::vector<std::byte>(bytes, bytes + value.data.bo.size);
    }
    default: return {};
  }
}

}  // namespace

bool PmixRequest::tell(pmix_status_t outcome, Value found_value) {
  const std::lock_guard lock(mutex);
  status = outcome;
  value = std::move(found_value);
  told.notify_all();
  return !given_up;
}

void PmixRequest::take_back(void* reference) noexcept {
  delete static_cast<std::shared_ptr<PmixRequest>*>(reference);
}

void PmixRequest::ended(pmix_status_t status, void* reference) { share_of(reference)->tell(status); }

void PmixRequest::found(pmix_status_t status, pmix_value_t* value, void* reference) {
  share_of(reference)->tell(status, value != nullptr ? copy_of(*value) : Value{});
}

std::optional<pmix_status_t> PmixRequest::wait(Clock::time_point deadline,
                                               const std::function<bool()>& is_vain) {
  std::unique_lock lock(mutex);
  while (!status) {
    told.wait_until(lock, std::min(deadline, Clock::now() + kStep));
    if (status) break;
    if (Clock::now() < deadline && !is_vain()) continue;
    given_up = true;
    return std::nullopt;
  }
  return status;
}

}  // namespace aqueduct::bootstrap
