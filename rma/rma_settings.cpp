#include "core/setting_kinds.hpp"
#include "rma/transfers.hpp"

#include <array>

namespace aqueduct::rma {
namespace {

using core::setting::choice;
using core::setting::same_on_all_ranks;

constexpr std::array kRmaSettings{
    same_on_all_ranks(
        choice("atomics", "AQUEDUCT_ATOMICS", "auto", "auto|processor",
               "Whether the network does the atomics it can (auto) or the owner's processor does them all.")),
};

}  // namespace

std::span<const SettingInfo> Transfers::settings() noexcept { return kRmaSettings; }

}  // namespace aqueduct::rma
