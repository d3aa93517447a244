#include "am/messages.hpp"
#include "core/setting_kinds.hpp"

#include <array>

namespace aqueduct::am {
namespace {

using core::setting::number;
using core::setting::same_on_all_ranks;

constexpr std::array kAmSettings{
    number("handlers", "AQUEDUCT_HANDLERS", "256", 1, kMostUserHandlers,
           "Most active-message handlers of an endpoint."),
    same_on_all_ranks(number("credits", "AQUEDUCT_CREDITS", "0", 0, 1024,
                             "Requests in flight to one peer; 0 chooses by the number of ranks.")),
    number("prepared", "AQUEDUCT_PREPARED", "16", 1, 1024, "Negotiated payload buffers of an endpoint."),
};

}  // namespace

std::span<const SettingInfo> Messages::settings() noexcept { return kAmSettings; }

}  // namespace aqueduct::am
