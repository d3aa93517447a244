#include "core/setting_kinds.hpp"
#include "vis/piece_transfers.hpp"

#include <array>

namespace aqueduct::vis {
namespace {

using core::setting::choice;

constexpr std::array kVisSettings{
    choice("vis_plan", "AQUEDUCT_VIS_PLAN", "auto", "auto|direct|pieces|packed|box|native",
           "The plan of vector, indexed and strided transfers. auto chooses; so does the library where the "
           "named plan is impossible."),
};

}  // namespace

std::span<const SettingInfo> PieceTransfers::settings() noexcept { return kVisSettings; }

}  // namespace aqueduct::vis
