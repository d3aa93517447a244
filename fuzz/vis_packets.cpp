// Packets from a peer to the layer of transfers of pieces, and to that of puts and gets, which answers some of them.
// Like am_packets; vis_decode tests only the descriptions.
#include "fuzz/packets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aqueduct;
  static constexpr std::array kHandlers{
      test::KnownHandler{vis::kPackedPut, AmCategory::medium_request, sizeof(vis::PackedRequest)},
      test::KnownHandler{vis::kPackedGet, AmCategory::medium_request, sizeof(vis::PackedRequest)},
      test::KnownHandler{vis::kPackedData, AmCategory::medium_reply, sizeof(vis::PackedData)},
      test::KnownHandler{rma::kPutAck, AmCategory::short_reply, sizeof(rma::PutAck)},
      test::KnownHandler{rma::kGetData, AmCategory::medium_reply, sizeof(rma::GetData)},
  };
  return fuzz::run_packets(data, size, kHandlers);
}
