#include "tests/conformance/collective.hpp"

namespace aqueduct::conformance {

namespace {

const char* name_of_operation(Collective operation) noexcept {
  switch (operation) {
    case Collective::barrier: return "barrier";
    case Collective::broadcast: return "broadcast";
    case Collective::scatter: return "scatter";
    case Collective::gather: return "gather";
    case Collective::all_gather: return "all_gather";
    case Collective::all_to_all: return "all_to_all";
    case Collective::reduce: return "reduce";
    case Collective::all_reduce: return "all_reduce";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::scan: return "scan";
    case Collective::exscan: return "exscan";
    case Collective::permute: return "permute";
    case Collective::scatter_v: return "scatter_v";
    case Collective::gather_v: return "gather_v";
    case Collective::all_gather_v: return "all_gather_v";
    case Collective::all_to_all_v: return "all_to_all_v";
  }
  return "";
}

const char* name_of_sync(Sync sync) noexcept {
  return sync == Sync::none ? "none" : sync == Sync::mine ? "mine" : "all";
}

const char* name_of_order(ReduceOrder order) noexcept {
  return order == ReduceOrder::any ? "any" : order == ReduceOrder::exact ? "exact" : "same everywhere";
}

const char* name_of_place(CollPlace place) noexcept {
  switch (place) {
    case CollPlace::heap: return "heap";
    case CollPlace::odd: return "heap, odd offset";
    case CollPlace::segment: return "segment";
    case CollPlace::some: return "segment of some";
    case CollPlace::on_all: return "on all, one offset";
    case CollPlace::on_each: return "on all, a list";
  }
  return "";
}

}  // namespace

std::string text_of(const CollectiveCall& call) {
  std::string text = name_of_operation(call.operation);
  text += " of " + std::to_string(call.count) + " elements";
  if (has_root(call.operation)) text += ", root " + std::to_string(call.root);
  if (call.in_place) text += ", in place";
  if (is_reduction(call.operation)) {
    text += ", operator " + std::to_string(static_cast<int>(call.reducer.op));
    text += std::string(", order ") + name_of_order(call.options.order);
  }
  text += std::string(", in ") + name_of_sync(call.options.in) + ", out " + name_of_sync(call.options.out);
  text += std::string(", ") + name_of_place(call.place);
  text += call.form == CollForm::blocking ? ", blocking" : call.form == CollForm::nb ? ", nb" : ", plan";
  return text;
}

}  // namespace aqueduct::conformance
