#include "coll/tune/tuning_settings.hpp"

#include "core/setting_kinds.hpp"

#include <array>

namespace aqueduct::coll {

namespace {

constexpr std::array kTuningSettings{
    core::setting::text("coll_tuning", "AQUEDUCT_COLL_TUNING", "",
                        "A file that `aqtune` has written, or a folder of them: which algorithms of "
                        "collectives were the fastest. Rank 0 reads it for the job."),
    core::setting::choice("coll_choice", "AQUEDUCT_COLL_CHOICE", "auto", "auto|model|rules",
                          "What chooses algorithms. auto: measurements, then the model, then rules; model: "
                          "the same without measurements; rules: rules alone. Rank 0's value counts."),
    core::setting::same_on_all_ranks({"coll_learn", "AQUEDUCT_COLL_LEARN", SettingType::boolean, "", "off",
                                      "Whether teams try other algorithms in some of their blocking "
                                      "collective calls, and keep to the fastest."}),
};

}  // namespace

std::span<const SettingInfo> tuning_settings() noexcept { return kTuningSettings; }

}  // namespace aqueduct::coll
