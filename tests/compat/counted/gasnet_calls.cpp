// The program that count_instructions.py runs: atomics and short transfers of pieces to mapped memory of another rank, by GASNet's
// calls and by Aqueduct's own. Two ranks; rank 0 calls, and prints how often it calls each counted function.

#include <aqueduct/atomic_domain.hpp>
#include <aqueduct/handles.hpp>
#include <aqueduct/vis.hpp>

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

using namespace aqueduct;

namespace {

constexpr std::size_t kPieces = 8;
constexpr std::ptrdiff_t kApart = 64;

gex_TM_t world;
char* there;  ///< the segment of the other rank, as it has it
gex_AD_t numbers;
gex_AD_t reals;
std::array<std::uint64_t, kPieces> here{};
std::array<gex_Memvec_t, kPieces> far_vector, near_vector;
std::array<void*, kPieces> far_list, near_list;
std::array<std::int64_t, kPieces> far_offsets, near_offsets;
constexpr std::ptrdiff_t kFarStride = kApart, kNearStride = sizeof(std::uint64_t);
constexpr std::size_t kCount = kPieces;

Endpoint& endpoint() { return object_of(world->ep); }
template <class T>
GlobalPtr<T> first() {
  const aqg_place& place = world->places[1];
  return {1, reinterpret_cast<std::uintptr_t>(there) - place.base, place.segment};
}

}  // namespace

// The script looks for these names. A tail call would leave the counted function.
#define COUNTED(name, call)                  \
  extern "C" [[gnu::noinline]] bool name() { \
    const bool right = (call);               \
    asm volatile("# " #name ::: "memory");   \
    return right;                            \
  }
COUNTED(count_nb_number,
        (gex_AD_OpNB_U64(numbers, here.data(), 1, there, GEX_OP_FADD, 1, 0, 0) == GEX_EVENT_INVALID))
COUNTED(count_nbi_number, (gex_AD_OpNBI_U64(numbers, here.data(), 1, there, GEX_OP_FADD, 1, 0, 0) == 0))
COUNTED(count_nb_real, ([] {
          double before = 0;
          return gex_AD_OpNB_DBL(reals, &before, 1, there + 8, GEX_OP_FADD, 1, 0, 0) == GEX_EVENT_INVALID;
        }()))
COUNTED(count_own_number, ([] {
          static const AtomicDomain<std::uint64_t> own(endpoint(), {AtomicOp::add}, AtomicFavour::near);
          return own.nb(AtomicOp::add, first<std::uint64_t>(), 1, here.data()).done();
        }()))
COUNTED(count_own_real, ([] {
          static const AtomicDomain<double> own(endpoint(), {AtomicOp::add}, AtomicFavour::near);
          double before = 0;
          return own.nb(AtomicOp::add, first<double>() + 1, 1, &before).done();
        }()))
COUNTED(count_put_vector, (gex_VIS_VectorPutNB(world, 1, kPieces, far_vector.data(), kPieces,
                                               near_vector.data(), 0) == GEX_EVENT_INVALID))
COUNTED(count_put_list, (gex_VIS_IndexedPutNB(world, 1, kPieces, far_list.data(), 8, kPieces,
                                              near_list.data(), 8, 0) == GEX_EVENT_INVALID))
COUNTED(count_got_list, (gex_VIS_IndexedGetNB(world, kPieces, near_list.data(), 8, 1, kPieces,
                                              far_list.data(), 8, 0) == GEX_EVENT_INVALID))
COUNTED(count_put_strided, (gex_VIS_StridedPutNB(world, 1, there, &kFarStride, here.data(), &kNearStride, 8,
                                                 &kCount, 1, 0) == GEX_EVENT_INVALID))
COUNTED(count_own_list,
        (put_nb(endpoint(), pieces(first<std::byte>(), Indexed{far_offsets, 8}),
                pieces(reinterpret_cast<const std::byte*>(here.data()), Indexed{near_offsets, 8}))
             .done()))

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &world, "COUNTED", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&segment, world, 65536) != GASNET_OK) return 1;
  gex_AD_Create(&numbers, world, GEX_DT_U64, GEX_OP_FADD, 0);
  gex_AD_Create(&reals, world, GEX_DT_DBL, GEX_OP_FADD, 0);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, 1, reinterpret_cast<void**>(&there), nullptr, nullptr, 0));
  for (std::size_t i = 0; i < kPieces; ++i) {
    far_offsets[i] = static_cast<std::int64_t>(i) * kApart;
    near_offsets[i] = static_cast<std::int64_t>(i * sizeof here[0]);
    far_list[i] = there + far_offsets[i];
    near_list[i] = &here[i];
    far_vector[i] = {far_list[i], 8};
    near_vector[i] = {near_list[i], 8};
  }
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  constexpr int kTurns = 1000;
  bool right = true;
  for (int turn = 0; turn < kTurns && gex_TM_QueryRank(world) == 0; ++turn) {
    right = count_nb_number() && count_nbi_number() && count_nb_real() && count_own_number() &&
            count_own_real() && count_put_vector() && count_put_list() && count_got_list() &&
            count_put_strided() && count_own_list() && right;
  }
  if (gex_TM_QueryRank(world) == 0) std::printf("%d\n", kTurns);
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  gasnet_exit(right ? 0 : 1);
}
