#pragma once

#include <aqueduct/am.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace aqueduct::am {

/// The fixed numbers of handlers that the library's layers register. They are in one
/// place so that no two layers take the same number. Packets carry them, so all
/// ranks must use the same ones: a job refuses different versions of the library.
/// A layer whose number nothing else names needs none of these: see kFirstDealtHandler.
enum LayerHandler : HandlerId {
  kRmaPut = 1,
  kRmaPutAck = 2,
  kRmaGet = 3,
  kRmaGetData = 4,
  kRmaAtomic = 5,
  kRmaAtomicResult = 6,
  kRmaSignal = 7,
  kCollArrive = 8,
  kCollExchange = 9,
  kRmaPutWord = 10,
  kAmReturnCredits = 11,
  kVisPackedPut = 13,
  kVisPackedGet = 14,
  kVisPackedData = 15,
  kCollAbort = 16,
  kCollAsk = 17,
  kCollTell = 18,
  kCollFarewell = 19,
  kCollAbsent = 20,
  kCollLoss = 21,
};
/// From here to kFirstUserHandler - 1: numbers for handlers without a fixed one, in the order in which layers register
/// them. All ranks of a job build the same layers in the same order, so they deal alike.
inline constexpr HandlerId kFirstDealtHandler = 24;
/// Users' handlers have the numbers from here on.
inline constexpr HandlerId kFirstUserHandler = 32;
/// How many numbers are left for users: the limit of AQUEDUCT_HANDLERS.
inline constexpr std::uint32_t kMostUserHandlers =
    std::numeric_limits<HandlerId>::max() + 1u - kFirstUserHandler;

inline constexpr std::array kLayerHandlers{kRmaPut,       kRmaPutAck,       kRmaGet,          kRmaGetData,
                                           kRmaAtomic,    kRmaAtomicResult, kRmaSignal,       kCollArrive,
                                           kCollExchange, kRmaPutWord,      kAmReturnCredits, kVisPackedPut,
                                           kVisPackedGet, kVisPackedData,   kCollAbort,       kCollAsk,
                                           kCollTell,     kCollFarewell,    kCollAbsent,      kCollLoss};

/// Whether no number occurs twice, and all are from 1 to
/// kFirstDealtHandler - 1. Requires that the array is in rising order.
consteval bool layer_handlers_are_distinct() {
  for (std::size_t i = 1; i < kLayerHandlers.size(); ++i) {
    if (kLayerHandlers[i] <= kLayerHandlers[i - 1]) return false;
  }
  return kLayerHandlers.front() >= 1 && kLayerHandlers.back() < kFirstDealtHandler;
}
static_assert(layer_handlers_are_distinct());

}  // namespace aqueduct::am
